"""Sensors out of reach: what is played, the one timeout, and where FedAvg overtakes, on results made by hand."""

from dataclasses import replace
from pathlib import Path

import pytest

from hfedms_sim.campaign import Trial, TrialResult, workers_for
from hfedms_sim.campaign.tasks import Options
from hfedms_sim.exhibits import Lines, Table
from hfedms_sim.paper.catalogue import EXPERIMENTS, PAPER
from hfedms_sim.paper.conduct import Conductor
from hfedms_sim.paper.experiment import ExperimentOutcome, Results
from hfedms_sim.paper.experiments.beyond.availability import (
    AVAILABILITY,
    TIMEOUT_HOPS,
    Times,
    cases_of,
    contenders_of,
    crossing,
    crossing_words,
    grid_of,
    moved,
    times_of,
)
from hfedms_sim.paper.scales import SCALES
from hfedms_sim.paper.study import Study, seconds_of
from hfedms_sim.paper.tuned import Tuned
from hfedms_sim.scenario.faults import SensorOutage
from hfedms_sim.simulation import run
from hfedms_sim.units import SECONDS_PER_HOUR
from tests.paper.made_up import End, results

FACTORY = Study(SCALES["factory"])
TUNED = Tuned({"stream": {"fedyogi": {"strategy.learning_rate": "0.1"}}}, {"stream": {"fedyogi": 0.7}})


def outage_of(trial: Trial) -> SensorOutage | None:
    (outage,) = trial.scenario.faults or (None,)
    assert outage is None or isinstance(outage, SensorOutage)
    return outage


def percent_of(trial: Trial) -> float:
    outage = outage_of(trial)
    if outage is None:
        return 100.0
    up_s, down_s = outage.mean_up_s or 0.0, outage.mean_down_s or 0.0
    return 100 * up_s / (up_s + down_s)


def cells_of(table: Table, column: str) -> dict[tuple[object, ...], object]:
    """Return a column by strategy, outages, availability and on_gap."""
    return {row[:4]: row[table.header.index(column)] for row in table.rows}


def fading(trial: Trial) -> End:
    """Return an end that loses two points a per cent for HFedMS-D, and five in all for the others."""
    lost = 100 - percent_of(trial)
    if trial.scenario.strategy.name == "hfedms-d":
        return 0.72 - 0.02 * lost, 1.0
    return 0.45 if lost else 0.5, 1.0


def outcome_of(study: Study) -> ExperimentOutcome:
    return AVAILABILITY.outcome(study, results(AVAILABILITY, study, fading))


def test_it_is_beyond_the_paper_and_claims_nothing_of_it() -> None:
    assert EXPERIMENTS["availability"] is AVAILABILITY
    assert "availability" not in PAPER
    assert AVAILABILITY.claims == ()


def test_hop_and_round_are_what_the_simulator_takes() -> None:
    """The paper's cell: 4 Mbit/s up, 7 Mbit/s down, one transfer after the other."""
    times = times_of(FACTORY)
    scenario = FACTORY.scenario("fedavg", "stream", {}, 1, rounds=2)
    played = run(scenario, timing_only=True)
    assert played.summary["simulated_s"] == pytest.approx(2 * times.round_s)
    airtime_s = played.transfers.groupby("direction").airtime_s.mean().sum()
    assert airtime_s == pytest.approx(times.hop_s)
    assert times.round_s == pytest.approx(110 * times.hop_s)  # floor(0.3 * 368) participants


def test_one_timeout_holds_for_every_strategy_and_outage() -> None:
    times = times_of(FACTORY)
    failing = [trial for trial in AVAILABILITY.trials(FACTORY) if trial.scenario.faults]
    (timeout_s,) = {trial.scenario.recovery.timeout_s for trial in failing}
    assert timeout_s == pytest.approx(TIMEOUT_HOPS * times.hop_s)
    assert {trial.scenario.recovery.retries for trial in failing} == {2}
    assert f"after {TIMEOUT_HOPS} hops" in AVAILABILITY.title  # said before it is played


@pytest.mark.parametrize("scale", ["factory", "full"])
def test_the_timeout_outlasts_short_outages_and_no_long_one(scale: str) -> None:
    times = times_of(Study(SCALES[scale]))  # type: ignore[index]
    assert times.timeout_s == pytest.approx(100 * times.down_s("short"))
    assert times.timeout_s < times.down_s("long") / 100  # 110 times as long


