"""How far a campaign is: rounds, the time left, and the lines that say so."""

import io
from pathlib import Path

import pytest
from rich.console import Console

from hfedms_sim.campaign import Axes, Campaign, Ended, Options, Standing, Trial, trials_of
from hfedms_sim.campaign.standing import Meter
from hfedms_sim.campaign.workers import At
from hfedms_sim.report.progress.campaign import fitting, trial_progress
from hfedms_sim.run_directory import RunDirectory
from tests.campaign.factory import HereWorkers, write_factory, write_radios
from tests.conftest import tiny_scenario


class Clock:
    def __init__(self) -> None:
        self.now_s = 100.0

    def __call__(self) -> float:
        return self.now_s


def trial(name: str, rounds: int, cost: float = 1.0) -> Trial:
    return Trial(name, (), tiny_scenario(rounds=rounds), cost)


def test_the_time_left_is_by_weighted_rounds_that_were_trained_here() -> None:
    """2 rounds of a were stored and 4 trained in 8 s; 4 of a are left, and 5 of b, which cost three times as much."""
    clock = Clock()
    meter = Meter("running", [trial("a", 10), trial("b", 5, 3.0)], ["a", "b"], clock=clock)
    assert meter.standing(["a", "b"], 0, {}).eta_s is None
    clock.now_s += 8.0
    standing = meter.standing(["a"], 0, {"a": At(6, 4)})
    assert standing.eta_s == pytest.approx((4 + 5 * 3.0) * 8.0 / 4)
    assert (standing.rounds_done, standing.rounds, standing.done) == (6, 15, 0)
    meter.end("a", 8)
    standing = meter.standing(["b"], 0, {"b": At(1, 1)})
    assert standing.eta_s == pytest.approx(4 * 3.0 * 8.0 / (8 + 3.0))
    assert (standing.rounds_done, standing.done) == (11, 1)


def test_rounds_taken_from_a_parent_and_trials_finished_before_cost_nothing() -> None:
    clock = Clock()
    trials = [trial("a", 10), trial("b", 10), trial("before", 7), trial("broken", 10)]
    meter = Meter("running", trials, ["a", "b", "broken"], {"b": 8}, clock=clock)
    meter.drop("broken")
    clock.now_s += 5.0
    standing = meter.standing(["a"], 1, {"a": At(5, 5)})
    assert standing.eta_s == pytest.approx(5 + 2)
    assert (standing.trials, standing.done, standing.failed) == (4, 1, 1)
    assert (standing.rounds_done, standing.rounds) == (22, 37)


def test_where_nothing_is_trained_every_round_played_counts() -> None:
    clock = Clock()
    meter = Meter("timing", [trial("a", 10)], ["a"], counts_played=True, clock=clock)
    clock.now_s += 2.0
    assert meter.standing(["a"], 0, {"a": At(4, 0)}).eta_s == pytest.approx(3.0)


def standing(done: int, rounds_done: int, eta_s: float | None = None, *ended: Ended) -> Standing:
    return Standing("running", 3, done, 3 - done, 0, rounds_done, 30, eta_s, ended)


