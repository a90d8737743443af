"""How much of each cell's airtime was in use, over simulated time.

The run is cut into bins of equal length. Of n transfers on a link that serves c at full rate each has the air for a
share min(1, c / n) of the time, so of its airtime A a transfer that is on air from `begin` to `end` has sent by t

    A W(begin, t) / W(begin, end)        W(a, b) = integral of min(1, c / n) over the time from a to b

On airtime that is shared fairly W(begin, end) = A: this is exact, and no bin has more than its channels hold. Where
transfers queue, pause or keep silences (fifo, frames, duty cycles, outages) the division keeps all airtime within its
transfer, and when within it was sent is an estimate. A cell whose directions share one airtime (`duplex: cell-half`)
has one line for both. The mean over all bins is what `RunResult.utilisation` gives.
"""

from collections.abc import Mapping, Sequence
from typing import Literal, NamedTuple

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from hfedms_sim.errors import InputError
from hfedms_sim.exhibits import Figure, Line, Lines, Mark
from hfedms_sim.limits.links import DIRECTIONS
from hfedms_sim.report.run_labels import name_of
from hfedms_sim.report.views.scales import Unit, time_unit
from hfedms_sim.result import RunResult, channels_of
from hfedms_sim.rounds import Direction
from hfedms_sim.scenario import NetworkProfile
from hfedms_sim.trace import thinning_of
from hfedms_sim.units import format_seconds

Floats = NDArray[np.float64]
Shown = Literal["up", "down", "both"]
BINS = 200
_NEAR_FULL = 0.5  # lines that stay below it would be flat under a mark of full use

MOST_CELLS = 6
"""That have a panel each."""
_LINES: dict[Shown, str] = {"up": "uplink", "down": "downlink", "both": "both directions, which share one airtime"}
_PANELS: dict[Shown, str] = {"up": "Uplinks", "down": "Downlinks", "both": "Both directions, which share one airtime"}


class CellUse(NamedTuple):
    """The share of airtime in use in each bin."""

    cell: str
    direction: Shown
    shares: Floats


class UseOverTime(NamedTuple):
    edges_s: Floats
    """Where bins begin and end: one more than there are bins."""
    uses: tuple[CellUse, ...]


def utilisation_figure(result: RunResult, *, bins: int = BINS) -> Figure:
    """Return the share of airtime in use over simulated time: a panel for each cell, or for each direction of many."""
    edges_s, uses = use_over_time(result, bins)
    known = [use for use in uses if np.isfinite(use.shares).all()]
    if not known or edges_s[-1] == 0:
        raise InputError(f"{name_of(result)}: no share of airtime to show, {_why_not(result)}")
    unit = time_unit(float(edges_s[-1]))
    panels = tuple(_panel(title, lines, edges_s, unit) for title, lines in _in_panels(known).items())
    title = f"{result.scenario.name}: share of each cell's airtime in use"
    note = f"Bins of {format_seconds(float(edges_s[1]))}."
    return Figure("utilisation", title, panels, columns=1, note=note)


def use_over_time(result: RunResult, bins: int = BINS) -> UseOverTime:
    """Return the share of airtime in use in each bin, for every cell and direction.

    Refused of a run whose trace lacks rounds: their airtime would seem not to be in use.
    """
    if not (thinning := thinning_of(result.scenario)).is_whole:
        raise InputError(f"{name_of(result)}: its transfers are {thinning}, so their use over time is not known")
    transfers = result.transfers
    elapsed_s = max(float(result.summary["simulated_s"]), float(transfers["end_s"].max()) if len(transfers) else 0.0)
    edges_s: Floats = np.linspace(0.0, elapsed_s, bins + 1, dtype=np.float64)
    sensors = {cell["name"]: float(cell["sensors"]) for cell in result.summary.get("cells", ())}
    uses: list[CellUse] = []
    for cell in result.scenario.cells:
        own = transfers[transfers["cell"] == cell.name]
        shown_links: tuple[Shown, ...] = ("both",) if cell.profile.duplex == "cell-half" else DIRECTIONS
        for shown in shown_links:
            rows = own if shown == "both" else own[own["direction"] == shown]
            direction: Direction = "up" if shown == "both" else shown
            channels = channels_of(cell.profile, direction, sensors.get(cell.name, np.nan))
            uses.append(CellUse(cell.name, shown, _shares(rows, cell.profile, channels, edges_s)))
    return UseOverTime(edges_s, tuple(uses))


def _shares(transfers: pd.DataFrame, profile: NetworkProfile, channels: float, edges_s: Floats) -> Floats:
    """Return the share of the channels that the transfers had in each bin."""
    begin_s, end_s, airtime_s = (transfers[name].to_numpy(dtype=float) for name in ("start_s", "end_s", "airtime_s"))
    air_end_s = np.maximum(end_s - min(profile.class_latencies_s), begin_s)
    width_s = float(edges_s[1] - edges_s[0])
    if not width_s or not channels:
        return np.zeros(len(edges_s) - 1)
    shares: Floats = np.diff(_sent_s(begin_s, air_end_s, airtime_s, channels, edges_s)) / (channels * width_s)
    return shares


def _sent_s(begin_s: Floats, end_s: Floats, airtime_s: Floats, channels: float, edges_s: Floats) -> Floats:
    """Return the airtime that the transfers have had by each edge; one without length has it at its end."""
    moments_s = np.unique(np.concatenate([begin_s, end_s, edges_s]))
    level = np.searchsorted(np.sort(begin_s), moments_s, side="right")
    level -= np.searchsorted(np.sort(end_s), moments_s, side="right")
    share = np.minimum(1.0, channels / np.maximum(level, 1))
    had = np.concatenate([[0.0], np.cumsum(np.diff(moments_s) * share[:-1])])  # W from the first moment on
    begin, end = (had[np.searchsorted(moments_s, each)] for each in (begin_s, end_s))
    whole = np.where(end > begin, end - begin, 1.0)
    sent_s = [
        float(np.where(end_s <= edge_s, airtime_s, np.clip((now - begin) / whole, 0.0, 1.0) * airtime_s).sum())
        for edge_s, now in zip(edges_s, had[np.searchsorted(moments_s, edges_s)], strict=True)
    ]
    return np.array(sent_s, dtype=np.float64)


def _in_panels(uses: Sequence[CellUse]) -> dict[str, dict[str, Floats]]:
    """Return the lines of each panel by its title: a panel for each cell if they are few, else for each direction."""
    is_few = len({use.cell for use in uses}) <= MOST_CELLS
    panels: dict[str, dict[str, Floats]] = {}
    for use in uses:
        title, label = (use.cell, _LINES[use.direction]) if is_few else (_PANELS[use.direction], use.cell)
        panels.setdefault(title, {})[label] = use.shares
    return panels


def _panel(title: str, shares: Mapping[str, Floats], edges_s: Floats, unit: Unit) -> Lines:
    middles = unit.of(((edges_s[1:] + edges_s[:-1]) / 2).tolist())
    lines = tuple(Line(label, middles, tuple(own.tolist())) for label, own in shares.items())
    highest = max(float(own.max()) for own in shares.values())
    marks = (Mark("y", 1.0, "all channels in use"),) if highest > _NEAR_FULL else ()
    x_label = f"simulated time in {unit.name}"
    return Lines(title, x_label, "share of airtime", lines, marks, x_limits=(0.0, None), y_limits=(0.0, None))


def _why_not(result: RunResult) -> str:
    if not result.summary["simulated_s"]:
        return "no time passed"
    return "the run was made by an earlier version, which does not say how many channels its cells have"
