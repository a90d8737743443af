"""Learning curves: accuracy and loss of one or several runs against simulated time, bytes, energy or rounds."""

from collections.abc import Sequence
from pathlib import Path
from typing import Literal

import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from hfedms_sim.errors import InputError
from hfedms_sim.report.pictures import save
from hfedms_sim.report.tables import telling_facts
from hfedms_sim.result import RunResult
from hfedms_sim.units import SECONDS_PER_HOUR

Against = Literal["time", "bytes", "energy", "rounds"]
_DAY_S, _MINUTE_S = 86_400.0, 60.0
_MEGABYTE, _GIGABYTE = 1e6, 1e9


def draw_curves(results: Sequence[RunResult], against: Against, path: Path) -> None:
    """Accuracy above, loss below; a line for each run, and one across for each target accuracy."""
    for result in results:
        if result.rounds["accuracy"].isna().all():
            raise InputError(f"{result.directory}: nothing to plot, the run has no accuracies (timing only?)")
        if against == "energy" and result.rounds["energy_j"].isna().all():
            raise InputError(f"{result.directory}: the energy of its radio is not modelled; choose another --against")
    spent = [_spent(result.rounds, against) for result in results]
    unit, name = _unit(against, max(float(each.max()) for each in spent))
    figure = Figure(figsize=(8, 7), layout="constrained")
    above, below = figure.subplots(2, 1, sharex=True)
    for label, result, each in zip(_labels(results), results, spent, strict=True):
        measured = result.rounds["accuracy"].notna()
        rounds = result.rounds[measured]
        above.plot(each[measured] / unit, rounds["accuracy"], label=label)
        below.plot(each[measured] / unit, rounds["loss"], label=label)
    _mark_targets(above, results)
    above.set(ylabel="accuracy", ylim=(0, 1))
    below.set(ylabel="loss", xlabel=name)
    below.set_ylim(bottom=0)
    for axes in (above, below):
        axes.grid(color="0.92")
        axes.set_xlim(left=0)
    above.legend(loc="lower right")
    save(figure, path)


def _spent(rounds: pd.DataFrame, against: Against) -> "pd.Series[float]":
    """Up to the end of each round."""
    if against == "time":
        return rounds["end_s"]
    if against == "bytes":
        return (rounds["uplink_bytes"] + rounds["downlink_bytes"]).cumsum().astype(float)
    if against == "energy":
        return rounds["energy_j"].cumsum()
    return rounds["round"].astype(float)


def _unit(against: Against, largest: float) -> tuple[float, str]:
    """What an axis up to `largest` is best divided by, and its name."""
    if against == "rounds":
        return 1.0, "round"
    if against == "energy":
        return (1e3, "energy in kJ") if largest >= 1e4 else (1.0, "energy in J")
    if against == "bytes":
        return (_GIGABYTE, "sent in GB") if largest >= _GIGABYTE else (_MEGABYTE, "sent in MB")
    units = ((_DAY_S, "days"), (SECONDS_PER_HOUR, "hours"), (_MINUTE_S, "minutes"), (1.0, "seconds"))
    unit, name = next((unit, name) for unit, name in units if largest >= 3 * unit or unit == 1.0)
    return unit, f"simulated time in {name}"


def _labels(results: Sequence[RunResult]) -> list[str]:
    """Strategy and whatever else tells the runs apart."""
    telling = telling_facts(results)
    return [", ".join(_fact(result, key) for key in telling) for result in results]


def _fact(result: RunResult, key: str) -> str:
    return f"seed {result.summary[key]}" if key == "seed" else str(result.summary[key])


def _mark_targets(axes: Axes, results: Sequence[RunResult]) -> None:
    for target in sorted({target for result in results for target in result.scenario.targets}):
        axes.axhline(target, color="0.6", linewidth=0.8, linestyle=":")