def test_outages_have_the_availability_and_length_that_they_are_called_by() -> None:
    times = times_of(FACTORY)
    trials = AVAILABILITY.trials(FACTORY)
    assert {round(percent_of(trial), 3) for trial in trials} == {100, 99, 95, 90, 80}
    lengths_s = {outage.mean_down_s for trial in trials if (outage := outage_of(trial)) is not None}
    assert sorted(each or 0.0 for each in lengths_s) == pytest.approx([times.hop_s / 10, 10 * times.round_s], rel=1e-4)
    assert all(outage is None or outage.sensors is None for outage in map(outage_of, trials))


def test_the_factory_has_every_case_and_fits_into_ten_hours_of_two_cores() -> None:
    trials = AVAILABILITY.trials(FACTORY)
    assert len(trials) == 3 * (4 * (1 + 2 * 4) + 2 * 2 * 3)  # what nothing goes wrong in is played once
    assert {trial.scenario.rounds for trial in trials} == {100}
    assert seconds_of(trials) / 2 < 10 * SECONDS_PER_HOUR
    reordering = {trial.scenario.strategy.name for trial in trials if trial.scenario.recovery.on_gap == "reorder"}
    assert reordering == {"hfedms-d", "hfedms-s"}


def test_smoke_is_a_minute() -> None:
    assert seconds_of(AVAILABILITY.trials(Study(SCALES["smoke"]))) < 90


def test_outages_that_are_many_make_a_trial_dear() -> None:
    cost = {
        (trial.scenario.strategy.name, percent_of(trial)): trial.cost for trial in AVAILABILITY.trials(FACTORY)[::-1]
    }
    assert cost["fedavg", 80] > cost["fedavg", 100]


def test_the_rival_is_the_best_of_the_tuning_or_said_not_to_be_tuned() -> None:
    untuned, tuned = contenders_of(FACTORY)[-1], contenders_of(replace(FACTORY, tuned=TUNED))[-1]
    assert (untuned.strategy, dict(untuned.settings)) == ("fedadam", {"strategy.server_learning_rate": "0.01"})
    assert (tuned.label, tuned.strategy, tuned.column) == ("fedyogi, tuned", "fedyogi", "tuned")
    assert "server_learning_rate 0.01; nothing was tuned" in outcome_of(FACTORY).tables[0].note
    played = [each for each in AVAILABILITY.trials(replace(FACTORY, tuned=TUNED)) if "fedyogi" in each.name]
    assert {trial.scenario.strategy.learning_rate for trial in played} == {0.1}
    assert contenders_of(Study(SCALES["smoke"], tuned=TUNED))[-1] == untuned


@pytest.mark.parametrize(
    ("leads", "found", "words"),
    [
        ({100: 0.2, 99: 0.1, 95: -0.1, 80: -0.2}, 97.0, "97.0 %"),
        ({80: -0.3, 90: 0.1, 100: 0.5}, 87.5, "87.5 %"),
        ({100: 0.2, 90: -0.1, 80: 0.1}, 100 - 20 / 3, "93.3 %"),  # the first one on the way down
        ({100: 0.2, 90: 0.0, 80: 0.1}, None, "not within 80-100 %"),
        ({100: 0.2, 95: 0.1}, None, "not within 95-100 %"),  # no further down than was measured
        ({100: -0.2, 80: 0.1}, 100.0, "ahead at 100 % already"),
        ({}, None, "not played"),
    ],
)
def test_the_crossing_is_on_a_straight_line_between_measured_points(
    leads: dict[int, float], found: float | None, words: str
) -> None:
    assert crossing(leads) == (None if found is None else pytest.approx(found))
    assert crossing_words(leads) == words


def test_detours_are_compared_on_what_was_measured_with_both() -> None:
    skipping = {100: 0.4, 99: -1.0, 90: -0.4, 80: -0.8}
    assert moved(skipping, {100: 0.4, 90: 0.0, 80: -0.4}) == pytest.approx(95 - 90)  # 99 % is left out
    assert moved(skipping, {100: 0.4, 90: 0.1, 80: 0.1}) is None
    assert moved({100: -0.1, 80: -0.2}, {100: -0.1, 80: 0.2}) is None  # there was nothing to lose
    assert moved({}, {}) is None


