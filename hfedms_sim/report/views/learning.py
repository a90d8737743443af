"""Learning curves: accuracy and loss of runs against simulated time, bytes, energy, updated parameters or rounds.

Runs that differ in nothing but the seed are one line, their mean, in a band from the lowest to the highest.
"""

from collections.abc import Sequence
from typing import Literal

import numpy as np
import pandas as pd

from hfedms_sim.errors import InputError
from hfedms_sim.exhibits import Figure, Line, Lines, Mark
from hfedms_sim.report.run_labels import RunSet, name_of, run_sets, scenarios_of
from hfedms_sim.report.seed_bands import Band, Curve, band_of
from hfedms_sim.report.views.scales import Unit, bytes_unit, count_unit, energy_unit, time_unit
from hfedms_sim.result import RunResult

Against = Literal["time", "bytes", "energy", "parameters", "rounds"]

AGAINST: dict[Against, str] = {
    "time": "simulated time",
    "bytes": "bytes sent",
    "energy": "energy",
    "parameters": "updated parameters",
    "rounds": "rounds",
}
"""What runs are compared by, in words."""


def learning_figure(
    results: Sequence[RunResult], against: Against, *, each: bool = False, log_x: bool = False
) -> Figure:
    """Return accuracy above, loss below, and a line across for each target accuracy. `each`: every run by itself."""
    for result in results:
        _require_drawable(result, against)
    sets = run_sets(results, each=each)
    unit, name = _axis(against, max(float(spent(result.rounds, against).max()) for result in results))
    start = None if log_x else 0.0
    measured = {
        measure: tuple(line for runs in sets if (line := _line(runs, measure, against, unit)) is not None)
        for measure in ("accuracy", "loss")
    }
    x_limits, targets = (start, None), _targets(results)
    panels = (
        Lines("Accuracy", name, "accuracy", measured["accuracy"], targets, log_x, x_limits=x_limits, y_limits=(0, 1)),
        Lines("Loss", name, "loss", measured["loss"], log_x=log_x, x_limits=x_limits, y_limits=(0, None)),
    )
    title = f"{scenarios_of(results)}: accuracy and loss against {AGAINST[against]}"
    return Figure("accuracy", title, tuple(panel for panel in panels if panel.lines), columns=1)


def spent(rounds: pd.DataFrame, against: Against) -> "pd.Series[float]":
    """Return what had been spent by the end of each round."""
    if against == "time":
        return rounds["end_s"]
    if against == "bytes":
        return (rounds["uplink_bytes"] + rounds["downlink_bytes"]).cumsum().astype(float)
    if against == "energy":
        return rounds["energy_j"].cumsum()
    if against == "parameters":
        return rounds["updated_parameters"].cumsum().astype(float)
    return rounds["round"].astype(float)


def _require_drawable(result: RunResult, against: Against) -> None:
    if result.rounds["accuracy"].isna().all():
        raise InputError(f"{name_of(result)}: nothing to plot, the run has no accuracies (timing only?)")
    if against == "energy" and result.rounds["energy_j"].isna().all():
        raise InputError(f"{name_of(result)}: the energy of its radio is not modelled; choose another --against")


def _line(runs: RunSet, measure: str, against: Against, unit: Unit) -> Line | None:
    """Return the line of a set; None if none of its runs has a finite value of the measure."""
    curves = [_curve(result, measure, against) for result in runs.results]
    if not any(len(curve.x) for curve in curves):
        return None
    band = band_of(curves, exact_x=against == "rounds" or len(curves) == 1) if all(map(_has_points, curves)) else None
    if band is None or not len(band.x):
        raise InputError(f"{runs.label}: its seeds were never evaluated at the same {against}; --each draws every run")
    return line_of(runs.label, band, unit, has_band=len(curves) > 1)


def line_of(label: str, band: Band, unit: Unit, *, has_band: bool) -> Line:
    """Return the line through the means, in the band where there is one."""
    edges = (tuple(band.low.tolist()), tuple(band.high.tolist())) if has_band else ((), ())
    return Line(label, unit.of(band.x.tolist()), tuple(band.mean.tolist()), *edges)


def _curve(result: RunResult, measure: str, against: Against) -> Curve:
    y = result.rounds[measure].to_numpy(dtype=float, na_value=np.nan)
    x = spent(result.rounds, against).to_numpy(dtype=float, na_value=np.nan)
    known = np.isfinite(x) & np.isfinite(y)
    return Curve(x[known], y[known])


def _has_points(curve: Curve) -> bool:
    return len(curve.x) > 0


def _axis(against: Against, largest: float) -> tuple[Unit, str]:
    """Return the unit of an axis up to `largest`, and what stands below it."""
    if against == "rounds":
        return Unit(1.0, ""), "round"
    if against == "energy":
        unit = energy_unit(largest)
        return unit, f"energy in {unit.name}"
    if against == "bytes":
        unit = bytes_unit(largest)
        return unit, f"sent in {unit.name}"
    if against == "parameters":
        unit = count_unit(largest)
        return unit, f"updated parameters in {unit.name}"
    unit = time_unit(largest)
    return unit, f"simulated time in {unit.name}"


def _targets(results: Sequence[RunResult]) -> tuple[Mark, ...]:
    targets = sorted({target for result in results for target in result.scenario.targets})
    return tuple(Mark("y", target, f"{100 * target:g} %") for target in targets)
