"""Windows on the clock, by hand: who starts when, from which model, and how stale it is when it arrives.

Everything follows from docs/windows.md; the arithmetic is beside each case.
"""

import pandas as pd
import pytest

from tests.window_factory import BATCH, MODEL
from tests.world.windows_by_hand import EQUAL, FEDASYNC, Played, arrivals, drawn, ends, fedbuff, starts, windows

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
