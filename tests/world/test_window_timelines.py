"""Windows on the clock, by hand: who starts when, from which model, and how stale it is when it arrives.

The radio is exact: a model takes 4 s down and 8 s up, on channels of each sensor's own; between them a sensor works for
as long as its processor says. With 2, 4 and 8 s of work a turn of sensors 0, 1 and 2 takes 14, 16 and 20 s. Everything
follows from docs/windows.md; the arithmetic is beside each case.
"""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from hfedms_sim.result import RunResult
from hfedms_sim.rounds import SERVER, STATION
from hfedms_sim.schedule import selected
from hfedms_sim.seeds import Draws
from hfedms_sim.simulation import play, run
from tests import second_windows
from tests.window_factory import BATCH, MODEL, UP_S, exact_scenario, turns_s

REPORT_S = 4 * MODEL.classes / MODEL.model_bytes * UP_S  # class counts of four bytes each
UNEQUAL, EQUAL = (2, 4, 8), (2, 2, 2)
FEDASYNC = {"name": "fedasync", "sample_ratio": 1.0}

Played = Callable[..., RunResult]
Row = tuple[float, float, int, float | None, int]
Turn = tuple[int, float, int]


def fedbuff(buffer: int, sample_ratio: float = 1.0, **keys: Any) -> dict[str, Any]:
    return {"name": "fedbuff", "buffer": buffer, "sample_ratio": sample_ratio} | keys


@pytest.fixture(scope="module")
def played(tmp_path_factory: pytest.TempPathFactory) -> Played:
    directory = tmp_path_factory.mktemp("processors")

    def made(
        strategy: dict[str, Any], work_s: tuple[int, ...] = UNEQUAL, *faults: dict[str, Any], **keys: Any
    ) -> RunResult:
        scenario = exact_scenario(directory, strategy, work_s, faults=list(faults), **keys)
        return run(scenario, timing_only=True)

    return made


def windows(result: RunResult) -> list[Row]:
    """Return for each window when it began and was closed, how many arrived, how stale, how many went on."""
    columns = ("start_s", "end_s", "arrived", "staleness", "under_way")
    rows = zip(*(result.rounds[column] for column in columns), strict=True)
    return [
        (round(a, 6), round(b, 6), int(n), None if pd.isna(s) else round(s, 6), 0 if pd.isna(u) else int(u))
        for a, b, n, s, u in rows
    ]


def ends(result: RunResult) -> list[tuple[float, float]]:
    return [row[:2] for row in windows(result)]


def starts(result: RunResult) -> list[Turn]:
    """Return who was sent a model when, and which, in the order in which that began: (sensor, second, version)."""
    rows = result.transfers[result.transfers["direction"] == "down"].sort_values(["start_s", "version", "sensor"])
    columns = ("sensor", "start_s", "version")
    return [(int(k), round(s, 6), int(v)) for k, s, v in zip(*(rows[column] for column in columns), strict=True)]


def arrivals(result: RunResult) -> list[list[tuple[int, int]]]:
    """Return for each window who arrived in it, and from which version, in the order in which it was heard of."""
    windows_of = [each.record for each in play(result.scenario)]
    return [
        [
            (chain[0].sensor, started - 1)
            for chain, started, arrived in zip(record.chains, record.started, record.arrived, strict=True)
            if arrived
        ]
        for record in windows_of
    ]


def drawn(window: int, *idle: int) -> list[int]:
    """Return the idle sensors in the order in which they are drawn in a window."""
    order: list[int] = Draws(1).order("selection", np.array(sorted(idle)), window).tolist()
    return order


# ------------------------------------------------------------------------------------------------- one by one


def test_fedasync_makes_a_model_of_each_arrival_and_who_came_starts_from_it(played: Played) -> None:
    """14: 0 arrives and starts again, until 28. 16: 1, until 32. 20: 2, until 40. 28: 0 comes with the model of window
    1 when those of 2 and 3 have been made, and so on."""
    result = played(FEDASYNC, rounds=8)
    assert windows(result) == [
        (0, 14, 1, 0, 2),
        (14, 16, 1, 1, 2),
        (16, 20, 1, 2, 2),
        (20, 28, 1, 2, 2),
        (28, 32, 1, 2, 2),
        (32, 40, 1, 2, 2),
        (40, 42, 1, 2, 2),
        (42, 48, 1, 2, 2),
    ]
    turns = [(0, 0), (1, 0), (2, 0), (0, 1), (1, 2), (2, 3), (0, 4), (1, 5)]
    assert arrivals(result) == [[turn] for turn in turns]
    up = result.transfers[result.transfers["direction"] == "up"]
    assert list(zip(up["sensor"], up["version"], strict=True)) == turns
    assert up["round"].tolist() == list(range(1, 9))


def test_a_chain_starts_from_the_model_of_the_window_before_the_one_it_starts_in(played: Played) -> None:
    result = played(FEDASYNC, rounds=6)
    assert starts(result) == [
        (0, 0, 0), (1, 0, 0), (2, 0, 0), (0, 14, 1), (1, 16, 2), (2, 20, 3), (0, 28, 4), (1, 32, 5),
    ]  # fmt: skip


