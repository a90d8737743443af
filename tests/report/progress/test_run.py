"""The progress of a run: lines where there is no terminal, a bar where there is one."""

import io
from typing import Any

from rich.console import Console

from hfedms_sim.report.progress.run import round_progress
from hfedms_sim.simulation import Progress
from tests.campaign.test_standing import Clock
from tests.conftest import tiny_scenario


def told(accuracies: list[float | None], *, width: int = 200, timing_only: bool = False, **changes: Any) -> str:
    """Return what is printed of rounds of six seconds each; on a terminal if its width is not 200."""
    text, clock = io.StringIO(), Clock()
    console = Console(file=text, width=width, force_terminal=width != 200, color_system=None)
    scenario = tiny_scenario(**({"rounds": 20} | changes))
    with round_progress(console, scenario, False, timing_only=timing_only, clock=clock) as on_round:
        for number, accuracy in enumerate(accuracies, 1):
            clock.now_s += 6.0
            on_round(Progress(number, scenario.rounds, 60.0 * number, accuracy, trained=number))
    return text.getvalue()


def test_lines_say_how_long_it_will_take() -> None:
    assert told([None, 0.1, 0.2, 0.3]).splitlines() == [
        "round 2/20, 2 min 0 s simulated, accuracy 0.100, about 2 min left",
        "round 4/20, 4 min 0 s simulated, accuracy 0.300, about 2 min left",
    ]


def test_the_last_round_has_nothing_left() -> None:
    assert told([0.1, 0.2], rounds=2).splitlines()[-1] == "round 2/2, 2 min 0 s simulated, accuracy 0.200"


def test_a_run_that_may_stop_takes_at_most_so_long_and_nothing_once_it_stops() -> None:
    assert told([0.1, 0.2, 0.3, 0.61], stop_at=0.6).splitlines() == [
        "round 2/20, 2 min 0 s simulated, accuracy 0.200, at most 2 min left (stops at accuracy 0.6)",
        "round 4/20, 4 min 0 s simulated, accuracy 0.610",
    ]
    line, over = told([0.1] * 4, stop_at=0.6, stop_after_s=240.0).splitlines()
    assert line.endswith("at most 2 min left (stops at accuracy 0.6 or after 4 min 0 s simulated)")
    assert over == "round 4/20, 4 min 0 s simulated, accuracy 0.100"


def test_without_training_no_accuracy_stops_a_run() -> None:
    assert told([None] * 2, stop_at=0.6, timing_only=True).splitlines() == [
        "round 2/20, 2 min 0 s simulated, about 2 min left"
    ]


def test_the_bar_has_it_too_and_is_short_where_there_is_no_room() -> None:
    wide, narrow = told([0.1, 0.2], width=150, stop_at=0.6), told([0.1, 0.2], width=80, stop_at=0.6)
    assert "at most 2 min left (stops at accuracy 0.6)" in wide
    assert "2 min 0 s simulated, accuracy 0.200 at most 2 min left" in narrow
    assert "stops at" not in narrow
