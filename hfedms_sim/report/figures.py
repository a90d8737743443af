"""Draws figures: puts their panels side by side, names all labels in one legend beside them, and writes the note below.

A label has one colour in all panels. More labels than colours are told apart by markers as well. How each kind of panel
is drawn is in drawing/.
"""

from collections.abc import Callable, Sequence
from math import radians, sin
from pathlib import Path
from textwrap import fill
from typing import Any

from matplotlib.axes import Axes
from matplotlib.figure import Figure as Picture

from hfedms_sim.exhibits import Bars, Boxes, Dots, Figure, HeatMap, Lines, Panel, Timeline
from hfedms_sim.report.drawing.boxes_and_bars import draw_bars, draw_boxes
from hfedms_sim.report.drawing.dots import add_names, draw_dots
from hfedms_sim.report.drawing.heat_map import draw_heat_map
from hfedms_sim.report.drawing.lines import draw_lines
from hfedms_sim.report.drawing.looks import Looks, looks_of, plain, turn_of
from hfedms_sim.report.drawing.timeline import draw_timeline
from hfedms_sim.report.pictures import save

_PANEL_WIDTH_IN, _PANEL_HEIGHT_IN = 4.6, 3.4
_WIDE_PANEL_IN = 7.4  # of panels that have a row to themselves
_TITLE_HEIGHT_IN, _LINE_HEIGHT_IN = 0.4, 0.2
_LEAST_LEGEND_IN, _LEGEND_HANDLE_IN, _CHARACTER_IN = 1.8, 0.6, 0.085
_LANE_HEIGHT_IN, _TALLEST_IN = 0.17, 16.0
_NOTE_CHARACTERS_PER_IN, _TITLE_CHARACTERS_PER_IN = 15, 9

_DRAW: dict[type, Callable[[Axes, Any, Looks], None]] = {
    Lines: draw_lines,
    Boxes: draw_boxes,
    HeatMap: draw_heat_map,
    Bars: draw_bars,
    Timeline: draw_timeline,
    Dots: draw_dots,
}


def draw(figure: Figure, path: Path) -> None:
    """Draw the figure; the file's ending decides its format."""
    save(picture_of(figure), path)


def picture_of(figure: Figure) -> Picture:
    """Return the figure as matplotlib draws it."""
    looks = looks_of(figure.panels)
    columns = min(figure.columns, len(figure.panels))
    rows = [figure.panels[start : start + columns] for start in range(0, len(figure.panels), columns)]
    heights_in = [max(_height_in(panel, columns) for panel in row) for row in rows]
    panels_in = _width_in(columns) * columns
    width_in = panels_in + _legend_width_in(figure, looks)
    title = fill(figure.title, int(panels_in * _TITLE_CHARACTERS_PER_IN), break_on_hyphens=False)
    note = fill(figure.note, int(width_in * _NOTE_CHARACTERS_PER_IN)) if figure.note else ""
    notes_in = _LINE_HEIGHT_IN * (note.count("\n") + 1) if note else 0.0
    height_in = max(sum(heights_in), _LINE_HEIGHT_IN * (1 + len(looks))) + notes_in
    height_in += _TITLE_HEIGHT_IN * (1 + title.count("\n"))
    picture = Picture(figsize=(width_in, height_in), layout="constrained")
    places = picture.subplots(len(rows), columns, squeeze=False, height_ratios=heights_in).ravel().tolist()
    for axes, panel in zip(places, figure.panels, strict=False):
        wrapped = fill(panel.title, int(_width_in(columns) * _TITLE_CHARACTERS_PER_IN), break_on_hyphens=False)
        axes.set_title(plain(wrapped), fontsize="medium")
        _DRAW[type(panel)](axes, panel, looks)
    for axes in places[len(figure.panels) :]:
        axes.set_axis_off()
    _add_legend(picture, places)
    picture.suptitle(plain(title), x=panels_in / width_in / 2)  # above the panels, not above the legend
    if note:
        picture.supxlabel(plain(note), fontsize="small", color="0.3", x=0.01, ha="left")
    drawn = zip(places, figure.panels, strict=False)
    add_names(picture, [(axes, panel) for axes, panel in drawn if isinstance(panel, Dots)])
    return picture


def _width_in(columns: int) -> float:
    return _WIDE_PANEL_IN if columns == 1 else _PANEL_WIDTH_IN


def _height_in(panel: Panel, columns: int) -> float:
    """Return how high a panel should be: a map as its hall is shaped, a timeline by its lanes."""
    if isinstance(panel, Timeline):
        return min(_TALLEST_IN, max(_PANEL_HEIGHT_IN, 1.0 + _LANE_HEIGHT_IN * len(panel.lanes)))
    if isinstance(panel, Dots) and panel.extent is not None:
        width_m, length_m = panel.extent
        return 1.0 + min(2 * _PANEL_HEIGHT_IN, 0.75 * _width_in(columns) * length_m / width_m)
    if isinstance(panel, Bars | Boxes):
        return _PANEL_HEIGHT_IN + _labels_height_in(panel)
    return _PANEL_HEIGHT_IN


def _labels_height_in(panel: Bars | Boxes) -> float:
    """Return how much room below a panel its turned labels need."""
    labels = panel.labels if isinstance(panel, Bars) else [label for label, _ in panel.groups]
    return sin(radians(turn_of(labels))) * _CHARACTER_IN * max(map(len, labels), default=0)


def _legend_width_in(figure: Figure, looks: Looks) -> float:
    """Return how wide the legend is, by its longest label."""
    marked = [panel.marked_as for panel in figure.panels if isinstance(panel, Timeline)]
    longest = max((len(label) for label in (*looks, *marked)), default=0)
    return max(_LEAST_LEGEND_IN, _LEGEND_HANDLE_IN + _CHARACTER_IN * longest) if looks else 0.0


def _add_legend(picture: Picture, places: Sequence[Axes]) -> None:
    """Name every label once, as it is first drawn."""
    handles: dict[str, Any] = {}
    for axes in places:
        for handle, label in zip(*axes.get_legend_handles_labels(), strict=True):
            handles.setdefault(label, handle)
    if handles:
        picture.legend(list(handles.values()), list(handles), loc="outside right upper", frameon=False)