def test_a_row_belongs_to_the_window_in_which_it_ended(played: Played) -> None:
    """Sensor 1 is sent a model 0-4, works 4-8 and sends 8-16: the first two in window 1, the last in window 2."""
    result = played(FEDASYNC, rounds=3)
    first = result.transfers[(result.transfers["sensor"] == 1) & (result.transfers["version"] == 0)]
    assert first[["direction", "round"]].values.tolist() == [["down", 1], ["up", 2]]
    (work,) = result.work[result.work["sensor"] == 1].itertuples()
    assert (work.round, work.version, work.start_s, work.end_s) == (1, 0, 4, 8)
    captured = result.captures[result.captures["round"] == 3]
    assert captured[["sensor", "time_s"]].values.tolist()[0] == [0, 18]  # started in window 2, at 14


def test_what_a_sensor_captures_is_of_the_window_in_which_it_started(played: Played) -> None:
    """Sensor 0 starts in windows 1, 2 and 5; its samples are those of these rounds of a saturated stream."""
    captures = played(FEDASYNC, rounds=7).captures
    own = captures[captures["sensor"] == 0].sort_values("time_s")
    assert own["time_s"].tolist() == [4, 18, 32]
    assert own["first_arrival"].tolist() == [0, BATCH, 4 * BATCH]


def test_what_is_under_way_when_the_run_ends_has_no_row(played: Played) -> None:
    """At 14 the others have been sent the model, work or send, and only what is done shows: 3 down, 1 up. Sensor 1
    has worked, sensor 2, at work until 12, too."""
    result = played(FEDASYNC, rounds=1)
    assert result.transfers["direction"].tolist() == ["down"] * 3 + ["up"]
    assert result.summary["rounds"] == 1
    assert result.rounds[["uplink_bytes", "downlink_bytes"]].values.tolist() == [
        [MODEL.model_bytes, 3 * MODEL.model_bytes]
    ]
    assert len(result.work) == 3


def test_a_run_ends_with_the_first_window_that_ends_when_its_time_is_over(played: Played) -> None:
    assert ends(played(FEDASYNC, rounds=100, stop_after_s=30.0))[-1] == (28, 32)
    assert ends(played(FEDASYNC, rounds=100, stop_after_s=32.0))[-1] == (28, 32)
    assert ends(played(FEDASYNC, rounds=100, stop_after_s=32.5))[-1] == (32, 40)


# --------------------------------------------------------------------------------------------------- by buffers


def test_fedbuff_waits_for_two_and_who_came_while_it_waits_starts_from_the_same_model(played: Played) -> None:
    """Window 1: 0 at 14, 1 at 16. Both start again at 16, until 30 and 32. 2 comes at 20; it was under way when window
    2 began, so it starts again at once, until 40. 0 comes at 30: closed. It starts again, until 44. 1 at 32, from
    window 1's model, starts until 48. 2 at 40: closed; starts until 60. 0 at 44, until 58. 1 at 48: closed."""
    result = played(fedbuff(2), rounds=4)
    assert windows(result) == [(0, 16, 2, 0, 1), (16, 30, 2, 0.5, 2), (30, 40, 2, 1, 2), (40, 48, 2, 1, 2)]
    assert starts(result) == [
        (0, 0, 0), (1, 0, 0), (2, 0, 0), (0, 16, 1), (1, 16, 1), (2, 20, 1), (0, 30, 2), (1, 32, 2), (2, 40, 3),
        (0, 44, 3),
    ]  # fmt: skip
    assert arrivals(result) == [[(0, 0), (1, 0)], [(2, 0), (0, 1)], [(1, 1), (2, 1)], [(0, 2), (1, 2)]]


def test_a_sensor_that_started_in_a_window_does_not_start_again_in_it(played: Played) -> None:
    """All start at 0, and the window is open until the third has come: 0 waits from 14 on, 1 from 16 on."""
    result = played(fedbuff(3), rounds=3)
    assert windows(result) == [(0, 20, 3, 0, 0), (20, 40, 3, 0, 0), (40, 60, 3, 0, 0)]
    assert starts(result) == [(sensor, 20 * window, window) for window in range(3) for sensor in range(3)]


@pytest.mark.parametrize("buffer", [4, 1000])
def test_a_buffer_that_nobody_can_fill_is_closed_when_nobody_may_start_any_more(played: Played, buffer: int) -> None:
    result = played(fedbuff(buffer), rounds=2)
    assert windows(result) == [(0, 20, 3, 0, 0), (20, 40, 3, 0, 0)]
    assert not result.rounds["void"].any()


def test_below_the_concurrency_those_on_standby_start_in_the_order_of_the_draw(played: Played) -> None:
    """One of three at a time. Two turns fill a buffer of two; a third starts when the second is to be filled by it."""
    result = played(fedbuff(2, 0.4), EQUAL, rounds=2)
    first, second = drawn(1, 0, 1, 2), drawn(2, 0, 1, 2)
    assert windows(result) == [(0, 28, 2, 0, 0), (28, 56, 2, 0, 0)]
    assert starts(result) == [(first[0], 0, 0), (first[1], 14, 0), (second[0], 28, 1), (second[1], 42, 1)]


def test_two_places_for_three_sensors_and_a_buffer_of_three(played: Played) -> None:
    """Two come at 14. The third starts at 14, once: the other place stays empty, because the two have started in this
    window. It is closed at 28, by which all are idle again."""
    result = played(fedbuff(3, 0.7), EQUAL, rounds=2)
    order = drawn(1, 0, 1, 2)
    assert windows(result) == [(0, 28, 3, 0, 0), (28, 56, 3, 0, 0)]
    assert starts(result)[:3] == [*((sensor, 0, 0) for sensor in sorted(order[:2])), (order[2], 14, 0)]


