"""Base stations that average their own sensors, by hand: two cells of unlike speed, and what fails in them."""

import pandas as pd

from hfedms_sim.result import RunResult
from hfedms_sim.rounds import SERVER, STATION
from tests.world.windows_by_hand import Played, ends

TWO_CELLS = ("a", "b")  # sensors 0 and 2, 1 and 3
TWICE = {"name": "hierfavg", "sample_ratio": 1.0, "edge_rounds": 2}


def legs(result: RunResult, cell: str, number: int = 1) -> list[tuple[str, int, int, float, float]]:
    rows = result.transfers
    rows = rows[(rows["cell"] == cell) & (rows["round"] == number)].sort_values(["start_s", "sensor"])
    columns = ("direction", "sensor", "hop", "start_s", "end_s")
    return [
        (d, int(k), int(h), round(a, 6), round(b, 6)) for d, k, h, a, b in zip(*(rows[c] for c in columns), strict=True)
    ]


def test_cells_average_at_their_own_pace_and_meet_at_the_end_of_the_round(played: Played) -> None:
    """Cell a: 14 s and 14 s. Cell b: sensor 3 takes 16 s, sensor 1 takes 20; 20 s and 20 s."""
    result = played(TWICE, (2, 8, 2, 4), cells=TWO_CELLS, rounds=2)
    assert ends(result) == [(0, 40), (40, 80)]
    assert legs(result, "a") == [
        (direction, sensor, turn + hop, 14 * turn + begin_s, 14 * turn + end_s)
        for turn in (0, 1)
        for direction, hop, begin_s, end_s in (("down", 0, 0, 4), ("up", 1, 6, 14))
        for sensor in (0, 2)
    ]
    assert [leg[2:] for leg in legs(result, "b") if leg[:2] == ("up", 1)] == [(1, 12, 20), (2, 32, 40)]
    assert [leg[2:] for leg in legs(result, "b") if leg[:2] == ("up", 3)] == [(1, 8, 16), (2, 28, 36)]
    assert (
        result.rounds[["groups", "arrived", "under_way", "staleness"]].fillna(0).values.tolist() == [[2, 2, 0, 0]] * 2
    )


def test_a_team_sends_to_its_base_station_and_is_sent_to_by_it(played: Played) -> None:
    transfers = played(TWICE, (2, 8, 2, 4), cells=TWO_CELLS, rounds=2).transfers
    down, up = (transfers[transfers["direction"] == direction] for direction in ("down", "up"))
    assert (down["source"] == STATION).all()
    assert (down["target"] == down["sensor"]).all()
    assert (up["source"] == up["sensor"]).all()
    assert (up["target"] == STATION).all()
    assert (transfers["version"] == transfers["round"] - 1).all()


def test_the_backbone_carries_a_model_to_each_base_station_and_back_once_a_round(played: Played) -> None:
    """3 s there, 28 or 40 s, 3 s back."""
    result = played(TWICE, (2, 8, 2, 4), cells=TWO_CELLS, rounds=2, backbone={"latency_s": 3.0})
    assert ends(result) == [(0, 46), (46, 92)]
    assert [leg[3] for leg in legs(result, "a") if leg[:2] == ("down", 0)] == [3, 17]
    assert [leg[3] for leg in legs(result, "b") if leg[:2] == ("down", 1)] == [3, 23]


def test_with_one_cell_and_one_edge_round_it_is_fedavg_but_for_whom_a_sensor_talks_to(played: Played) -> None:
    strategy = {"sample_ratio": 0.7}
    ours = played({"name": "hierfavg", "edge_rounds": 1} | strategy, rounds=4, backbone={"latency_s": 2.0})
    theirs = played({"name": "fedavg"} | strategy, rounds=4, backbone={"latency_s": 2.0})
    assert set(ours.transfers["source"]) | set(ours.transfers["target"]) == {0, 1, 2, STATION}
    assert SERVER in set(theirs.transfers["target"])
    own_words = {
        "rounds": ["lineage", "groups", "total_groups", "arrived"],  # a team is one
        "transfers": ["group", "source", "target"],
        "work": ["group"],
        "captures": [],
        "faults": [],
        "sensors": [],
    }
    for table, words in own_words.items():
        one, other = getattr(ours, table), getattr(theirs, table)
        pd.testing.assert_frame_equal(one.drop(columns=words), other.drop(columns=words))


def test_a_sensor_that_fails_is_left_out_of_an_edge_round_and_asked_again_in_the_next(played: Played) -> None:
    """Sensor 1 is out 1-101: given up at 61, by which 0 has waited since 14. In the second edge round 0 is done at 75;
    1 is sent the model at 101, and done at 115."""
    out = {"kind": "sensor-outage", "at_s": 1.0, "for_s": 100.0, "sensors": [1]}
    result = played(TWICE, (2, 2), out, rounds=1)
    assert ends(result) == [(0, 115)]
    sent = result.transfers[result.transfers["outcome"] == "ok"]
    assert sent[sent["sensor"] == 0]["start_s"].tolist() == [0, 6, 61, 67]
    assert sent[sent["sensor"] == 1][["hop", "start_s"]].values.tolist() == [[1, 101], [2, 107]]
    assert result.rounds[["participants", "skipped", "arrived"]].values.tolist() == [[4, 1, 1]]
    assert result.faults[["time_s", "kind", "entity"]].values.tolist() == [[61, "skip", "sensor 1"]]


def test_the_other_cell_goes_on_while_one_waits_for_a_sensor(played: Played) -> None:
    out = {"kind": "sensor-outage", "at_s": 1.0, "for_s": 100.0, "sensors": [1]}
    result = played(TWICE, (2, 2, 2, 2), out, cells=TWO_CELLS, rounds=1)
    assert [leg[3] for leg in legs(result, "a") if leg[:2] == ("down", 0)] == [0, 14]
    assert ends(result) == [(0, 115)]


def test_a_base_station_whose_model_comes_too_late_is_left_out_of_the_round(played: Played) -> None:
    result = played(TWICE, (2, 8, 2, 4), cells=TWO_CELLS, rounds=1, deadline_s=30.0)
    assert ends(result) == [(0, 30)]
    assert result.rounds[["arrived", "deadline_missed", "void"]].values.tolist() == [[1, 1, False]]
    assert set(result.transfers[result.transfers["outcome"] == "aborted"]["cell"]) == {"b"}
