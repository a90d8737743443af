"""Draws the figures of an experiment: panels of lines with bands, box plots, heat maps and bars.

A label has one colour in all panels, and all labels are in one legend beside them. More labels than colours are told
apart by markers as well.
"""

from collections.abc import Callable
from math import ceil
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from matplotlib.axes import Axes
from matplotlib.colors import Normalize
from matplotlib.figure import Figure as Picture
from matplotlib.patches import Rectangle
from matplotlib.ticker import MaxNLocator

from hfedms_sim.exhibits import Bars, Boxes, Figure, HeatMap, Line, Lines, Mark, Panel
from hfedms_sim.report.pictures import PALETTE, save

_PANEL_WIDTH_IN, _PANEL_HEIGHT_IN, _LEGEND_WIDTH_IN, _TITLE_HEIGHT_IN = 4.6, 3.4, 1.8, 0.4
_MARKERS = ("", "o", "s", "^", "D", "v")
_COLOUR_MAP = "cividis"
_DARK_BELOW = 0.5  # of a colour's luminance: white text stands on darker ones
_LONG_LABELS = 34  # characters that fit side by side below a panel


class _Look(NamedTuple):
    colour: str
    marker: str


Looks = dict[str, _Look]


def draw(figure: Figure, path: Path) -> None:
    """Draw the figure; the file's ending decides its format."""
    looks = _looks(figure)
    columns = min(figure.columns, len(figure.panels))
    rows = ceil(len(figure.panels) / columns)
    width_in = _PANEL_WIDTH_IN * columns + (_LEGEND_WIDTH_IN if any(looks) else 0)
    picture = Picture(figsize=(width_in, _PANEL_HEIGHT_IN * rows + _TITLE_HEIGHT_IN), layout="constrained")
    places = picture.subplots(rows, columns, squeeze=False).ravel().tolist()
    for axes, panel in zip(places, figure.panels, strict=False):
        axes.set_title(_plain(panel.title), fontsize="medium")
        _DRAW[type(panel)](axes, panel, looks)
    for axes in places[len(figure.panels) :]:
        axes.set_axis_off()
    _add_legend(picture, places)
    picture.suptitle(_plain(figure.title))
    save(picture, path)


