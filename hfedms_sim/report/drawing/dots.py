"""Draws dots in a plane, coloured by a value or by their set, with faint lines from them and names beside them.

A name is put where it covers no other name and no dot, as far as there is such a place. Where that is depends on where
the layout puts the axes, so names are added after it (`add_names`).
"""

from math import cos, pi, sin

import numpy as np
from matplotlib.axes import Axes
from matplotlib.collections import LineCollection
from matplotlib.colors import Normalize
from matplotlib.figure import Figure as Picture
from matplotlib.transforms import Bbox

from hfedms_sim.exhibits import Dots, DotSet
from hfedms_sim.report.drawing.looks import COLOUR_MAP, DOT_MARKERS, Look, Looks, add_grid, plain, set_log_ticks

_CROSS, _TRIANGLE, _LINK, _JOINED = "#909090", "crimson", "0.88", "0.35"
_NEAR_PT, _FAR_PT, _DOT_PT = 11, 52, 5
_OFFSETS_PT = [
    (distance * cos(turn * pi / 4), distance * sin(turn * pi / 4))
    for distance in range(_NEAR_PT, _FAR_PT, 8)
    for turn in (2, 1, 7, 3, 5, 6, 0, 4)
]
"""Where a name may stand, from its dot: above first, then around it, then further away."""


def draw_dots(axes: Axes, panel: Dots, looks: Looks) -> None:
    values = [value for dots in panel.sets for value in dots.values]
    scale = Normalize(min(0.0, *values), max(values)) if len(values) > 1 else Normalize(0.0, *values or (1.0,))
    for dots in panel.sets:
        if dots.to:
            ends = [((x, y), to) for x, y, to in zip(dots.x, dots.y, dots.to, strict=True)]
            axes.add_collection(LineCollection(ends, colors=_LINK, linewidths=0.5, zorder=0))
        if dots.values:
            shown = axes.scatter(dots.x, dots.y, c=dots.values, norm=scale, cmap=COLOUR_MAP, s=26, clip_on=False)
            axes.figure.colorbar(shown, ax=axes, label=plain(panel.value_label), shrink=0.8)
        elif dots.x:
            _draw_set(axes, dots, looks[dots.label])
    _set_extent(axes, panel)
    axes.set(xlabel=plain(panel.x_label), ylabel=plain(panel.y_label))
    if not panel.is_map:
        add_grid(axes)


def _set_extent(axes: Axes, panel: Dots) -> None:
    axes.margins(0.12)
    if panel.is_map:
        axes.set_aspect("equal")
    if panel.log_x:
        axes.set_xscale("log")
        set_log_ticks(axes.xaxis)
    elif not panel.is_map:
        axes.set_xlim(left=0)
    if panel.log_y:
        axes.set_yscale("log")
        set_log_ticks(axes.yaxis)
    elif not panel.is_map:
        axes.set_ylim(bottom=0)
    if panel.extent is not None:
        axes.set(xlim=(0, panel.extent[0]), ylim=(0, panel.extent[1]))


def _draw_set(axes: Axes, dots: DotSet, look: Look) -> None:
    label = plain(dots.label)
    if dots.is_joined:
        rings = {"marker": "o", "markersize": 11, "markerfacecolor": "none"}
        axes.plot(dots.x, dots.y, color=_JOINED, linewidth=1.2, zorder=1.9, label=label, **rings)  # type: ignore[arg-type]
    elif dots.marker == "cross":
        axes.plot(dots.x, dots.y, "x", color=_CROSS, markersize=5, label=label, clip_on=False)
    elif dots.marker == "triangle":
        axes.plot(dots.x, dots.y, "^", color=_TRIANGLE, markersize=10, label=label, clip_on=False)
    else:
        axes.plot(dots.x, dots.y, DOT_MARKERS[look.marker], color=look.colour, markersize=6, label=label)


def add_names(picture: Picture, places: list[tuple[Axes, Dots]]) -> None:
    """Write the names of the dots that have one, once the layout of the picture is settled."""
    if not any(dots.is_named for _, panel in places for dots in panel.sets):
        return
    picture.draw_without_rendering()
    picture.set_layout_engine("none")
    for axes, panel in places:
        taken = [_box_around(axes, x, y) for dots in panel.sets for x, y in zip(dots.x, dots.y, strict=True)]
        for dots in (each for each in panel.sets if each.is_named):
            for x, y, text in zip(dots.x, dots.y, dots.texts, strict=True):
                taken.append(_add_name(axes, (x, y), text, taken))


def _add_name(axes: Axes, at: tuple[float, float], text: str, taken: list[Bbox]) -> Bbox:
    """Write a name at the place that covers least of what is there; return where it stands."""
    name = axes.annotate(plain(text), at, textcoords="offset points", xytext=(0, 0), fontsize="small", va="center")
    points = axes.figure.dpi / 72
    size = name.get_window_extent()
    dot_x, dot_y = axes.transData.transform(at)
    inside = axes.get_window_extent()
    best, best_offset, best_cost = size, _OFFSETS_PT[0], np.inf
    for x_pt, y_pt in _OFFSETS_PT:
        left = dot_x + x_pt * points - (size.width if x_pt < -1 else size.width / 2 if x_pt < 1 else 0)
        bottom = dot_y + y_pt * points - size.height / 2
        box = Bbox.from_bounds(left, bottom, size.width, size.height)
        cost = sum(_area(Bbox.intersection(box, other)) for other in taken)
        cost += 3 * (size.width * size.height - _area(Bbox.intersection(box, inside)))
        if cost < best_cost - 1e-6:
            best, best_offset, best_cost = box, (x_pt, y_pt), cost
    name.set_position(best_offset)
    name.set_horizontalalignment("right" if best_offset[0] < -1 else "center" if best_offset[0] < 1 else "left")
    return best


def _box_around(axes: Axes, x: float, y: float) -> Bbox:
    centre_x, centre_y = axes.transData.transform((x, y))
    half = _DOT_PT * axes.figure.dpi / 72
    return Bbox.from_extents(centre_x - half, centre_y - half, centre_x + half, centre_y + half)


def _area(box: Bbox | None) -> float:
    return 0.0 if box is None else float(box.width * box.height)
