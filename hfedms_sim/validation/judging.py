"""Ours beside the outside number: ratio, deviation, verdict.

ratio      ours / outside; within a range 1, beyond it ours / the nearer end
deviation  max(ratio, 1 / ratio) - 1: 25 % is a factor of 1.25, above or below
verdict    agrees within the row's tolerance, near within a factor of 2, off beyond; not testable yet
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from math import isfinite
from statistics import median
from typing import Any, Literal

from hfedms_sim.errors import InputError, RunError
from hfedms_sim.result import RunResult
from hfedms_sim.scenario import unknown
from hfedms_sim.simulation import run
from hfedms_sim.validation.exchange import Exchange, exchange_of
from hfedms_sim.validation.quantities import read_quantity
from hfedms_sim.validation.rows import Kind, Row, shipped_rows

Verdict = Literal["agrees", "near", "off", "not testable yet"]

NEAR = 2.0


@dataclass(frozen=True, slots=True)
class Judged:
    """A row with what a run gave; `ours` is None if the row cannot be played yet."""

    row: Row
    ours: float | None

    @property
    def ratio(self) -> float | None:
        if self.ours is None:
            return None
        low, high = self.row.ends
        return self.ours / low if self.ours < low else self.ours / high if self.ours > high else 1.0

    @property
    def deviation(self) -> float | None:
        return None if self.ratio is None else max(self.ratio, 1 / self.ratio) - 1

    @property
    def verdict(self) -> Verdict:
        if self.deviation is None:
            return "not testable yet"
        factor = self.deviation + 1
        return "agrees" if factor <= self.row.tolerance else "near" if factor <= NEAR else "off"


def judge_all(ids: Sequence[str] = ()) -> list[Judged]:
    """Return the rows with these ids, by default all, each beside what its run gives."""
    rows = shipped_rows()
    by_id = {row.id: row for row in rows.rows}
    for each in ids:
        if each not in by_id:
            raise InputError(unknown("row", each, by_id))
    played = _Played(rows.base)
    return [Judged(row, played.ours(row)) for row in rows.rows if not ids or row.id in ids]


def median_deviation(judged: Iterable[Judged], kind: Kind) -> float | None:
    """Return the median over the rows of a kind that were played; None if none was."""
    deviations = [each.deviation for each in judged if each.row.kind == kind and each.deviation is not None]
    return median(deviations) if deviations else None


class _Played:
    """Runs by scenario: rows that read two quantities off one run play it once."""

    def __init__(self, base: dict[str, Any]) -> None:
        self._base = base
        self._runs: list[tuple[Exchange, RunResult]] = []

    def ours(self, row: Row) -> float | None:
        if row.missing:
            return None
        assert row.play is not None
        assert row.reads is not None
        result = self._run(exchange_of(row, self._base))
        number = read_quantity(row.reads, result, row.play.period_s, row.play.battery_mah)
        if not (isfinite(number) and number > 0):
            raise RunError(f"row {row.id}: {row.reads} of its run is {number}, not a positive number")
        return number

    def _run(self, exchange: Exchange) -> RunResult:
        for known, result in self._runs:
            if known == exchange:
                return result
        result = run(exchange.scenario, model=exchange.message, timing_only=True, allow_infeasible=True)
        self._runs.append((exchange, result))
        return result