def test_a_buffer_larger_than_the_factory_with_one_place_goes_round_once(played: Played) -> None:
    """One after the other, each once: 14 + 16 + 20."""
    result = played(fedbuff(7, 0.4), rounds=2)
    assert windows(result) == [(0, 50, 3, 0, 0), (50, 100, 3, 0, 0)]
    assert [sensor for sensor, _, version in starts(result) if version == 1] == drawn(2, 0, 1, 2)


def test_a_place_that_is_free_when_a_window_begins_is_for_one_of_the_idle(played: Played) -> None:
    """Two of three at once, one by one. Whoever comes is drawn against the one that was idle."""
    result = played(FEDASYNC | {"sample_ratio": 0.7}, EQUAL, rounds=3)
    first = sorted(drawn(1, 0, 1, 2)[:2])
    idle = ({0, 1, 2} - set(first)).pop()
    second = drawn(2, first[0], idle)[0]
    assert windows(result)[:2] == [(0, 14, 1, 0, 1), (14, 14, 1, 1, 1)]
    third = drawn(3, *({0, 1, 2} - {second}))[0]
    assert starts(result) == sorted(
        [(first[0], 0, 0), (first[1], 0, 0), (second, 14, 1), (third, 14, 2)], key=lambda turn: turn[1:] + turn[:1]
    )


# ------------------------------------------------------------------------------------------------ at one instant


def test_arrivals_of_one_instant_are_taken_in_one_after_the_other_in_windows_without_length(played: Played) -> None:
    """At 14 all three come. 0 closes window 1, and starts again from its model; 1 closes window 2 at 14, and starts
    from its model; 2 closes window 3. At 28 they come in the order in which they started."""
    result = played(FEDASYNC, EQUAL, rounds=6)
    assert windows(result) == [
        (0, 14, 1, 0, 2),
        (14, 14, 1, 1, 2),
        (14, 14, 1, 2, 2),
        (14, 28, 1, 2, 2),
        (28, 28, 1, 2, 2),
        (28, 28, 1, 2, 2),
    ]
    assert starts(result)[3:] == [(0, 14, 1), (1, 14, 2), (2, 14, 3)]
    assert arrivals(result) == [[(0, 0)], [(1, 0)], [(2, 0)], [(0, 1)], [(1, 2)], [(2, 3)]]


def test_a_buffer_smaller_than_what_comes_at_once_leaves_the_rest_to_the_next_window(played: Played) -> None:
    """At 14: 0 and 1 fill window 1, and start from its model. 2 is the first of window 2, which stays open, so it
    starts from that model too. At 28: 0 fills window 2 and starts; 1 and 2 fill window 3 at once, and start from its
    model. At 42: 0, which started first, and 1 fill window 4."""
    result = played(fedbuff(2), EQUAL, rounds=4)
    assert windows(result) == [(0, 14, 2, 0, 1), (14, 28, 2, 0.5, 2), (28, 28, 2, 1, 1), (28, 42, 2, 0.5, 1)]
    assert starts(result)[3:] == [(0, 14, 1), (1, 14, 1), (2, 14, 1), (0, 28, 2), (1, 28, 3), (2, 28, 3)]
    assert arrivals(result) == [[(0, 0), (1, 0)], [(2, 0), (0, 1)], [(1, 1), (2, 1)], [(0, 2), (1, 3)]]


def test_arrivals_of_one_instant_are_in_the_order_in_which_they_started(played: Played) -> None:
    """Sensor 0 takes 14 s, sensor 1 takes 28. 14: 0 closes window 1 and starts again. 28: 1, which started at 0,
    closes window 2; 0 closes window 3."""
    result = played(FEDASYNC, (2, 16), rounds=3)
    assert windows(result) == [(0, 14, 1, 0, 1), (14, 28, 1, 1, 1), (28, 28, 1, 1, 1)]
    assert arrivals(result) == [[(0, 0)], [(1, 0)], [(0, 1)]]


def test_with_as_many_under_way_as_are_buffered_windows_are_rounds_of_fedavg(played: Played) -> None:
    ours = played(fedbuff(2, 0.5), (2, 2, 2, 2), rounds=5)
    theirs = played({"name": "fedavg", "sample_ratio": 0.5}, (2, 2, 2, 2), rounds=5)
    for table in ("rounds", "transfers", "work", "captures", "faults", "sensors"):
        one, other = getattr(ours, table), getattr(theirs, table)
        own = ["lineage", "under_way"]  # null where there is a barrier
        pd.testing.assert_frame_equal(one.drop(columns=own, errors="ignore"), other.drop(columns=own, errors="ignore"))


# ----------------------------------------------------------------------------------------- when things go wrong


def test_a_deadline_closes_a_window_with_what_it_has_and_nobody_is_cut_off(played: Played) -> None:
    """0 at 14; closed at 15. 0 starts until 29. 1 comes at 16, starts until 32; 2 at 20, until 40; 0 at 29: closed, a
    second before the deadline. 0 until 43; 1 at 32, until 48; 2 at 40, until 60; 0 at 43: closed. 0 until 57; 1 at 48;
    0 at 57; closed at 58."""
    result = played(fedbuff(3), rounds=4, deadline_s=15.0)
    assert windows(result) == [
        (0, 15, 1, 0, 2),
        (15, 29, 3, round(2 / 3, 6), 2),
        (29, 43, 3, round(2 / 3, 6), 2),
        (43, 58, 2, 0.5, 2),
    ]
    assert result.faults.empty
    assert not result.rounds["deadline_missed"].any()
    assert (result.transfers["outcome"] == "ok").all()


