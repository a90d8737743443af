"""Figures as JSON for charts.js: columns of numbers with six significant digits, which no screen can tell from all."""

from collections.abc import Callable, Iterable, Sequence
from typing import Any

import numpy as np

from hfedms_sim.exhibits import Bars, Boxes, Dots, DotSet, Figure, HeatMap, Line, Lines, Panel, Timeline
from hfedms_sim.report.five_numbers import five_numbers

Json = dict[str, Any]
_DIGITS = 6


def encoded(figure: Figure) -> Json:
    """Return a figure as charts.js wants it."""
    panels = [_ENCODE[type(panel)](panel) | {"title": panel.title} for panel in figure.panels]
    return {"title": figure.title, "note": figure.note, "panels": panels}


def _numbers(values: Iterable[float | None]) -> list[float | None]:
    return [None if value is None or not np.isfinite(value) else float(f"{value:.{_DIGITS}g}") for value in values]


def _lines(panel: Lines) -> Json:
    marks = [{"axis": mark.axis, "value": mark.value, "label": mark.label} for mark in panel.marks]
    axes = {
        "xLabel": panel.x_label,
        "yLabel": panel.y_label,
        "logX": panel.log_x,
        "logY": panel.log_y,
        "xLimits": panel.x_limits,
        "yLimits": panel.y_limits,
    }
    return {"kind": "lines", **axes, "marks": marks, "series": [_line(line) for line in panel.lines]}


def _line(line: Line) -> Json:
    columns = {name: _numbers(getattr(line, name)) for name in ("x", "y", "low", "high")}
    return {"label": line.label, "style": line.style, **columns}


def _bars(panel: Bars) -> Json:
    series = [{"label": name, "values": _numbers(values)} for name, values in panel.series]
    return {
        "kind": "bars",
        "yLabel": panel.y_label,
        "labels": panel.labels,
        "series": series,
        "isStacked": panel.is_stacked,
    }


def _boxes(panel: Boxes) -> Json:
    counts = panel.counts or tuple(len(values) for _, values in panel.groups)
    groups = [
        {"label": label, "count": count, **_box(values)}
        for (label, values), count in zip(panel.groups, counts, strict=True)
    ]
    return {"kind": "boxes", "yLabel": panel.y_label, "logY": panel.log_y, "groups": groups}


def _box(values: Sequence[float]) -> Json:
    if not values:
        return {"quartiles": [], "whiskers": []}
    box = five_numbers(values)
    return {"quartiles": _numbers(box[1:4]), "whiskers": _numbers((box.low, box.high))}


def _heat_map(panel: HeatMap) -> Json:
    return {
        "kind": "heatMap",
        "xLabel": panel.x_label,
        "yLabel": panel.y_label,
        "x": panel.x,
        "y": panel.y,
        "values": [_numbers(row) for row in panel.values],
        "marked": panel.marked,
        "limits": panel.limits,
    }


def _timeline(panel: Timeline) -> Json:
    kinds = list(dict.fromkeys(span.kind for span in panel.spans))
    return {
        "kind": "timeline",
        "xLabel": panel.x_label,
        "lanes": panel.lanes,
        "kinds": kinds,
        "markedAs": panel.marked_as,
        "lane": [span.lane for span in panel.spans],
        "start": _numbers(span.start for span in panel.spans),
        "end": _numbers(span.end for span in panel.spans),
        "what": [kinds.index(span.kind) for span in panel.spans],
        "marked": [int(span.is_marked) for span in panel.spans],
        "text": [span.text for span in panel.spans],
    }


def _dots(panel: Dots) -> Json:
    return {
        "kind": "dots",
        "xLabel": panel.x_label,
        "yLabel": panel.y_label,
        "valueLabel": panel.value_label,
        "isMap": panel.is_map,
        "extent": panel.extent,
        "logX": panel.log_x,
        "logY": panel.log_y,
        "sets": [_dot_set(own) for own in panel.sets],
    }


def _dot_set(own: DotSet) -> Json:
    columns = {name: _numbers(getattr(own, name)) for name in ("x", "y", "values")}
    return {
        "label": own.label,
        "marker": own.marker,
        "isJoined": own.is_joined,
        "isNamed": own.is_named,
        "texts": own.texts,
        "to": [_numbers(end) for end in own.to],
        **columns,
    }


_ENCODE: dict[type[Panel], Callable[[Any], Json]] = {
    Lines: _lines,
    Bars: _bars,
    Boxes: _boxes,
    HeatMap: _heat_map,
    Timeline: _timeline,
    Dots: _dots,
}
