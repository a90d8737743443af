"""Windows by hand where things go wrong, people go home and deadlines pass; and what windows cost in joules."""

from pathlib import Path

import pytest

from tests.world.windows_by_hand import (
    EQUAL,
    FEDASYNC,
    FLAT,
    Played,
    arrivals,
    drawn,
    ends,
    fedbuff,
    starts,
    windows,
)


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
    """The chain that closed it tells. Window 1 has the 2 s of work of sensor 0, all others are closed by an uplink that
    was on the air when they began, but the fourth, whose began at its very beginning: 2 s of 48."""
    shares = played(FEDASYNC, rounds=8).summary["limited_by"]["shares"]
    assert {each["cause"]: round(each["share"], 6) for each in shares if each["share"]} == {
        "sensor rate": round(46 / 48, 6),
        "compute": round(2 / 48, 6),
    }