def test_a_window_in_which_nobody_arrives_before_the_deadline_is_void_and_all_go_on(played: Played) -> None:
    """Closed at 10 and at 20, by which all have come: at 14, 16 and 20 less a second. Nobody started in between but
    those that came."""
    result = played(fedbuff(3), (2, 4, 7), rounds=2, deadline_s=10.0)
    assert windows(result)[0] == (0, 10, 0, None, 3)
    assert result.rounds["void"].tolist() == [True, False]
    assert arrivals(result) == [[], [(0, 0), (1, 0), (2, 0)]]
    assert windows(result)[1] == (10, 19, 3, 0, 2)  # a void window makes no model


def test_below_the_quorum_a_window_is_void_and_what_came_is_lost(played: Played) -> None:
    """Half of three are awaited. Window 1 has one at its deadline, and the others go on and count in the next."""
    result = played(fedbuff(3), rounds=2, deadline_s=15.0, quorum=0.5)
    assert windows(result) == [(0, 15, 1, None, 2), (15, 29, 3, 0, 2)]
    assert result.rounds["void"].tolist() == [True, False]
    assert result.faults[["time_s", "kind", "entity"]].values.tolist() == [[15, "void", "round 1"]]


def test_a_chain_that_is_not_delivered_frees_its_place_for_one_on_standby(played: Played) -> None:
    """Two of three at once, a buffer of two. `lost` crashes at its work, at 5, and is given up at 65. The other comes
    at 14, and the third starts; 28: closed. 28-42 and 42-56 the two that are left, in the order of the draw. Window 3:
    one of them 56-70; at 65 the place of `lost` is free, and the next starts, until 79: closed."""
    order = drawn(1, 0, 1, 2)
    lost = sorted(order[:2])[0]
    crash = {"kind": "sensor-crash", "at_s": 5.0, "sensors": [lost]}
    result = played(fedbuff(2, 0.7), EQUAL, crash, rounds=3)
    left = {0, 1, 2} - {lost}
    one, other = drawn(3, *left)
    assert ends(result) == [(0, 28), (28, 56), (56, 79)]
    assert result.rounds[["groups", "participants", "arrived", "skipped"]].values.tolist() == [
        [2, 2, 2, 0],
        [2, 2, 2, 0],
        [3, 3, 2, 1],
    ]
    assert arrivals(result)[2] == [(one, 2), (other, 2)]
    assert [turn for turn in starts(result) if 56 <= turn[1] < 70] == [(one, 56, 2), (other, 65, 2)]
    assert result.rounds["staleness"].tolist() == [0, 0, 0]
    assert result.faults[result.faults["time_s"] == 65][["kind", "entity", "round"]].values.tolist() == [
        ["skip", f"sensor {lost}", 3]
    ]


def test_one_on_standby_starts_for_each_chain_that_fails_however_many_do(played: Played) -> None:
    """One place, one arrival awaited. The first two that are drawn are gone, and given up at 60 and at 120. The third
    is idle and has not started in this window: it starts then, and closes it at 134."""
    order = drawn(1, 0, 1, 2, 3)
    gone = {"kind": "sensor-outage", "at_s": 0.0, "for_s": 10_000.0, "sensors": sorted(order[:2])}
    result = played(FEDASYNC | {"sample_ratio": 0.25}, (2,) * 4, gone, rounds=1)
    assert windows(result) == [(0, 134, 1, 0, 0)]
    assert starts(result)[-1] == (order[2], 120, 0)
    assert result.rounds[["groups", "skipped"]].values.tolist() == [[3, 2]]


def test_a_window_ends_when_the_last_chain_under_way_is_given_up(played: Played) -> None:
    """Both are awaited; 1 is gone from the beginning and given up at 60. Nobody else may start."""
    gone = {"kind": "sensor-outage", "at_s": 0.0, "for_s": 1000.0, "sensors": [1]}
    result = played(fedbuff(2), (2, 2), gone, rounds=1)
    assert windows(result) == [(0, 60, 1, 0, 0)]


def test_over_selection_is_refused(played: Played) -> None:
    for strategy in (FEDASYNC, fedbuff(2), {"name": "hfedms-async"}, {"name": "hierfavg"}):
        with pytest.raises(ValueError, match="over_selection"):
            played(strategy | {"over_selection": 0.5})


def test_who_is_announced_to_be_away_is_not_drawn_and_makes_the_concurrency_smaller(
    played: Played, tmp_path: Path
) -> None:
    """0.7 of two are one at a time; from 20 on 0.7 of three are two. Window 3, from 28 on, has two starts."""
    path = tmp_path / "presence.csv"
    path.write_text("sensor,from_s,until_s\n2,20,1000000\n")
    strategy = FEDASYNC | {"sample_ratio": 0.7}
    result = played(strategy, EQUAL, rounds=4, availability={"kind": "csv", "path": str(path)})
    assert windows(result)[:3] == [(0, 14, 1, 0, 0), (14, 28, 1, 0, 0), (28, 42, 1, 0, 1)]
    begun = starts(result)
    assert [turn for turn in begun if turn[2] < 2] == [(drawn(1, 0, 1)[0], 0, 0), (drawn(2, 0, 1)[0], 14, 1)]
    assert [turn for turn in begun if turn[2] == 2] == [(each, 28, 2) for each in sorted(drawn(3, 0, 1, 2)[:2])]


