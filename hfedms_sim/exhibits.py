"""What there is to show, as plain data: tables, and figures made of panels.

Experiments and views of runs fill these without knowing matplotlib, LaTeX or HTML; report/ writes and draws them, as
pictures and in a page. Shapes that do not fit together are refused when an exhibit is made, not when it is drawn.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Literal, NamedTuple, TypeAlias

Value: TypeAlias = str | int | float | None
"""A cell of a table; None is an empty one."""

LineStyle = Literal["solid", "dashed", "dotted"]
Marker = Literal["dot", "cross", "triangle"]

_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9_.-]*")


@dataclass(frozen=True, slots=True)
class Table:
    """`name` names its files; `note` stands below it."""

    name: str
    title: str
    header: tuple[str, ...]
    rows: tuple[tuple[Value, ...], ...]
    note: str = ""

    def __post_init__(self) -> None:
        _require_name(self.name)
        for row in self.rows:
            _require_equal(f"table {self.name}: cells of a row", len(row), "columns", len(self.header))


@dataclass(frozen=True, slots=True)
class Line:
    """Points joined in their order; `low` and `high`, where given, are the edges of a band around them."""

    label: str
    x: tuple[float, ...]
    y: tuple[float, ...]
    low: tuple[float, ...] = ()
    high: tuple[float, ...] = ()
    style: LineStyle = "solid"

    def __post_init__(self) -> None:
        _require_equal(f"line {self.label!r}: values of y", len(self.y), "values of x", len(self.x))
        for edge in (self.low, self.high):
            if self.low or self.high:
                _require_equal(f"line {self.label!r}: values of a band's edge", len(edge), "values of x", len(self.x))


@dataclass(frozen=True, slots=True)
class Mark:
    """A thin line across a panel, at a value of one axis."""

    axis: Literal["x", "y"]
    value: float
    label: str = ""


@dataclass(frozen=True, slots=True)
class Lines:
    title: str
    x_label: str
    y_label: str
    lines: tuple[Line, ...]
    marks: tuple[Mark, ...] = ()
    log_x: bool = False
    log_y: bool = False
    x_limits: tuple[float | None, float | None] = (None, None)
    """Where the x axis begins and ends; None takes it from the lines."""
    y_limits: tuple[float | None, float | None] = (None, None)


@dataclass(frozen=True, slots=True)
class Boxes:
    """A box plot for each group: its label and its values. Whiskers reach 1.5 interquartile ranges; no outliers."""

    title: str
    y_label: str
    groups: tuple[tuple[str, tuple[float, ...]], ...]
    log_y: bool = False
    counts: tuple[int, ...] = ()
    """How many values each box stands for, where `groups` hold no more than its five numbers."""


@dataclass(frozen=True, slots=True)
class HeatMap:
    """`values[row][column]` belongs to `y[row]` and `x[column]`, the first row on top; None is a cell without a value.

    `marked` are the cells (row, column) to point out. `limits` are the values at the ends of the colours, so that
    several maps can be compared; None takes them from the map's own values.
    """

    title: str
    x_label: str
    y_label: str
    x: tuple[str, ...]
    y: tuple[str, ...]
    values: tuple[tuple[float | None, ...], ...]
    marked: tuple[tuple[int, int], ...] = ()
    limits: tuple[float, float] | None = None

    def __post_init__(self) -> None:
        _require_equal(f"heat map {self.title!r}: rows", len(self.values), "labels of y", len(self.y))
        for row in self.values:
            _require_equal(f"heat map {self.title!r}: cells of a row", len(row), "labels of x", len(self.x))
        for row_index, column in self.marked:
            if not (0 <= row_index < len(self.y) and 0 <= column < len(self.x)):
                raise ValueError(f"heat map {self.title!r}: there is no cell {row_index}, {column} to mark")


@dataclass(frozen=True, slots=True)
class Bars:
    """Bars for each label, one of each series: its name and a value for each label, or None.

    They stand side by side, or on top of each other where values are parts of a sum.
    """

    title: str
    y_label: str
    labels: tuple[str, ...]
    series: tuple[tuple[str, tuple[float | None, ...]], ...]
    is_stacked: bool = False

    def __post_init__(self) -> None:
        for name, values in self.series:
            _require_equal(f"bars {self.title!r}: values of {name!r}", len(values), "labels", len(self.labels))


class Span(NamedTuple):
    """Something that goes on for a while, in one lane of a timeline."""

    lane: int
    """Index of its lane."""
    start: float
    end: float
    kind: str
    """What it is, which decides its colour; the legend names each kind once."""
    text: str = ""
    """What else there is to say of it, shown where somebody points at it."""
    is_marked: bool = False
    """Whether it is one to point out, such as a step of the critical path."""


@dataclass(frozen=True, slots=True)
class Timeline:
    """Spans in lanes along one axis of time, the first lane on top. Spans of a lane may overlap."""

    title: str
    x_label: str
    lanes: tuple[str, ...]
    spans: tuple[Span, ...]
    marked_as: str = ""
    """What the marked spans are, for the legend."""

    def __post_init__(self) -> None:
        for span in self.spans:
            if not 0 <= span.lane < len(self.lanes):
                raise ValueError(f"timeline {self.title!r}: there is no lane {span.lane}")
            if span.end < span.start:
                raise ValueError(f"timeline {self.title!r}: a span ends at {span.end}, before it starts")


@dataclass(frozen=True, slots=True)
class DotSet:
    """Dots of one kind. `values` colour them where given, by one scale for the whole panel; `texts` say more of each.

    `is_joined`: the dots are joined in their order. `to` are the ends of faint lines, one from each dot.
    """

    label: str
    x: tuple[float, ...]
    y: tuple[float, ...]
    values: tuple[float, ...] = ()
    texts: tuple[str, ...] = ()
    marker: Marker = "dot"
    is_joined: bool = False
    is_named: bool = False
    """Whether its texts are written beside the dots."""
    to: tuple[tuple[float, float], ...] = ()

    def __post_init__(self) -> None:
        _require_equal(f"dots {self.label!r}: values of y", len(self.y), "values of x", len(self.x))
        for what, own in (("colours", self.values), ("texts", self.texts), ("ends of lines", self.to)):
            if own:
                _require_equal(f"dots {self.label!r}: {what}", len(own), "values of x", len(self.x))


@dataclass(frozen=True, slots=True)
class Dots:
    """Dots in a plane: one figure against another, or a map, whose axes have the same scale."""

    title: str
    x_label: str
    y_label: str
    sets: tuple[DotSet, ...]
    value_label: str = ""
    """What the colours mean, with the unit."""
    is_map: bool = False
    extent: tuple[float, float] | None = None
    """Width and length of a map; both axes begin at 0."""
    log_x: bool = False
    log_y: bool = False


Panel: TypeAlias = Lines | Boxes | HeatMap | Bars | Timeline | Dots


@dataclass(frozen=True, slots=True)
class Figure:
    """Panels in rows of `columns`. `name` names its files; `note` stands below it."""

    name: str
    title: str
    panels: tuple[Panel, ...]
    columns: int = 2
    note: str = ""

    def __post_init__(self) -> None:
        _require_name(self.name)
        if not self.panels or self.columns < 1:
            raise ValueError(f"figure {self.name}: needs at least one panel and one column")


def joined(figures: Sequence[Figure], labels: Sequence[str]) -> Figure:
    """Return the panels of all figures in their order, each called by its figure's label; notes say whose they are."""
    if len(figures) == 1:
        return figures[0]
    panels = tuple(
        replace(panel, title=f"{label}: {panel.title}")
        for figure, label in zip(figures, labels, strict=True)
        for panel in figure.panels
    )
    said = list(dict.fromkeys(figure.note for figure in figures if figure.note))
    notes = (f"{label}: {figure.note}" for figure, label in zip(figures, labels, strict=True) if figure.note)
    titles = list(dict.fromkeys(figure.title for figure in figures))
    return replace(
        figures[0],
        title=titles[0] if len(titles) == 1 else "; ".join(titles),
        panels=panels,
        note=" ".join(said if len(said) == 1 else notes),
    )


def _require_name(name: str) -> None:
    if not _NAME.fullmatch(name):
        raise ValueError(f"{name!r}: an exhibit's name holds letters, digits, '_', '.' and '-', for it names files")


def _require_equal(what: str, count: int, other: str, wanted: int) -> None:
    if count != wanted:
        raise ValueError(f"{what}: {count}, but {wanted} {other}")
