"""Groups over rounds: how many were formed, how many chains ran in parallel, who took part, and how long chains were.

The length of a chain is how many different sensors sent or received in it, from the transfers: a sensor that was
skipped before the model reached it does not count.
"""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from hfedms_sim.errors import InputError
from hfedms_sim.exhibits import Bars, Boxes, Figure, Line, Lines, Panel
from hfedms_sim.report.five_numbers import five_numbers
from hfedms_sim.report.run_labels import RunSet, name_of, run_sets, scenarios_of
from hfedms_sim.report.seed_bands import Curve, band_of
from hfedms_sim.report.views.learning import line_of
from hfedms_sim.report.views.scales import Unit
from hfedms_sim.result import RunResult

_COLUMNS = {
    "total_groups": ("Groups formed", "groups"),
    "groups": ("Chains in parallel", "chains"),
    "participants": ("Participants", "sensors"),
}
_MOST_SIZES = 30  # that have a bar each


def groups_figure(results: Sequence[RunResult]) -> Figure:
    """Return groups, chains and participants over rounds, the mean over seeds in a band, and the sizes of chains."""
    sets = run_sets(results)
    panels: list[Panel] = []
    for column, (title, y_label) in _COLUMNS.items():
        lines = tuple(line for runs in sets if (line := _line(runs, column)) is not None)
        if lines:
            panels.append(Lines(title, "round", y_label, lines, y_limits=(0.0, None)))
    if not panels:
        raise InputError(f"{name_of(results[0])}: has no rounds")
    sizes = [np.concatenate([chain_sizes(result) for result in runs.results]) for runs in sets]
    if any(len(each) for each in sizes):
        panels.append(_sizes(sets, sizes))
    return Figure("groups", f"{scenarios_of(results)}: groups, chains and participants", tuple(panels))


def chain_sizes(result: RunResult) -> NDArray[np.int64]:
    """Return how many sensors sent or received in each chain."""
    transfers = result.transfers
    in_chain = transfers[(transfers["group"] >= 0) & (transfers["sensor"] >= 0)]
    started = in_chain["version"].astype(float).fillna(in_chain["round"] - 1)
    # a window's chains go on in the next one; behind a barrier two rounds may start from one model
    of_round = in_chain["round"] if result.rounds["under_way"].isna().all() else 0
    chains = in_chain[["group", "sensor"]].assign(version=started, round=of_round).drop_duplicates()
    return np.asarray(chains.groupby(["version", "round", "group"]).size(), dtype=np.int64)


def _line(runs: RunSet, column: str) -> Line | None:
    """Return the line of a set; None if its runs, of an earlier version, have no such column."""
    curves = []
    for result in runs.results:
        values = result.rounds[column].to_numpy(dtype=float, na_value=np.nan)
        known = np.isfinite(values)
        curves.append(Curve(result.rounds["round"].to_numpy(dtype=float)[known], values[known]))
    if not all(len(curve.x) for curve in curves):
        return None
    band = band_of(curves, exact_x=True)
    return line_of(runs.label, band, Unit(1.0, ""), has_band=len(curves) > 1) if len(band.x) else None


def _sizes(sets: Sequence[RunSet], sizes: Sequence[NDArray[np.int64]]) -> Panel:
    title = "Sensors of a chain"
    distinct = np.unique(np.concatenate(sizes))
    if len(sets) == 1 and len(distinct) <= _MOST_SIZES:
        counts = [float((sizes[0] == size).sum()) for size in distinct]
        labels = tuple(str(size) for size in distinct.tolist())
        return Bars(f"{title}: how often", "chains", labels, ((sets[0].label, tuple(counts)),))
    boxes = [(runs.label, five_numbers(own.astype(float))) for runs, own in zip(sets, sizes, strict=True) if len(own)]
    return Boxes(title, "sensors", tuple(boxes), counts=tuple(len(own) for own in sizes if len(own)))