def test_who_goes_away_while_under_way_makes_the_concurrency_smaller_too(played: Played, tmp_path: Path) -> None:
    """0 is announced to be away from 10 on, while it sends, and is given up at 70. So there are places for the two
    others, and one is taken by 0 as long as it is under way. 1 comes at 16 and cannot start; 2 comes at 20. From then
    on one of the two is under way."""
    path = tmp_path / "presence.csv"
    path.write_text("sensor,from_s,until_s\n0,0,10\n0,100000,200000\n")
    result = played(FEDASYNC, rounds=4, availability={"kind": "csv", "path": str(path)})
    assert ends(result)[:2] == [(0, 16), (16, 20)]
    assert [turn for turn in starts(result) if 0 < turn[1] < 30] == [(drawn(3, 1, 2)[0], 20, 2)]


def test_a_period_makes_windows_wait_and_not_those_under_way(played: Played) -> None:
    """0 at 14, 1 at 16: closed. 2 has arrived by 20, before window 2 begins at 100, and counts in it. 0 and 1 start
    at 100; 0 is back at 114: closed. 1 and 2, which started at 100 too, are back when window 3 begins, and close it."""
    result = played(fedbuff(2), rounds=3, round_period_s=100.0)
    assert windows(result)[:2] == [(0, 16, 2, 0, 1), (100, 114, 2, 0.5, 2)]
    assert [row[:4] for row in windows(result)[2:]] == [(200, 200, 2, 1)]
    assert {turn for turn in starts(result) if turn[2] == 1} == {(0, 100, 1), (1, 100, 1), (2, 100, 1)}


def test_the_backbone_is_crossed_before_and_after_each_turn(played: Played) -> None:
    """Turns of 16, 18 and 22 s: a second each way."""
    result = played(FEDASYNC, rounds=4, backbone={"latency_s": 1.0})
    assert windows(result) == [(0, 16, 1, 0, 2), (16, 18, 1, 1, 2), (18, 22, 1, 2, 2), (22, 32, 1, 2, 2)]
    assert starts(result)[3:5] == [(0, 17, 1), (1, 19, 2)]


def test_joules_of_windows_sum_to_those_of_the_seconds_played(played: Played) -> None:
    """A radio spends 1 W while it sends, 0.5 W while it receives, 0.1 W otherwise. By 48 s sensors have had 11 models
    down and 8 up; the rest of three times 48 s they were at rest, or at something that has no row yet."""
    currents = {
        "voltage_v": 1.0, "transmit_ma": 1000.0, "receive_ma": 500.0, "connected_ma": 100.0, "sleep_ma": 100.0,
    }  # fmt: skip
    result = played(FEDASYNC, rounds=8, radio={"energy": currents})
    rounds, sent = result.rounds, result.transfers["direction"].tolist()
    assert (sent.count("down"), sent.count("up")) == (10, 8)
    spent_j = 8 * 8 + 10 * 4 * 0.5 + (3 * 48 - 8 * 8 - 10 * 4) * 0.1
    assert rounds["energy_j"].sum() == pytest.approx(spent_j)
    assert rounds["transmit_j"].tolist() == [8.0] * 8  # one uplink ends in each
    states = [name for name in rounds.columns if name.endswith("_j") and name not in ("energy_j", "baseline_energy_j")]
    assert rounds[states].sum(axis=1).tolist() == pytest.approx(rounds["energy_j"].tolist())
    assert result.summary["energy_j"] == pytest.approx(spent_j)


FLAT = {"voltage_v": 1.0} | dict.fromkeys(("transmit_ma", "receive_ma", "connected_ma", "sleep_ma"), 100.0)  # 0.1 W


def test_airtime_that_began_before_its_window_is_taken_off_what_counted_as_connected(played: Played) -> None:
    """0 is sent a model 14-18 and works until 20, 1 sends 11-19. So nothing is on the air at 19, when window 2 is
    closed, but 8 s of sending ended in it that lasts for 5. Radios that always spend 0.1 W spend 2 x 5 x 0.1 J in it:
    0.8 + 0.4 for what has ended, and 0.2 less than nothing beside it."""
    result = played(FEDASYNC, (2, 7), rounds=2, radio={"energy": FLAT})
    assert ends(result) == [(0, 14), (14, 19)]
    rounds = result.rounds
    assert rounds["transmit_j"].tolist() == pytest.approx([0.8, 0.8])
    assert rounds["receive_j"].tolist() == pytest.approx([0.8, 0.4])
    assert rounds["energy_j"].tolist() == pytest.approx([2.8, 1.0])
    assert rounds["baseline_energy_j"].tolist() == pytest.approx([1.2, -0.2])


def test_airtime_is_taken_off_in_the_window_in_which_the_last_under_way_arrives_too(played: Played) -> None:
    """One sensor, which sends 6-14; a deadline closes a void window at 10. Window 2 has 4 s, 0.4 J, of which 0.8 J
    are of the uplink that ends in it, and so -0.4 J beside it."""
    result = played(FEDASYNC, (2,), rounds=2, radio={"energy": FLAT}, deadline_s=10.0)
    assert ends(result) == [(0, 10), (10, 14)]
    assert result.rounds["transmit_j"].tolist() == pytest.approx([0.0, 0.8])
    assert result.rounds["energy_j"].tolist() == pytest.approx([1.0, 0.4])
    assert result.summary["energy_j"] == pytest.approx(1.4)
    assert result.sensors[["transmit_j", "receive_j", "connected_j", "sleep_j"]].sum(axis=1).tolist() == [
        pytest.approx(1.4)
    ]


