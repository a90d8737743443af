"""How long a run will still take: by its last rounds, and in words."""

import pytest

from hfedms_sim.report.progress.remaining import RoundPace, rough_seconds, time_left
from tests.campaign.test_standing import Clock


def paced(*rounds_s: float, kept: int = 20, trained_from: int = 0) -> tuple[RoundPace, Clock]:
    """Return the pace of rounds that took so long, of which those from an index on were trained."""
    clock = Clock()
    pace = RoundPace(kept, clock)
    for number, took_s in enumerate(rounds_s):
        clock.now_s += took_s
        pace.note(max(0, number + 1 - trained_from))
    return pace, clock


def test_the_time_left_is_that_of_the_last_rounds() -> None:
    pace, _ = paced(100.0, 100.0, 2.0, 4.0, 3.0, 4.0, kept=4)
    assert pace.left_s(10) == pytest.approx(10 * 13.0 / 4)


def test_one_round_that_took_long_does_not_move_it_but_the_long_ones_of_a_cycle_do() -> None:
    assert paced(500.0, 2.0, 2.0, 2.0)[0].left_s(10) == pytest.approx(20.0)
    assert paced(*[9.0, 1.0, 1.0, 1.0] * 3)[0].left_s(8) == pytest.approx(24.0)


def test_it_runs_down_while_a_round_goes_on_and_never_below_the_rounds_after_it() -> None:
    pace, clock = paced(4.0, 4.0)
    clock.now_s += 3.0
    assert pace.left_s(3) == pytest.approx(9.0)
    clock.now_s += 30.0
    assert pace.left_s(3) == pytest.approx(8.0)


def test_rounds_that_were_found_do_not_count_once_one_was_trained() -> None:
    pace, _ = paced(*[0.01] * 10, 5.0, trained_from=10)
    assert pace.left_s(4) is None
    assert paced(*[0.01] * 10, 5.0, 5.0, trained_from=10)[0].left_s(4) == pytest.approx(20.0)


def test_before_the_second_round_and_after_the_last_there_is_nothing_to_say() -> None:
    assert paced(5.0)[0].left_s(10) is None
    assert paced(5.0, 5.0)[0].left_s(0) is None


@pytest.mark.parametrize(
    ("seconds", "shown"),
    [(0.0, "1 s"), (39.2, "40 s"), (59.5, "1 min"), (60.0, "1 min"), (178.0, "3 min"), (3540.1, "1 h"),
     (8640.0, "2 h 25 min"), (86_100.0, "23 h 55 min"), (86_399.0, "1 d"), (273_000.0, "3 d 4 h")],
)  # fmt: skip
def test_seconds_are_rounded_up_to_what_an_estimate_can_tell(seconds: float, shown: str) -> None:
    assert rough_seconds(seconds) == shown


def test_the_time_left_says_what_it_is() -> None:
    assert time_left(178.0) == "about 3 min left"
    ends = "stops at accuracy 0.6"
    assert time_left(178.0, ends=ends, is_bound=True) == "at most 3 min left (stops at accuracy 0.6)"
