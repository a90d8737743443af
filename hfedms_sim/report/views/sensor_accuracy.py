"""How unequal sensors are: the accuracy on each sensor's own test samples, over simulated time."""

from collections.abc import Sequence

import numpy as np

from hfedms_sim.exhibits import Figure, Line, Lines
from hfedms_sim.report.run_labels import RunSet, run_sets, scenarios_of
from hfedms_sim.report.seed_bands import Curve, band_of
from hfedms_sim.report.views.scales import Unit, time_unit
from hfedms_sim.result import RunResult

_PERCENTILES = ("accuracy_p10", "accuracy_p50", "accuracy_p90")


def sensor_accuracy_figure(results: Sequence[RunResult]) -> Figure | None:
    """Return the median sensor's accuracy in a band from the 10th to the 90th percentile; None without any.

    Of runs that differ in the seed alone, each percentile is the mean over the seeds.
    """
    tested = [result for result in results if _has_percentiles(result)]
    if not tested:
        return None
    unit = time_unit(max(float(result.rounds["end_s"].max()) for result in tested))
    lines = tuple(line for runs in run_sets(tested) if (line := _line(runs, unit)) is not None)
    if not lines:
        return None
    x_label = f"simulated time in {unit.name}"
    panel = Lines("Median sensor", x_label, "accuracy", lines, x_limits=(0.0, None), y_limits=(0.0, 1.0))
    note = "Bands reach from the 10th to the 90th percentile over sensors."
    return Figure("sensor-accuracy", f"{scenarios_of(tested)}: accuracy by sensor", (panel,), columns=1, note=note)


def _has_percentiles(result: RunResult) -> bool:
    return bool(result.rounds[list(_PERCENTILES)].notna().all(axis=1).any())


def _line(runs: RunSet, unit: Unit) -> Line | None:
    """Return the line of a set; None if its seeds share no stretch of time."""
    low, middle, high = (
        band_of([_curve(result, name) for result in runs.results], exact_x=len(runs.results) == 1)
        for name in _PERCENTILES
    )
    if not len(middle.x):
        return None
    y, low_y, high_y = (tuple(band.mean.tolist()) for band in (middle, low, high))
    return Line(runs.label, unit.of(middle.x.tolist()), y, low_y, high_y)


def _curve(result: RunResult, name: str) -> Curve:
    tested = result.rounds[list(_PERCENTILES)].notna().all(axis=1)
    columns = (result.rounds.loc[tested, column].to_numpy(dtype=np.float64) for column in ("end_s", name))
    return Curve(*columns)
