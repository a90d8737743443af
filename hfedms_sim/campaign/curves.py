"""The curve of a trial: its cost so far and how good its model was, at every evaluated round and at the last.

Costs are running sums up to the end of the round, so that a curve can be drawn against any of them. A column that the
trace of a run lacks, and a value that was not measured, is None.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import accumulate
from math import isfinite
from typing import Any, NamedTuple

import pyarrow as pa

_SUMS = ("uplink_bytes", "downlink_bytes", "energy_j", "updated_parameters", "participants", "skipped")
MEASURED = ("accuracy", "loss", "accuracy_p10", "accuracy_p50", "accuracy_p90", "probe_accuracy")


class Point(NamedTuple):
    """One round of a curve. The five columns from `simulated_s` on are sums over all rounds up to this one.

    So are `participants` and `skipped`; records of older versions lack these two.
    """

    round: int
    phase: str
    simulated_s: float
    uplink_bytes: int
    downlink_bytes: int
    energy_j: float | None
    updated_parameters: int
    total_groups: int | None
    accuracy: float | None
    loss: float | None
    accuracy_p10: float | None
    accuracy_p50: float | None
    accuracy_p90: float | None
    probe_accuracy: float | None
    participants: int | None = None
    skipped: int | None = None
    """Participants that had captured nothing to train on."""


COLUMNS = Point._fields


@dataclass(frozen=True)
class Curve:
    """The points of a trial, in the order of its rounds."""

    rows: tuple[Point, ...]

    def points(self, column: str, against: str = "round") -> tuple[tuple[Any, Any], ...]:
        """Return the pairs (`against`, `column`) of all rows that have both."""
        pairs = ((getattr(row, against), getattr(row, column)) for row in self.rows)
        return tuple(pair for pair in pairs if None not in pair)

    def final(self, column: str) -> Any:
        """Return the last value of a column that is not None, or None if there is none."""
        return next((value for row in reversed(self.rows) if (value := getattr(row, column)) is not None), None)

    def first_at(self, accuracy: float) -> Point | None:
        """Return the first row that is at least that accurate, without smoothing, or None."""
        return next((row for row in self.rows if row.accuracy is not None and row.accuracy >= accuracy), None)

    def as_json(self) -> dict[str, list[Any]]:
        """Return the columns by name."""
        return {name: [getattr(row, name) for row in self.rows] for name in COLUMNS}

    @classmethod
    def from_json(cls, columns: Mapping[str, Sequence[Any]]) -> "Curve":
        """Make a curve of its columns; one that is missing counts as not measured."""
        nothing = [None] * len(columns["round"])
        return cls(tuple(Point(*row) for row in zip(*(columns.get(name, nothing) for name in COLUMNS), strict=True)))


def curve_of(rounds: pa.Table) -> Curve:
    """Make the curve of a run from its table `rounds`."""
    table = {name: rounds[name].to_pylist() for name in rounds.column_names}
    nothing = [None] * rounds.num_rows
    columns = {
        name: [_finite(value) for value in table.get(name, nothing)] for name in COLUMNS if name != "simulated_s"
    }
    columns |= {"simulated_s": table["end_s"]} | {name: _running_sum(columns[name]) for name in _SUMS}
    whole = Curve.from_json(columns)
    return Curve(tuple(row for row in whole.rows if row is whole.rows[-1] or _is_evaluated(row)))


def _is_evaluated(row: Point) -> bool:
    return any(getattr(row, name) is not None for name in MEASURED)


def _running_sum(values: Iterable[Any]) -> list[Any]:
    """Return the sums up to each value; they are None from the first value on that is None."""
    return list(accumulate(values, lambda total, value: None if total is None or value is None else total + value))


def _finite(value: Any) -> Any:
    return None if isinstance(value, float) and not isfinite(value) else value
