"""Learning curves: which runs are one line, what it is called, where its band lies."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from hfedms_sim.errors import InputError
from hfedms_sim.exhibits import Lines
from hfedms_sim.report.figures import draw, picture_of
from hfedms_sim.report.run_labels import run_sets, telling_settings
from hfedms_sim.report.seed_bands import Curve, band_of
from hfedms_sim.report.views.learning import learning_figure
from hfedms_sim.result import RunResult
from hfedms_sim.simulation import run
from tests.conftest import FAST, tiny_scenario

AGAINST = ["time", "bytes", "parameters", "rounds"]
DYNAMIC = {"name": "hfedms-d", "interval": 3, "beta": 2, "sample_ratio": 0.5}


def learnt(**changes: Any) -> RunResult:
    """A run with made-up accuracies: what it learnt does not matter here."""
    result = run(tiny_scenario(**changes), timing_only=True)
    count = len(result.rounds)
    result.rounds["accuracy"] = np.linspace(0.1, 0.5, count) + result.scenario.seed / 100
    result.rounds["loss"] = np.linspace(4.0, 2.0, count)
    return result


def panel(*results: RunResult, against: Any = "time", **how: Any) -> Lines:
    """The panel of accuracies."""
    accuracy, _ = learning_figure(results, against, **how).panels
    assert isinstance(accuracy, Lines)
    return accuracy


def labels(*results: RunResult, each: bool = False) -> list[str]:
    return [runs.label for runs in run_sets(results, each=each)]


def test_runs_that_differ_in_the_seed_alone_are_one_line() -> None:
    seeds = [learnt(seed=seed) for seed in (1, 2, 3)]
    other = learnt(strategy={"name": "fedavg", "sample_ratio": 0.5}, seed=2)
    assert labels(*seeds, other) == ["hfedms-d, 3 seeds", "fedavg, seed 2"]
    assert labels(*seeds, each=True) == ["hfedms-d, seed 1", "hfedms-d, seed 2", "hfedms-d, seed 3"]


def test_a_label_names_the_settings_that_differ_shortly() -> None:
    results = [learnt(strategy=DYNAMIC | {"interval": interval}, rounds=6) for interval in (2, 3)]
    assert labels(*results) == ["hfedms-d, interval=2", "hfedms-d, interval=3"]


def test_seeds_come_last_in_a_label() -> None:
    results = [learnt(strategy=DYNAMIC | {"interval": interval}, seed=seed) for interval in (2, 3) for seed in (1, 2)]
    assert labels(*results) == ["hfedms-d, interval=2, 2 seeds", "hfedms-d, interval=3, 2 seeds"]


def test_a_setting_that_only_one_strategy_has_is_said_by_its_name() -> None:
    both = [learnt(strategy=DYNAMIC), learnt(strategy={"name": "fedavg", "sample_ratio": 0.5})]
    assert labels(*both) == ["hfedms-d", "fedavg"]


def test_a_default_of_a_strategy_is_said_by_its_name_but_not_what_was_chosen() -> None:
    chosen = learnt(strategy={"name": "fedavg", "sample_ratio": 0.5, "weights": "uniform"})
    default = learnt(strategy={"name": "fedavg", "sample_ratio": 0.5})
    assert labels(chosen, default) == ["fedavg, weights=uniform", "fedavg, weights=samples"]
    slower = learnt(strategy=DYNAMIC | {"learning_rate": 0.123})
    assert labels(slower, default)[0] == "hfedms-d, learning_rate=0.123"


def test_what_belongs_to_a_profile_is_said_by_its_name_unless_the_name_is_the_same() -> None:
    def over(**figures: Any) -> RunResult:
        return learnt(cells=[{"name": "hall", "profile": FAST | figures}])

    assert labels(over(), over(name="slow", uplink_bps=4e3)) == ["hfedms-d, fast", "hfedms-d, slow"]
    assert labels(over(), over(channels=2)) == ["hfedms-d, channels=1", "hfedms-d, channels=2"]


def test_long_values_and_long_lists_of_settings_are_cut() -> None:
    one = learnt()
    targets = [0.1, 0.2, 0.3, 0.4]
    strategy = DYNAMIC | {"beta": 1, "alpha": 0.5, "epochs": 2}
    other = learnt(rounds=5, targets=targets, model="mlp", stream={"batch": 20}, strategy=strategy)
    assert telling_settings([one, other])[1] == "rounds=5, targets=[0.1, 0.2, 0.3, …], model=mlp, batch=20, 4 more"


def test_two_keys_of_the_same_last_name_are_written_in_full() -> None:
    def halls(*channels: int) -> RunResult:
        return learnt(cells=[{"name": f"c{n}", "profile": FAST | {"channels": n}} for n in channels])

    first, _ = telling_settings([halls(1, 2), halls(3, 4)])
    assert "cells.0.profile.channels=1" in first
    assert "cells.1.profile.channels=2" in first


def test_against_rounds_the_mean_is_over_the_rounds_that_all_have() -> None:
    curves = [Curve(np.array([1.0, 2, 3, 4]), np.array([0.0, 1, 2, 3])), Curve(np.array([2.0, 4]), np.array([3.0, 5]))]
    band = band_of(curves, exact_x=True)
    assert band.x.tolist() == [2, 4]
    assert (band.mean.tolist(), band.low.tolist(), band.high.tolist()) == ([2, 4], [1, 3], [3, 5])


def test_against_anything_else_runs_are_interpolated_where_all_of_them_go() -> None:
    curves = [Curve(np.array([1.0, 2, 4]), np.array([0.0, 1, 3])), Curve(np.array([1.5, 3.5]), np.array([2.0, 4]))]
    band = band_of(curves, exact_x=False)
    assert band.x.tolist() == [1.5, 2, 3.5]
    assert band.low.tolist() == [0.5, 1, 2.5]
    assert band.high.tolist() == [2, 2.5, 4]
    assert band.mean.tolist() == [1.25, 1.75, 3.25]


def test_one_run_is_drawn_at_its_own_points() -> None:
    curve = Curve(np.array([1.0, 5.0]), np.array([0.3, 0.4]))
    band = band_of([curve], exact_x=True)
    assert (band.x.tolist(), band.mean.tolist()) == ([1, 5], [0.3, 0.4])


def test_seeds_that_share_no_stretch_are_refused_with_what_to_do() -> None:
    early, late = learnt(seed=1), learnt(seed=2)
    for result, kept in ((early, 1), (late, 6)):
        result.rounds.loc[result.rounds["round"] != kept, ["accuracy", "loss"]] = np.nan
    with pytest.raises(InputError, match="--each draws every run"):
        learning_figure([early, late], "time")
    assert [len(line.x) for line in panel(early, late, each=True).lines] == [1, 1]


@pytest.mark.parametrize("ending", ["png", "svg", "pdf"])
def test_the_same_runs_are_the_same_bytes(ending: str, tmp_path: Path) -> None:
    results = [learnt(seed=seed) for seed in (1, 2)]
    for name in ("one", "two"):
        draw(learning_figure(results, "time"), tmp_path / f"{name}.{ending}")
    assert (tmp_path / f"one.{ending}").read_bytes() == (tmp_path / f"two.{ending}").read_bytes()


@pytest.mark.parametrize("against", AGAINST)
def test_a_picture_says_what_the_runs_are_compared_by(against: Any, tmp_path: Path) -> None:
    draw(learning_figure([learnt(seed=1), learnt(seed=2)], against), tmp_path / "x.svg")
    words = {"time": "simulated time", "bytes": "sent in MB", "rounds": "round"}
    words["parameters"] = "updated parameters in millions"
    svg = (tmp_path / "x.svg").read_text(encoding="utf-8")
    assert f"<!-- {words[against]}" in svg
    assert "<!-- hfedms-d, 2 seeds -->" in svg


def test_many_lines_are_named_beside_the_axes_and_the_picture_has_room_for_it() -> None:
    results = [learnt(strategy=DYNAMIC | {"interval": interval}) for interval in range(1, 25)]
    picture = picture_of(learning_figure(results, "rounds"))
    picture.draw_without_rendering()
    [legend], axes = picture.legends, picture.axes[0]
    box = legend.get_window_extent()
    assert len(legend.get_texts()) == 24
    assert box.x0 >= axes.get_window_extent().x1
    assert box.y0 >= 0
    assert box.x1 <= picture.bbox.x1
    assert axes.get_window_extent().width > picture.bbox.width / 2


def test_a_line_has_the_accuracies_of_its_run_and_a_set_its_band() -> None:
    one, other = learnt(seed=1), learnt(seed=2)
    [line] = panel(one, against="rounds").lines
    assert line.y == tuple(one.rounds["accuracy"])
    assert not line.low
    [band] = panel(one, other, against="rounds").lines
    assert band.low == tuple(one.rounds["accuracy"])
    assert band.high == tuple(other.rounds["accuracy"])


def test_targets_are_marked_and_a_logarithmic_axis_does_not_begin_at_zero() -> None:
    drawn = panel(learnt(targets=[0.3, 0.2]), log_x=True)
    assert [(mark.value, mark.label) for mark in drawn.marks] == [(0.2, "20 %"), (0.3, "30 %")]
    assert drawn.log_x
    assert drawn.x_limits == (None, None)
    assert panel(learnt()).x_limits == (0.0, None)


def test_a_run_whose_losses_are_not_finite_still_has_its_accuracies() -> None:
    diverged = learnt()
    diverged.rounds["loss"] = np.inf
    assert [each.title for each in learning_figure([diverged], "time").panels] == ["Accuracy"]


def test_a_run_without_accuracies_is_refused() -> None:
    with pytest.raises(InputError, match="nothing to plot, the run has no accuracies"):
        learning_figure([run(tiny_scenario(), timing_only=True)], "time")
