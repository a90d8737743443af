"""What an experiment shows, as plain data: tables, and figures made of panels.

report/exhibits.py writes and draws them. An experiment fills these without knowing pandas, matplotlib or LaTeX. Shapes
that do not fit together are refused when an exhibit is made, not when it is drawn.
"""

import re
from dataclasses import dataclass
from typing import Literal, TypeAlias

Value: TypeAlias = str | int | float | None
"""A cell of a table; None is an empty one."""

LineStyle = Literal["solid", "dashed", "dotted"]

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


@dataclass(frozen=True, slots=True)
class Boxes:
    """A box plot for each group: its label and its values. Whiskers reach 1.5 interquartile ranges; no outliers."""

    title: str
    y_label: str
    groups: tuple[tuple[str, tuple[float, ...]], ...]
    log_y: bool = False


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
    """Bars side by side for each label, one of each series: its name and a value for each label, or None."""

    title: str
    y_label: str
    labels: tuple[str, ...]
    series: tuple[tuple[str, tuple[float | None, ...]], ...]

    def __post_init__(self) -> None:
        for name, values in self.series:
            _require_equal(f"bars {self.title!r}: values of {name!r}", len(values), "labels", len(self.labels))


Panel: TypeAlias = Lines | Boxes | HeatMap | Bars


@dataclass(frozen=True, slots=True)
class Figure:
    """Panels in rows of `columns`. `name` names its files."""

    name: str
    title: str
    panels: tuple[Panel, ...]
    columns: int = 2

    def __post_init__(self) -> None:
        _require_name(self.name)
        if not self.panels or self.columns < 1:
            raise ValueError(f"figure {self.name}: needs at least one panel and one column")


def _require_name(name: str) -> None:
    if not _NAME.fullmatch(name):
        raise ValueError(f"{name!r}: an exhibit's name holds letters, digits, '_', '.' and '-', for it names files")


def _require_equal(what: str, count: int, other: str, wanted: int) -> None:
    if count != wanted:
        raise ValueError(f"{what}: {count}, but {wanted} {other}")
