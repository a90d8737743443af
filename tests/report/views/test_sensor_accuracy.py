"""Accuracy by sensor: the percentiles of rounds, where there are any."""

import numpy as np

from hfedms_sim.exhibits import Lines
from hfedms_sim.report.views.sensor_accuracy import sensor_accuracy_figure
from hfedms_sim.result import RunResult
from tests.report.views.samples import timed, timed_once


def with_percentiles(middle: float, **changes: object) -> RunResult:
    result = timed(**changes)
    for name, value in (("accuracy_p10", middle - 0.1), ("accuracy_p50", middle), ("accuracy_p90", middle + 0.2)):
        result.rounds[name] = [np.nan, *[value] * (len(result.rounds) - 1)]
    return result


def test_the_band_reaches_from_the_10th_to_the_90th_percentile() -> None:
    figure = sensor_accuracy_figure([with_percentiles(0.5)])
    assert figure is not None
    [panel] = figure.panels
    assert isinstance(panel, Lines)
    [line] = panel.lines
    assert len(line.x) == 5
    assert (set(line.low), set(line.y), set(line.high)) == ({0.4}, {0.5}, {0.7})


def test_percentiles_of_seeds_are_their_means() -> None:
    figure = sensor_accuracy_figure([with_percentiles(0.5, seed=1), with_percentiles(0.7, seed=2)])
    assert figure is not None
    [panel] = figure.panels
    assert isinstance(panel, Lines)
    assert np.allclose(panel.lines[0].y, 0.6)
    assert np.allclose(panel.lines[0].low, 0.5)


def test_runs_without_percentiles_are_not_shown() -> None:
    assert sensor_accuracy_figure([timed_once()]) is None
    figure = sensor_accuracy_figure([timed_once(), with_percentiles(0.5, seed=3)])
    assert figure is not None
    assert len(figure.panels) == 1