def test_what_limited_a_window_is_read_from_where_it_began(played: Played) -> None:
    """Of the chain that closed it. Window 1 has the 2 s of work of sensor 0, all others are closed by an uplink that
    was on the air when they began, but the fourth, whose began at its very beginning: 2 s of 48."""
    shares = played(FEDASYNC, rounds=8).summary["limited_by"]["shares"]
    assert {each["cause"]: round(each["share"], 6) for each in shares if each["share"]} == {
        "sensor rate": round(46 / 48, 6),
        "compute": round(2 / 48, 6),
    }


# ---------------------------------------------------------------------------------------- base stations that average

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


# ------------------------------------------------------------------------------------------ chains without a barrier


def chains_of(result: RunResult) -> dict[tuple[int, int], pd.DataFrame]:
    rows = result.transfers[result.transfers["payload"] == "model"]
    return {(version, group): own for (version, group), own in rows.groupby(["version", "group"])}


def test_chains_that_are_all_under_way_come_back_one_by_one_and_report_and_start_again(played: Played) -> None:
    """Four sensors in two groups of two, both under way. All report until r; one chain takes s, the other t > s. The
    first comes back at r + s, all groups of the cycle have started, so its two sensors report and are grouped anew:
    there is one group of them, which starts r later from the model of window 1."""
    strategy = {"name": "hfedms-async", "beta": 2, "alpha": 0.0, "sample_ratio": 1.0}
    result = played(strategy, (2, 6, 2, 36), rounds=2)
    first = {group: rows for (version, group), rows in chains_of(result).items() if version == 0}
    assert len(first) == 2
    lengths = {}
    for group, rows in first.items():
        who = rows[rows["direction"] == "down"].sort_values("start_s")["sensor"].tolist()
        assert len(who) == 2
        lengths[group] = sum(12 + (2, 6, 2, 36)[sensor] for sensor in who)
        assert rows["start_s"].min() == pytest.approx(REPORT_S)
    fast = min(lengths, key=lambda group: lengths[group])
    slow_s, fast_s = max(lengths.values()), min(lengths.values())
    back = set(first[fast]["sensor"])
    reports = result.transfers[result.transfers["payload"] == "report"]
    assert reports["sensor"].tolist()[:4] == [0, 1, 2, 3]
    assert set(reports["sensor"].tolist()[4:]) == back
    assert reports["start_s"].tolist()[4:] == pytest.approx([REPORT_S + fast_s] * 2)
    (again,) = [rows for (version, _), rows in chains_of(result).items() if version == 1]
    assert set(again["sensor"]) == back
    assert again["start_s"].min() == pytest.approx(2 * REPORT_S + fast_s)
    next_s = min(2 * REPORT_S + 2 * fast_s, REPORT_S + slow_s)
    assert result.rounds["end_s"].tolist() == pytest.approx([REPORT_S + fast_s, next_s])
    assert result.rounds["under_way"].tolist() == [1, 1]
    assert result.rounds["cycle"].tolist() == [1, 1]
    assert result.rounds["total_groups"].tolist() == [2, 2]


def test_a_cycle_has_as_many_arrivals_as_places_and_the_next_group_starts_from_the_new_model(played: Played) -> None:
    """Eight equal sensors, four groups of two, two places: 28 s a chain. Both come back at r + 28. The first closes
    window 1 and a third group starts, from its model; the second closes window 2, with which the cycle has had its
    two arrivals. So four idle sensors, the second's and those of the fourth group, report, and are grouped into two of
    M = 4, for one of which there is a place. r + 56: the third group closes window 3."""
    strategy = {"name": "hfedms-async", "beta": 4, "alpha": 0.0, "sample_ratio": 0.5}
    result = played(strategy, (2,) * 8, rounds=3)
    r = REPORT_S
    assert ends(result) == [(0, round(r + 28, 6)), (round(r + 28, 6),) * 2, (round(r + 28, 6), round(r + 56, 6))]
    assert result.rounds["cycle"].tolist() == [1, 1, 2]
    begun = {key: round(rows["start_s"].min(), 6) for key, rows in chains_of(result).items()}
    assert sorted((version, begin_s) for (version, _), begin_s in begun.items()) == [
        (0, round(r, 6)), (0, round(r, 6)), (1, round(r + 28, 6)), (2, round(2 * r + 28, 6)),
    ]  # fmt: skip
    reports = result.transfers[result.transfers["payload"] == "report"]
    third = set(chains_of(result)[next(key for key in begun if key[0] == 1)]["sensor"])
    assert sorted(reports["sensor"].tolist()[8:]) == sorted(set(range(8)) - third)
    assert result.rounds["staleness"].tolist() == [0, 1, 1]


def test_a_chain_that_is_back_while_others_report_is_mixed_in_when_they_have(played: Played) -> None:
    """Two groups of two equal sensors, both under way, and both back at r + 28. The first closes window 1. Its sensors
    report, until 2 r + 28; then the second closes window 2."""
    strategy = {"name": "hfedms-async", "beta": 2, "alpha": 0.0, "sample_ratio": 1.0}
    result = played(strategy, (2,) * 4, rounds=2)
    assert ends(result) == [(0, round(REPORT_S + 28, 6)), (round(REPORT_S + 28, 6), round(2 * REPORT_S + 28, 6))]