def test_who_wins_where_is_answered_for_each_length_measure_and_way_of_recovery() -> None:
    table, answers = outcome_of(FACTORY).tables
    by_accuracy = {row[:2]: row for row in answers.rows if row[2] == "accuracy at the end"}
    assert len(answers.rows) == 8
    for outage in ("short", "long"):
        assert by_accuracy["hfedms-d", outage][3:5] == ("86.5 %", "86.5 %")
        assert by_accuracy["hfedms-d", outage][5] == pytest.approx(0.0, abs=1e-6)
        assert by_accuracy["hfedms-d", outage][6] == "86.5 %, 86.5 %, 86.5 %"
        assert by_accuracy["hfedms-s", outage][3] == "not within 80-100 %"
    assert "accuracy at the end: 86.5 % with skip, 86.5 % with reorder" in answers.note
    accuracy = cells_of(table, "accuracy")
    assert str(accuracy["hfedms-d", "long", 80, "reorder"]).startswith("0.320")
    assert len(table.rows) == len(cases_of(FACTORY)) == 52


def test_hours_are_those_until_fedavgs_accuracy_without_faults() -> None:
    """Straight lines: FedAvg has 0.5 after 100 rounds of 100 s, HFedMS-D 0.72 after a quarter of them."""
    table, answers = outcome_of(FACTORY).tables
    hours, there = cells_of(table, "hours to the target"), cells_of(table, "seeds there")
    assert hours["fedavg", "long", 100, ""] == pytest.approx(100 * 100 / SECONDS_PER_HOUR)
    assert hours["hfedms-d", "long", 100, ""] == pytest.approx(20 * 100 / SECONDS_PER_HOUR)
    assert hours["hfedms-d", "long", 80, "skip"] is None
    assert (there["hfedms-d", "long", 100, ""], there["hfedms-d", "long", 80, "skip"]) == (3, 0)
    (row,) = (row for row in answers.rows if row[:3] == ("hfedms-d", "long", "hours to the target"))
    assert row[3] == "not within 90-100 %"  # at 80 % nobody gets there


def test_skips_and_void_rounds_of_a_run_are_shown_as_means() -> None:
    counts = {1: 2, 2: 4, 3: 6}

    def noted(result: TrialResult) -> TrialResult:
        return result._replace(summary={**result.summary, "faults": {"skip": counts[result.trial.scenario.seed]}})

    made = [noted(result) for result in results(AVAILABILITY, FACTORY).results]
    table = AVAILABILITY.outcome(FACTORY, Results(made)).tables[0]
    assert cells_of(table, "skips")["fedavg", "long", 80, "skip"] == 4
    assert cells_of(table, "void rounds")["fedavg", "long", 80, "skip"] == 0


def test_a_row_of_panels_belongs_to_each_length() -> None:
    (figure,) = outcome_of(FACTORY).figures
    assert [panel.title for panel in figure.panels] == 3 * ["short outages"] + 3 * ["long outages"]
    assert figure.columns == 3
    panel = figure.panels[0]
    assert isinstance(panel, Lines)
    lines = {line.label: line for line in panel.lines}
    assert lines["fedavg"].x == (80, 90, 95, 99, 100)
    assert lines["hfedms-d, reorder"].x == (80, 90, 95, 100)  # without faults there is nothing to detour


def test_long_outages_are_given_up_and_short_ones_are_sat_out() -> None:
    """A dozen sensors, for real, both lengths of outages."""
    scale = replace(FACTORY.scale, sensors=12, types=2, model="tiny-mlp", beta=2, evaluate_every=2, seeds=(1,))
    study = Study(scale)
    short_s = times_of(study).down_s("short")
    for trial in AVAILABILITY.trials(study):
        outage = outage_of(trial)
        if outage is not None and percent_of(trial) == pytest.approx(80):
            found = run(trial.scenario.model_copy(update={"rounds": 20}), timing_only=True).summary["faults"]
            is_short = outage.mean_down_s == pytest.approx(short_s, rel=1e-3)
            assert (found == {}) == is_short, trial.name


@pytest.mark.thorough
def test_it_is_conducted_from_trials_to_answers(tmp_path: Path) -> None:
    study = Study(replace(SCALES["smoke"], sensors=12, types=2, model="tiny-mlp", beta=2, evaluate_every=5))
    conductor = Conductor(study, tmp_path, lambda: workers_for(1, None, Options()), "hfedms-sim paper")
    table, answers = conductor.conduct(AVAILABILITY).tables
    assert conductor.failures == {}
    assert len(table.rows) == 10
    assert all(cells_of(table, "accuracy").values())
    assert cells_of(table, "skips")["fedavg", "long", 80, "skip"] != 0
    assert all(row[3] != "not played" for row in answers.rows)


def test_times_are_of_the_scale() -> None:
    assert grid_of(SCALES["smoke"]).outages == ("long",)
    assert Times(2.0, 60.0).timeout_s == 20.0
    assert [Times(2.0, 60.0).down_s(each) for each in grid_of(SCALES["full"]).outages] == [0.2, 600.0]
