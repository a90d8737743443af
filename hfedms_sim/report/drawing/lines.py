"""Draws lines with bands around them, and thin marks across a panel."""

from typing import Any

from matplotlib.axes import Axes
from matplotlib.ticker import MaxNLocator

from hfedms_sim.exhibits import Line, Lines, Mark
from hfedms_sim.report.drawing.looks import Look, Looks, add_grid, plain, set_log_ticks

_MOST_MARKERS = 12  # on a line
_ROOM_ABOVE = 0.05  # of the axis


def draw_lines(axes: Axes, panel: Lines, looks: Looks) -> None:
    for line in panel.lines:
        _draw_line(axes, line, looks[line.label])
    for mark in panel.marks:
        _draw_mark(axes, mark)
    if panel.log_x:
        axes.set_xscale("log")
        set_log_ticks(axes.xaxis)
    elif all(value.is_integer() for line in panel.lines for value in map(float, line.x)):
        axes.xaxis.set_major_locator(MaxNLocator(integer=True))  # rounds have no halves
    if panel.log_y:
        axes.set_yscale("log")
        set_log_ticks(axes.yaxis)
    axes.set(xlim=panel.x_limits, ylim=_with_room_above(axes, panel))
    axes.set(xlabel=plain(panel.x_label), ylabel=plain(panel.y_label))
    add_grid(axes)


def _with_room_above(axes: Axes, panel: Lines) -> tuple[float | None, float | None]:
    """Return the limits of y; where the axis ends with the lines, it leaves some room above them."""
    bottom, top = panel.y_limits
    if bottom is None or top is not None or panel.log_y:
        return bottom, top
    highest = axes.dataLim.y1
    return bottom, highest + _ROOM_ABOVE * (highest - bottom) if highest > bottom else None


def _draw_line(axes: Axes, line: Line, look: Look) -> None:
    if line.low:
        axes.fill_between(line.x, line.low, line.high, color=look.colour, alpha=0.2, linewidth=0)
    axes.plot(
        line.x,
        line.y,
        color=look.colour,
        linestyle=line.style,
        marker=look.marker or ("o" if len(line.x) == 1 else ""),
        markersize=4,
        markevery=max(1, len(line.x) // _MOST_MARKERS),
        label=plain(line.label),
    )


def _draw_mark(axes: Axes, mark: Mark) -> None:
    how: dict[str, Any] = {
        "color": "0.35",
        "linewidth": 1.0,
        "linestyle": (0, (3, 2)),
        "zorder": 1.8,
    }  # above the grid, below the lines
    text: dict[str, Any] = {"textcoords": "offset points", "color": "0.25", "fontsize": "small"}
    if mark.axis == "x":
        axes.axvline(mark.value, **how)
        at = (mark.value, 0.98)
        axes.annotate(plain(mark.label), at, (3, 0), xycoords=axes.get_xaxis_transform(), va="top", rotation=90, **text)
    else:
        axes.axhline(mark.value, **how)
        at = (0.01, mark.value)
        axes.annotate(plain(mark.label), at, (0, 2), xycoords=axes.get_yaxis_transform(), **text)
