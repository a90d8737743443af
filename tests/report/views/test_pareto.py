"""Time against cost: who is dominated, until which target, and who is not in the picture."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hfedms_sim.errors import InputError
from hfedms_sim.exhibits import Dots, Figure
from hfedms_sim.report.views.pareto import FRONT, highest_target, non_dominated, pareto_figure
from tests.report.views.samples import learnt, timed, timed_once

FEDAVG = {"name": "fedavg", "sample_ratio": 0.5}
POINTS = st.lists(st.tuples(st.integers(0, 6), st.integers(0, 6)), max_size=30)


def dots_of(figure: Figure) -> Dots:
    [panel] = figure.panels
    assert isinstance(panel, Dots)
    return panel


@given(POINTS)
def test_non_dominated_points_are_those_that_no_other_beats(points: list[tuple[int, int]]) -> None:
    def beats(one: tuple[int, int], other: tuple[int, int]) -> bool:
        return one[0] <= other[0] and one[1] <= other[1] and one != other

    expected = [index for index, own in enumerate(points) if not any(beats(other, own) for other in points)]
    assert non_dominated([(float(x), float(y)) for x, y in points]) == expected


def test_timing_only_runs_are_compared_at_their_ends() -> None:
    one, other = timed_once(), timed(strategy=FEDAVG)
    panel = dots_of(pareto_figure([one, other], against="bytes"))
    assert panel.title == "Until the end of the run"
    *variants, front = panel.sets
    assert [dots.label for dots in variants] == ["hfedms-d", "fedavg"]
    size = {"MB": 1e6, "GB": 1e9}[panel.y_label.split()[-1]]
    assert [dots.y[0] * size for dots in variants] == pytest.approx(
        [each.summary["bytes"]["total"] for each in (one, other)]
    )
    assert front.label == FRONT
    assert front.is_joined
    assert set(front.texts) <= {"hfedms-d", "fedavg"}


def test_trained_runs_are_compared_at_the_highest_target_that_one_reached_and_others_are_named() -> None:
    targets = [0.3, 0.5, 0.9]
    good, poor = learnt(0.6, targets=targets), learnt(0.4, targets=targets, strategy=FEDAVG)
    assert highest_target([good, poor]) == 0.5
    figure = pareto_figure([good, poor], against="bytes")
    panel = dots_of(figure)
    assert panel.title == "Until an accuracy of 50 %"
    assert [dots.label for dots in panel.sets] == ["hfedms-d", FRONT]
    size_s = {"seconds": 1.0, "minutes": 60.0, "hours": 3600.0}[panel.x_label.split()[-1]]
    assert panel.sets[0].x[0] * size_s == pytest.approx(good.time_to_accuracy(0.5))
    assert figure.note == "Not shown, because it has not reached the target: fedavg."


def test_a_variant_of_which_some_seeds_got_there_says_so() -> None:
    seeds = [learnt(best, targets=[0.5], seed=seed) for seed, best in ((1, 0.6), (2, 0.4))]
    figure = pareto_figure(seeds, against="bytes")
    assert "1 of 2 seeds" in dots_of(figure).sets[0].texts[0]
    assert figure.note == "The mean of some seeds only: hfedms-d, 2 seeds (1 of 2 seeds)."


def test_what_cannot_be_compared_is_refused() -> None:
    with pytest.raises(InputError, match="no run has reached any of its target accuracies"):
        pareto_figure([learnt(0.4, targets=[0.5])], against="bytes")
    with pytest.raises(InputError, match=r"the energy of no run is modelled.*--against bytes"):
        pareto_figure([timed_once()])


def test_who_leaves_sensors_out_of_coverage_is_a_cross_and_dominates_nobody() -> None:
    whole, partial = timed(strategy=FEDAVG), timed()
    assert isinstance(partial.summary, dict)
    partial.summary.update(coverage={"sensors": 8, "covered": 3}, simulated_s=1e-3)
    figure = pareto_figure([whole, partial], against="bytes")
    *variants, front = dots_of(figure).sets
    assert [dots.marker for dots in variants] == ["dot", "cross"]
    assert front.texts == ("fedavg",)
    assert figure.note == "Crosses leave sensors out of coverage, and are not compared: hfedms-d."
    assert dots_of(pareto_figure([partial], against="bytes")).sets[-1].texts == ("hfedms-d",)
