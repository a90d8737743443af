"""Draws spans in lanes along an axis of time: waiting as a thin bar, the rest as high ones, marked ones framed."""

from collections.abc import Sequence

import numpy as np
from matplotlib.axes import Axes
from matplotlib.collections import PolyCollection
from numpy.typing import NDArray

from hfedms_sim.exhibits import Span, Timeline
from hfedms_sim.report.drawing.looks import Looks, add_grid, plain

WAITING = "waiting"  # the kind that is drawn thin and grey, so that what is done stands out

_MOST_LANE_LABELS = 80
_WAITING_COLOUR, _MARK_COLOUR = "0.72", "black"
_HIGH, _THIN = 0.8, 0.3  # of a lane's height


def draw_timeline(axes: Axes, panel: Timeline, looks: Looks) -> None:
    for kind in dict.fromkeys(sorted((span.kind for span in panel.spans), key=lambda kind: kind != WAITING)):
        spans = [span for span in panel.spans if span.kind == kind]
        colour = _WAITING_COLOUR if kind == WAITING else looks[kind].colour
        bars = PolyCollection(_corners(spans), facecolor=colour, alpha=0.8, edgecolor="none", label=plain(kind))
        axes.add_collection(bars)
    marked = [span for span in panel.spans if span.is_marked]
    if marked:
        frames = PolyCollection(_corners(marked), facecolor="none", edgecolor=_MARK_COLOUR, linewidth=0.9, zorder=3)
        frames.set_label(plain(panel.marked_as or "marked"))
        axes.add_collection(frames)
    _draw_lanes(axes, panel.lanes)
    ends = [span.end for span in panel.spans] or [1.0]
    axes.set_xlim(min([0.0, *(span.start for span in panel.spans)]), max(ends) * 1.01 or 1.0)
    axes.set_xlabel(plain(panel.x_label))
    add_grid(axes)


def _corners(spans: Sequence[Span]) -> list[NDArray[np.float64]]:
    """Return the four corners of each span's bar."""
    start, end = np.array([span.start for span in spans]), np.array([span.end for span in spans])
    lane = np.array([span.lane for span in spans], dtype=float)
    half = np.array([(_THIN if span.kind == WAITING else _HIGH) / 2 for span in spans])
    x, y = np.stack([start, start, end, end]), np.stack([lane - half, lane + half, lane + half, lane - half])
    return list(np.stack([x.T, y.T], axis=2))


def _draw_lanes(axes: Axes, lanes: Sequence[str]) -> None:
    """Name the lanes, every second or third where there are too many to read."""
    step = 1 + (len(lanes) - 1) // _MOST_LANE_LABELS
    shown = range(0, len(lanes), step)
    axes.set_yticks(list(shown), [plain(lanes[index]) for index in shown], fontsize="small")
    axes.set_ylim(len(lanes) - 0.4, -0.6)
    axes.tick_params(axis="y", length=0)
