"""Joules by state: they are those of the summary, means over seeds, and refused where they are not modelled."""

import dataclasses

import pytest

from hfedms_sim.errors import InputError
from hfedms_sim.exhibits import Bars, Lines
from hfedms_sim.report.views.energy import UNKNOWN, energy_figure
from hfedms_sim.result import RunResult
from tests.report.views.samples import LTE_M, timed, timed_once


def with_joules(**changes: object) -> RunResult:
    return timed(cells=[{"name": "hall", "profile": LTE_M}], **changes)


def bars_of(*results: RunResult) -> Bars:
    bars = energy_figure(results).panels[0]
    assert isinstance(bars, Bars)
    return bars


def test_the_stack_of_a_run_is_its_summary_and_its_rounds_add_up_to_it() -> None:
    result = with_joules()
    figure = energy_figure([result])
    bars, rounds = figure.panels
    assert isinstance(bars, Bars)
    assert isinstance(rounds, Lines)
    assert bars.is_stacked
    size_j = {"energy in J": 1.0, "energy in kJ": 1e3}[bars.y_label]
    shown = {state: values[0] for state, values in bars.series}
    expected = {state: joules for state, joules in result.summary["energy_by_state"].items() if joules}
    assert {state: (value or 0.0) * size_j for state, value in shown.items()} == pytest.approx(expected)
    assert sum(shown_j or 0.0 for shown_j in shown.values()) * size_j == pytest.approx(result.summary["energy_j"])
    assert rounds.y_label == "energy in J"
    assert {line.label: sum(line.y) for line in rounds.lines} == pytest.approx(expected)


def test_runs_that_differ_in_the_seed_are_one_bar_their_mean() -> None:
    one, other = with_joules(seed=1), with_joules(seed=2)
    both = bars_of(one, other)
    assert both.labels == ("hfedms-d, 2 seeds",)
    means = {state: values[0] for state, values in both.series}
    alone = [{state: values[0] for state, values in bars_of(each).series} for each in (one, other)]
    assert means["transmit"] == pytest.approx(((alone[0]["transmit"] or 0) + (alone[1]["transmit"] or 0)) / 2)


def test_a_run_without_modelled_energy_is_refused_with_the_reason_and_left_out_beside_others() -> None:
    missing = timed_once()
    with pytest.raises(InputError, match="energy is not modelled"):
        energy_figure([missing])
    figure = energy_figure([missing, with_joules()])
    assert "Not modelled of 1 of 2 runs" in figure.note


def test_joules_of_an_earlier_version_are_one_sum() -> None:
    result = with_joules()
    earlier = dataclasses.replace(result, summary={**result.summary, "energy_by_state": None})
    assert [state for state, _ in bars_of(earlier).series] == [UNKNOWN]