def _looks(figure: Figure) -> Looks:
    """Return what each label looks like, in the order the labels come in."""
    labels = dict.fromkeys(label for panel in figure.panels for label in _labels(panel))
    return {
        label: _Look(PALETTE[index % len(PALETTE)], _MARKERS[index // len(PALETTE) % len(_MARKERS)])
        for index, label in enumerate(labels)
    }


def _labels(panel: Panel) -> list[str]:
    if isinstance(panel, Lines):
        return [line.label for line in panel.lines]
    return [name for name, _ in panel.series] if isinstance(panel, Bars) else []


def _add_legend(picture: Picture, places: list[Axes]) -> None:
    """Name every label once, as it is first drawn."""
    handles: dict[str, Any] = {}
    for axes in places:
        for handle, label in zip(*axes.get_legend_handles_labels(), strict=True):
            handles.setdefault(label, handle)
    if handles:
        picture.legend(list(handles.values()), list(handles), loc="outside right upper", frameon=False)


def _draw_lines(axes: Axes, panel: Lines, looks: Looks) -> None:
    for line in panel.lines:
        _draw_line(axes, line, looks[line.label])
    for mark in panel.marks:
        _draw_mark(axes, mark)
    if panel.log_x:
        axes.set_xscale("log")
    elif all(value.is_integer() for line in panel.lines for value in map(float, line.x)):
        axes.xaxis.set_major_locator(MaxNLocator(integer=True))  # rounds have no halves
    axes.set(xlabel=_plain(panel.x_label), ylabel=_plain(panel.y_label))
    axes.grid(color="0.92")


def _draw_line(axes: Axes, line: Line, look: _Look) -> None:
    if line.low:
        axes.fill_between(line.x, line.low, line.high, color=look.colour, alpha=0.2, linewidth=0)
    axes.plot(
        line.x,
        line.y,
        color=look.colour,
        linestyle=line.style,
        marker=look.marker or ("o" if len(line.x) == 1 else ""),
        markersize=4,
        markevery=max(1, len(line.x) // 12),
        label=_plain(line.label),
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
        axes.annotate(
            _plain(mark.label), at, (3, 0), xycoords=axes.get_xaxis_transform(), va="top", rotation=90, **text
        )
    else:
        axes.axhline(mark.value, **how)
        at = (0.01, mark.value)
        axes.annotate(_plain(mark.label), at, (0, 2), xycoords=axes.get_yaxis_transform(), **text)


def _draw_boxes(axes: Axes, panel: Boxes, looks: Looks) -> None:
    axes.boxplot(
        [list(values) for _, values in panel.groups],
        tick_labels=[_plain(label) for label, _ in panel.groups],
        sym="",
        medianprops={"color": PALETTE[1], "linewidth": 1.6},
        boxprops={"color": PALETTE[0]},
        whiskerprops={"color": PALETTE[0]},
        capprops={"color": PALETTE[0]},
    )
    if panel.log_y:
        axes.set_yscale("log")
    _turn_long_labels(axes, [label for label, _ in panel.groups])
    axes.set_ylabel(_plain(panel.y_label))
    axes.grid(axis="y", color="0.92")


def _draw_heat_map(axes: Axes, panel: HeatMap, looks: Looks) -> None:
    values = np.array([[np.nan if cell is None else cell for cell in row] for row in panel.values], dtype=float)
    known = values[np.isfinite(values)]
    scale = Normalize(*(panel.limits or ((known.min(), known.max()) if known.size else (0.0, 1.0))))
    mesh = axes.pcolormesh(values, cmap=_COLOUR_MAP, norm=scale, edgecolors="white")
    for (row, column), value in np.ndenumerate(values):
        if not np.isfinite(value):
            axes.add_patch(Rectangle((column, row), 1, 1, facecolor="0.9", edgecolor="0.6", hatch="///", linewidth=0))
            continue
        luminance = float(np.dot(mesh.cmap(scale(value))[:3], (0.299, 0.587, 0.114)))
        colour = "white" if luminance < _DARK_BELOW else "black"
        weight = "bold" if (row, column) in panel.marked else "normal"
        axes.text(column + 0.5, row + 0.5, f"{value:.3g}", ha="center", va="center", color=colour, weight=weight)
    for row, column in panel.marked:
        axes.add_patch(Rectangle((column, row), 1, 1, fill=False, edgecolor=PALETTE[1], linewidth=3, zorder=3))
    axes.set_xticks(np.arange(len(panel.x)) + 0.5, [_plain(label) for label in panel.x])
    axes.set_yticks(np.arange(len(panel.y)) + 0.5, [_plain(label) for label in panel.y])
    axes.tick_params(length=0)
    axes.invert_yaxis()
    _turn_long_labels(axes, panel.x)
    axes.set(xlabel=_plain(panel.x_label), ylabel=_plain(panel.y_label))
    if known.size:
        axes.figure.colorbar(mesh, ax=axes)


def _draw_bars(axes: Axes, panel: Bars, looks: Looks) -> None:
    width = 0.8 / max(1, len(panel.series))
    centres = np.arange(len(panel.labels))
    for index, (name, values) in enumerate(panel.series):
        heights = [np.nan if value is None else value for value in values]
        offset = (index - (len(panel.series) - 1) / 2) * width
        axes.bar(centres + offset, heights, width * 0.94, color=looks[name].colour, label=_plain(name))
    axes.set_xticks(centres, [_plain(label) for label in panel.labels])
    axes.set_xlim(-0.6, len(panel.labels) - 0.4)
    _turn_long_labels(axes, panel.labels)
    axes.set_ylabel(_plain(panel.y_label))
    axes.grid(axis="y", color="0.92")
    axes.set_axisbelow(True)


def _turn_long_labels(axes: Axes, labels: tuple[str, ...] | list[str]) -> None:
    if sum(len(label) + 2 for label in labels) > _LONG_LABELS:
        for text in axes.get_xticklabels():
            text.set(rotation=35, ha="right", rotation_mode="anchor")


def _plain(text: str) -> str:
    """Return the text so that matplotlib does not read formulas into it."""
    return text.replace("$", r"\$")


_DRAW: dict[type, Callable[[Axes, Any, Looks], None]] = {
    Lines: _draw_lines,
    Boxes: _draw_boxes,
    HeatMap: _draw_heat_map,
    Bars: _draw_bars,
}
