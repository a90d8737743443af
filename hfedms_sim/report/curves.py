"""Learning curves: accuracy and loss of runs against simulated time, bytes, energy, updated parameters or rounds.

Runs that differ in nothing but the seed are one line, their mean, in a band from the lowest to the highest.
"""

from collections.abc import Sequence
from pathlib import Path
from typing import Literal, NamedTuple

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from hfedms_sim.errors import InputError
from hfedms_sim.report.pictures import PALETTE, save
from hfedms_sim.report.run_labels import telling_facts, telling_settings, without_seed
from hfedms_sim.report.seed_bands import Band, Curve, band_of
from hfedms_sim.result import RunResult
from hfedms_sim.units import SECONDS_PER_HOUR

Against = Literal["time", "bytes", "energy", "parameters", "rounds"]
_DAY_S, _MINUTE_S = 86_400.0, 60.0
_MILLION, _BILLION = 1e6, 1e9
_MOST_LABELS_INSIDE = 6  # of a legend; a longer one would hide the curves
_STYLES = ("solid", "dashed", "dotted", "dashdot")


class RunSet(NamedTuple):
    """The runs of one line."""

    label: str
    results: tuple[RunResult, ...]


def draw_curves(results: Sequence[RunResult], against: Against, path: Path, *, each: bool = False) -> None:
    """Draw accuracy above, loss below, and a line across for each target accuracy. `each`: every run by itself."""
    for result in results:
        _require_drawable(result, against)
    sets = run_sets(results, each=each)
    unit, name = _unit(against, max(float(_spent(result.rounds, against).max()) for result in results))
    figure = Figure(figsize=(8 if len(sets) <= _MOST_LABELS_INSIDE else 11, 7), layout="constrained")
    above, below = figure.subplots(2, 1, sharex=True)
    for axes, measure in ((above, "accuracy"), (below, "loss")):
        for index, runs in enumerate(sets):
            _draw(axes, _band(runs, measure, against), unit, runs, index)
        axes.set_ylabel(measure)
        axes.grid(color="0.92")
        axes.set_xlim(left=0)
    _mark_targets(above, results)
    above.set_ylim(0, 1)
    below.set_ylim(bottom=0)
    below.set_xlabel(name)
    if len(sets) <= _MOST_LABELS_INSIDE:
        above.legend(loc="best")
    else:
        figure.legend(*above.get_legend_handles_labels(), loc="outside right upper", frameon=False)
    save(figure, path)


def run_sets(results: Sequence[RunResult], *, each: bool = False) -> list[RunSet]:
    """Return the lines of a picture with their labels, in the order of the runs: a set for each run, or over seeds."""
    sets: dict[str, list[int]] = {}
    for index, result in enumerate(results):
        sets.setdefault(f"{index}" if each else without_seed(result), []).append(index)
    facts, settings = telling_facts(results), telling_settings(results)
    labelled = []
    for indices in sets.values():
        runs = tuple(results[index] for index in indices)
        names = [str(runs[0].summary[fact]) for fact in facts if fact != "seed"]
        words = (*names, settings[indices[0]], _seeds(runs) if "seed" in facts else "")
        labelled.append(RunSet(", ".join(word for word in words if word), runs))
    return labelled


def _seeds(runs: Sequence[RunResult]) -> str:
    seeds = {run.scenario.seed for run in runs}
    return f"seed {min(seeds)}" if len(seeds) == 1 else f"{len(seeds)} seeds"


def _require_drawable(result: RunResult, against: Against) -> None:
    if result.rounds["accuracy"].isna().all():
        raise InputError(f"{result.directory}: nothing to plot, the run has no accuracies (timing only?)")
    if against == "energy" and result.rounds["energy_j"].isna().all():
        raise InputError(f"{result.directory}: the energy of its radio is not modelled; choose another --against")


def _band(runs: RunSet, measure: str, against: Against) -> Band:
    curves = []
    for result in runs.results:
        measured = result.rounds[measure].notna()
        x, y = _spent(result.rounds, against)[measured], result.rounds.loc[measured, measure]
        curves.append(Curve(np.asarray(x, dtype=np.float64), np.asarray(y, dtype=np.float64)))
    band = band_of(curves, exact_x=against == "rounds" or len(curves) == 1)
    if not len(band.x):
        raise InputError(f"{runs.label}: its seeds were never evaluated at the same {against}; --each draws every run")
    return band


def _draw(axes: Axes, band: Band, unit: float, runs: RunSet, index: int) -> None:
    colour, style = PALETTE[index % len(PALETTE)], _STYLES[index // len(PALETTE) % len(_STYLES)]
    marker = "o" if len(band.x) == 1 else ""
    label = runs.label.replace("$", r"\$")  # else matplotlib reads a formula
    axes.plot(band.x / unit, band.mean, label=label, color=colour, linestyle=style, marker=marker)
    if len(runs.results) > 1:
        axes.fill_between(band.x / unit, band.low, band.high, color=colour, alpha=0.2, linewidth=0)


def _spent(rounds: pd.DataFrame, against: Against) -> "pd.Series[float]":
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


def _unit(against: Against, largest: float) -> tuple[float, str]:
    """Return what an axis up to `largest` is best divided by, and its name."""
    if against == "rounds":
        return 1.0, "round"
    if against == "energy":
        return (1e3, "energy in kJ") if largest >= 1e4 else (1.0, "energy in J")
    if against == "bytes":
        return (_BILLION, "sent in GB") if largest >= _BILLION else (_MILLION, "sent in MB")
    if against == "parameters":
        unit, word = (_BILLION, "billions") if largest >= _BILLION else (_MILLION, "millions")
        return unit, f"updated parameters in {word}"
    units = ((_DAY_S, "days"), (SECONDS_PER_HOUR, "hours"), (_MINUTE_S, "minutes"), (1.0, "seconds"))
    unit, name = next((unit, name) for unit, name in units if largest >= 3 * unit or unit == 1.0)
    return unit, f"simulated time in {name}"


def _mark_targets(axes: Axes, results: Sequence[RunResult]) -> None:
    for target in sorted({target for result in results for target in result.scenario.targets}):
        axes.axhline(target, color="0.6", linewidth=0.8, linestyle=":")