def test_off_a_terminal_there_is_a_line_when_a_trial_ends_and_every_half_minute() -> None:
    clock, text = Clock(), io.StringIO()
    with trial_progress(Console(file=text, width=120), False, clock) as tell:
        for seconds in range(0, 70):
            clock.now_s = seconds
            tell(standing(0, seconds // 10, 60.0))
        tell(standing(1, 10, 30.0, Ended("0001-a", 0.61234)))
        clock.now_s += 0.5
        tell(standing(2, 20, 30.0, Ended("0002-b", None)))
        tell(standing(3, 30, 0.0, Ended("0003-c", 0.7)))
    lines = text.getvalue().splitlines()
    assert lines == [
        "running: 0/3 trials done, 3 running, 0 failed, round 0 of 30, about 1 min left",
        "running: 0/3 trials done, 3 running, 0 failed, round 3 of 30, about 1 min left",
        "running: 0/3 trials done, 3 running, 0 failed, round 6 of 30, about 1 min left",
        "running: 1/3 trials done, 2 running, 0 failed, round 10 of 30, about 30 s left; ended: 0001-a 0.612",
        "running: 3/3 trials done, 0 running, 0 failed, round 30 of 30; ended: 0002-b, 0003-c 0.700",
    ]


def test_quiet_is_quiet_and_a_terminal_gets_a_bar() -> None:
    text = io.StringIO()
    with trial_progress(Console(file=text), True) as tell:
        tell(standing(0, 3))
    assert text.getvalue() == ""
    with trial_progress(Console(file=text, force_terminal=True, width=150), False) as tell:
        tell(standing(1, 3, 90.0))
    assert "round 3 of 30" in text.getvalue()
    assert "about 2 min left" in text.getvalue()


NAMES = tuple(f"{number:04d}-trial" for number in range(1, 13))


def test_lines_name_what_is_running_and_count_those_that_are_too_many() -> None:
    text = io.StringIO()
    with trial_progress(Console(file=text, width=120), False, Clock()) as tell:
        tell(standing(1, 3, None, Ended("0009-x", None))._replace(running_trials=("0001-a", "0002-[/b]")))
    assert text.getvalue().splitlines() == [
        "running: 1/3 trials done, 2 running, 0 failed, round 3 of 30; ended: 0009-x; now: 0001-a, 0002-[/b]"
    ]
    with trial_progress(Console(file=text, width=120), False, Clock()) as tell:
        tell(standing(0, 3)._replace(running_trials=NAMES))
    assert text.getvalue().endswith(f"; now: {', '.join(NAMES[:8])}, 4 more\n")


def test_the_bar_names_as_many_as_fit_and_counts_the_others() -> None:
    assert fitting(NAMES[:2], 80) == "0001-trial, 0002-trial"
    assert fitting(NAMES, 32) == "0001-trial, 0002-trial, 10 more"
    assert fitting(NAMES, 3) == "0001-trial, 11 more"
    text = io.StringIO()
    with trial_progress(Console(file=text, force_terminal=True, width=80), False) as tell:
        tell(standing(0, 3, 90.0)._replace(running_trials=NAMES))
    assert "0/3 trials done, 3 running, 0 failed; now: 0001-trial, 0002-trial, 10 more" in text.getvalue()


def test_the_time_left_is_at_most_what_is_said_where_a_trial_may_stop_early() -> None:
    text = io.StringIO()
    with trial_progress(Console(file=text, width=120), False, Clock()) as tell:
        tell(standing(0, 3, 40.0)._replace(may_stop_early=True))
    assert text.getvalue().endswith("round 3 of 30, at most 40 s left\n")


@pytest.mark.parametrize(
    ("changes", "counts_played", "may_stop_early"),
    [({}, False, False), ({"stop_at": 0.6}, False, True), ({"stop_at": 0.6}, True, False),
     ({"stop_after_s": 5.0}, True, True)],
)  # fmt: skip
def test_trials_that_are_left_may_stop_at_an_accuracy_if_they_train_and_at_a_time(
    changes: dict[str, float], counts_played: bool, may_stop_early: bool
) -> None:
    trials = [trial("a", 10), Trial("b", (), tiny_scenario(rounds=10, **changes))]
    meter = Meter("running", trials, ["a", "b"], counts_played=counts_played)
    assert meter.standing(["a", "b"], 0, {}).may_stop_early is may_stop_early
    assert meter.standing(["a", "b"], 0, {}).running_trials == ("a", "b")
    meter.end("b", 10)
    assert not meter.standing(["a"], 0, {}).may_stop_early


def test_whoever_takes_the_place_of_a_trial_that_has_ended_is_told_with_it(tmp_path: Path) -> None:
    told: list[Standing] = []
    source, radios = write_factory(tmp_path), write_radios(tmp_path)
    axes = Axes(profiles=radios[:2], rounds=1)
    campaign = Campaign(
        RunDirectory.at(tmp_path / "out"), trials_of(source, axes), Options(timing_only=True), on_standing=told.append
    )
    campaign.run(HereWorkers())
    names = [each.name for each in campaign.trials]
    assert [each.running_trials for each in told] == [(), (names[1],), ()]
