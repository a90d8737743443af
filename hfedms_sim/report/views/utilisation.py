"""How much of each cell's airtime was in use, over simulated time.

The run is cut into bins of equal length w. A transfer's airtime is spread evenly over the time from its `start_s` to
its `end_s`; what falls into a bin, summed over the transfers of one direction of a cell, is divided by w and by the
channels of that direction. A cell whose directions share one airtime (`duplex: cell-half`) has one line for both. So
the sum over all bins, times w, is all airtime over the channels, and the mean over the bins is what
`RunResult.utilisation` gives.

Left out: when within its time a transfer had the air. A cell that transfers share serves one faster while it is alone;
so in bins shorter than a transfer the share can be a little above 1.
"""

from typing import Literal, NamedTuple

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from hfedms_sim.errors import InputError
from hfedms_sim.exhibits import Figure, Line, Lines, Mark
from hfedms_sim.report.run_labels import name_of
from hfedms_sim.report.views.scales import Unit, time_unit
from hfedms_sim.result import RunResult, channels_of
from hfedms_sim.rounds import Direction
from hfedms_sim.units import format_seconds

Floats = NDArray[np.float64]
BINS = 200
_NEAR_FULL = 0.5  # lines that stay below it would be flat under a mark of full use

_PANELS = {"up": "Uplinks", "down": "Downlinks", "both": "Both directions, which share one airtime"}


class CellUse(NamedTuple):
    """The share of airtime in use in each bin."""

    cell: str
    direction: Literal["up", "down", "both"]
    shares: Floats


class UseOverTime(NamedTuple):
    edges_s: Floats
    """Where bins begin and end: one more than there are bins."""
    uses: tuple[CellUse, ...]


def utilisation_figure(result: RunResult, *, bins: int = BINS) -> Figure:
    """Return the share of airtime in use over simulated time: a panel for each direction, a line for each cell."""
    edges_s, uses = use_over_time(result, bins)
    known = [use for use in uses if np.isfinite(use.shares).all()]
    if not known or edges_s[-1] == 0:
        raise InputError(f"{name_of(result)}: no share of airtime to show, {_why_not(result)}")
    unit = time_unit(float(edges_s[-1]))
    panels = tuple(
        _panel(title, [use for use in known if use.direction == direction], edges_s, unit)
        for direction, title in _PANELS.items()
        if any(use.direction == direction for use in known)
    )
    title = f"{result.scenario.name}: share of each cell's airtime in use"
    note = (
        f"Bins of {format_seconds(float(edges_s[1]))}. A transfer's airtime is spread evenly from its start to its end,"
        " so that a bin shorter than a transfer may show a little more than all channels."
    )
    return Figure("utilisation", title, panels, columns=1, note=note)


def use_over_time(result: RunResult, bins: int = BINS) -> UseOverTime:
    """Return the share of airtime in use in each bin, for every cell and direction."""
    transfers = result.transfers
    elapsed_s = max(float(result.summary["simulated_s"]), float(transfers["end_s"].max()) if len(transfers) else 0.0)
    edges_s: Floats = np.linspace(0.0, elapsed_s, bins + 1, dtype=np.float64)
    sensors = {cell["name"]: float(cell["sensors"]) for cell in result.summary.get("cells", ())}
    by_link = dict(list(transfers.groupby(["cell", "direction"], sort=False)))
    uses: list[CellUse] = []
    for cell in result.scenario.cells:
        shares = {}
        for direction in _directions():
            channels = channels_of(cell.profile, direction, sensors.get(cell.name, np.nan))
            airtime_s = _airtime_in_bins(by_link.get((cell.name, direction)), edges_s)
            width_s = elapsed_s / bins
            shares[direction] = airtime_s / (channels * width_s) if channels and width_s else np.zeros(bins)
        if cell.profile.duplex == "cell-half":
            uses.append(CellUse(cell.name, "both", shares["up"] + shares["down"]))
        else:
            uses.extend(CellUse(cell.name, direction, shares[direction]) for direction in _directions())
    return UseOverTime(edges_s, tuple(uses))


def _directions() -> tuple[Direction, Direction]:
    return "up", "down"


def _airtime_in_bins(transfers: pd.DataFrame | None, edges_s: Floats) -> Floats:
    """Return the airtime of the transfers that falls into each bin, each spread evenly over its time."""
    if transfers is None:
        return np.zeros(len(edges_s) - 1)
    start_s, end_s, airtime_s = (transfers[name].to_numpy(dtype=float) for name in ("start_s", "end_s", "airtime_s"))
    length_s = end_s - start_s
    per_s = np.divide(airtime_s, length_s, out=np.zeros_like(airtime_s), where=length_s > 0)
    # what has been sent by each edge; a transfer without length is sent at once
    sent_s = [
        np.where(edge_s >= end_s, airtime_s, np.maximum(edge_s - start_s, 0.0) * per_s).sum() for edge_s in edges_s
    ]
    return np.diff(np.array(sent_s, dtype=np.float64))


def _panel(title: str, uses: list[CellUse], edges_s: Floats, unit: Unit) -> Lines:
    middles = unit.of(((edges_s[1:] + edges_s[:-1]) / 2).tolist())
    lines = tuple(Line(use.cell, middles, tuple(use.shares.tolist())) for use in uses)
    highest = max(float(use.shares.max()) for use in uses)
    marks = (Mark("y", 1.0, "all channels in use"),) if highest > _NEAR_FULL else ()
    x_label = f"simulated time in {unit.name}"
    return Lines(title, x_label, "share of airtime", lines, marks, x_limits=(0.0, None), y_limits=(0.0, None))


def _why_not(result: RunResult) -> str:
    if not result.summary["simulated_s"]:
        return "no time passed"
    return "the run was made by an earlier version, which does not say how many channels its cells have"