def test_a_cycle_has_its_arrivals_and_groups_anew_when_all_its_groups_have_started(played: Played) -> None:
    """Three groups of two and three places: none is left to start after the first arrival, though a cycle has three."""
    strategy = {"name": "hfedms-async", "beta": 3, "alpha": 0.0, "sample_ratio": 1.0}
    result = played(strategy, (2, 4, 2, 4, 2, 16), rounds=4)
    assert result.rounds["cycle"].tolist() == [1, 1, 1, 2]
    reports = result.transfers[result.transfers["payload"] == "report"].groupby("round").size()
    assert reports.to_dict() == {1: 6, 2: 2, 3: 2, 4: 2}


# ------------------------------------------------------------------------------------------------------ properties


def chain_intervals(result: RunResult) -> pd.DataFrame:
    """Return of each chain that left rows its version, its sensor and when its first and last rows began and ended."""
    rows = result.transfers[result.transfers["payload"] == "model"]
    named = rows.groupby(["version", "group"])
    spans = named.agg(begin_s=("ready_s", "min"), end_s=("end_s", "max"), sensors=("sensor", "nunique"))
    return spans.join(named["sensor"].first()).reset_index()


def assert_nobody_is_in_two_chains_at_once(result: RunResult) -> None:
    rows = result.transfers[result.transfers["payload"] == "model"]
    for _, own in rows.groupby("sensor"):
        turns = own.groupby(["version", "group"]).agg(begin_s=("ready_s", "min"), end_s=("end_s", "max"))
        turns = turns.sort_values(["begin_s", "end_s"])
        assert (turns["begin_s"].to_numpy()[1:] >= turns["end_s"].to_numpy()[:-1] - 1e-9).all()
        assert not turns.index.get_level_values("version").duplicated().any()  # at most once from each model


def assert_places_are_kept(result: RunResult, places: int) -> None:
    """Count chains that have begun and not ended, at every beginning."""
    spans = chain_intervals(result)
    for begin_s in spans["begin_s"]:
        assert ((spans["begin_s"] <= begin_s) & (spans["end_s"] > begin_s)).sum() <= places


def assert_bytes_are_right(result: RunResult) -> None:
    rounds, sent = result.rounds.set_index("round"), result.transfers
    for direction, column in (("up", "uplink_bytes"), ("down", "downlink_bytes")):
        of_round = sent[(sent["direction"] == direction) & (sent["outcome"] == "ok")].groupby("round")["bytes"].sum()
        assert rounds[column].to_dict() == of_round.reindex(rounds.index, fill_value=0).to_dict()
    assert (sent["version"] <= sent["round"] - 1).all()


def assert_sums_are_right(result: RunResult) -> None:
    rounds = result.rounds
    assert_bytes_are_right(result)
    assert (rounds["start_s"].to_numpy()[1:] == rounds["end_s"].to_numpy()[:-1]).all()
    assert (rounds["end_s"] >= rounds["start_s"]).all()


def assert_staleness_is_of_the_versions(result: RunResult) -> None:
    each_window = arrivals(result)
    stale = [[number - (version + 1) for _, version in who] for number, who in enumerate(each_window, start=1)]
    assert all(each >= 0 for window in stale for each in window)
    assert result.rounds["staleness"].tolist() == pytest.approx([sum(each) / len(each) for each in stale])
    assert result.rounds["arrived"].tolist() == [len(who) for who in each_window]
    up = result.transfers[result.transfers["direction"] == "up"]
    heard = {turn for who in each_window for turn in who}
    assert heard <= set(zip(up["sensor"], up["version"], strict=True))


speeds = st.lists(st.sampled_from([1, 2, 3, 4, 5, 6, 8, 9, 12]), min_size=1, max_size=7).map(tuple)
ratios = st.sampled_from([0.2, 0.34, 0.5, 0.7, 1.0])


@settings(max_examples=25)
@example(
    (1, 1, 1, 6), 1.0, 3, 7
)  # several that have arrived since the window began may start: first drawn, first served
@given(speeds, ratios, st.integers(1, 9), st.integers(1, 12))
def test_an_event_loop_written_from_the_docs_plays_the_same_windows(
    played: Played, work_s: tuple[int, ...], ratio: float, buffer: int, seed: int
) -> None:
    """On dedicated channels: beginnings, ends, who arrives from which version, who goes on."""
    rounds = 7
    result = played(fedbuff(buffer, ratio), work_s, rounds=rounds, seed=seed)
    places = selected(ratio, len(work_s))
    expected = second_windows.played(turns_s(work_s), buffer, places, rounds, seed)
    for number, window in enumerate(expected, start=1):
        staleness = sum(window.staleness) / len(window.arrived)
        assert windows(result)[number - 1] == (
            window.start_s, window.end_s, len(window.arrived), round(staleness, 6), window.under_way
        ), number  # fmt: skip
    who = [[(chain.sensor, chain.window - 1) for chain in window.arrived] for window in expected]
    assert arrivals(result) == who


@settings(max_examples=25)
@given(speeds, ratios, st.integers(1, 5), st.sampled_from(["dedicated", 1, 2]), st.integers(1, 5))
def test_nobody_is_in_two_chains_at_once_and_places_and_sums_are_kept(
    played: Played, work_s: tuple[int, ...], ratio: float, buffer: int, channels: Any, seed: int
) -> None:
    result = played(fedbuff(buffer, ratio), work_s, rounds=8, seed=seed, radio={"channels": channels})
    places = selected(ratio, len(work_s))
    assert_nobody_is_in_two_chains_at_once(result)
    assert_places_are_kept(result, places)
    assert_sums_are_right(result)
    assert_staleness_is_of_the_versions(result)
    assert result.rounds["under_way"].max() <= places
    if len(work_s) >= buffer:
        assert result.rounds["arrived"].tolist() == [buffer] * 8
    else:
        assert (result.rounds["arrived"] <= buffer).all()


@settings(max_examples=15)
@given(speeds, ratios, st.sampled_from(["dedicated", 1]), st.integers(1, 4), st.sampled_from([0.0, 1.0]))
def test_chains_of_sensors_keep_to_their_places_too(
    played: Played, work_s: tuple[int, ...], ratio: float, channels: Any, beta: int, alpha: float
) -> None:
    strategy = {"name": "hfedms-async", "beta": beta, "alpha": alpha, "sample_ratio": ratio}
    result = played(strategy, work_s * 2, rounds=8, radio={"channels": channels})
    rounds = result.rounds
    assert rounds["arrived"].tolist() == [1] * 8
    assert_nobody_is_in_two_chains_at_once(result)
    assert_sums_are_right(result)
    most = [selected(ratio, groups) for groups in rounds["total_groups"]]
    assert (rounds["under_way"] <= np.maximum.accumulate(most)).all()
    if alpha == 0.0:
        assert_places_are_kept(result, most[0])


TROUBLE: list[list[dict[str, Any]]] = [
    [],
    [{"kind": "sensor-outage", "mean_up_s": 40.0, "mean_down_s": 8.0}, {"kind": "transfer-loss", "probability": 0.1}],
    [{"kind": "sensor-crash", "mean_up_s": 60.0, "mean_down_s": 10.0}],
    [
        {"kind": "cell-outage", "mean_up_s": 60.0, "mean_down_s": 10.0},
        {"kind": "server-outage", "at_s": 20.0, "for_s": 9.0},
    ],
]
ENDINGS: list[dict[str, Any]] = [
    {},
    {"deadline_s": 20.0},
    {"deadline_s": 11.0, "quorum": 0.5},
    {"round_period_s": 25.0},
]
radios = st.fixed_dictionaries(
    {
        "channels": st.sampled_from(["dedicated", 1, 2]),
        "inactivity_s": st.sampled_from([0.0, 3.0, 30.0]),
        "setup_s": st.sampled_from([0.0, 1.5]),
    }
)
troubled = given(
    speeds, ratios, st.integers(1, 4), radios, st.sampled_from(TROUBLE), st.sampled_from(ENDINGS), st.integers(1, 50)
)


@settings(max_examples=20)
@troubled
def test_whatever_goes_wrong_nobody_is_in_two_chains_at_once(
    played: Played,
    work_s: tuple[int, ...],
    ratio: float,
    buffer: int,
    radio: dict[str, Any],
    faults: list[dict[str, Any]],
    ending: dict[str, Any],
    seed: int,
) -> None:
    """And places are kept, and what has arrived, counted and gone on adds up to what has started."""
    keys = {"rounds": 8, "seed": seed, "radio": radio, "recovery": {"timeout_s": 6.0}} | ending
    result = played(fedbuff(buffer, ratio), work_s, *faults, **keys)
    rounds, places = result.rounds, selected(ratio, len(work_s))
    assert_nobody_is_in_two_chains_at_once(result)
    assert_bytes_are_right(result)
    assert (rounds["under_way"] <= places).all()
    assert (rounds["arrived"] <= rounds["groups"]).all()
    assert (rounds["arrived"] <= buffer).all()
    assert not rounds["deadline_missed"].any()
    counted = [len(who) for who in arrivals(result)]
    assert counted == rounds["arrived"].where(~rounds["void"], 0).tolist()
    begun = {(each.plan.round, group.number) for each in play(result.scenario) for group in each.plan.groups}
    assert rounds["groups"].sum() + rounds["under_way"].iloc[-1] >= len(begun)
    assert (rounds["start_s"].to_numpy()[1:] >= rounds["end_s"].to_numpy()[:-1]).all()


@settings(max_examples=20)
@example((2,), 1.0, 1, {}, [], {"deadline_s": 10.0}, 1)
@troubled
def test_radios_that_always_spend_the_same_spend_it_over_the_whole_run(
    played: Played,
    work_s: tuple[int, ...],
    ratio: float,
    buffer: int,
    radio: dict[str, Any],
    faults: list[dict[str, Any]],
    ending: dict[str, Any],
    seed: int,
) -> None:
    """Whatever state a second is counted as, and in whatever window."""
    keys = {"rounds": 8, "seed": seed, "radio": radio | {"energy": FLAT}, "recovery": {"timeout_s": 6.0}} | ending
    result = played(fedbuff(buffer, ratio), work_s, *faults, **keys)
    spent_j = 0.1 * len(work_s) * result.summary["simulated_s"]
    assert result.rounds["energy_j"].sum() == pytest.approx(spent_j)
    assert result.summary["energy_j"] == pytest.approx(spent_j)
