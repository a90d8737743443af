"""What `hfedms-sim validate` shows, as plain tables: rows that were played by kind, rows that wait, and all of it."""

from collections import Counter
from collections.abc import Sequence

from hfedms_sim.exhibits import Table
from hfedms_sim.validation.judging import Judged, median_deviation
from hfedms_sim.validation.rows import Kind

_TITLES: dict[Kind, str] = {
    "independent": "Independent: no figure of the profile is from the source",
    "calibration": "Calibration: the profile names the source among its own",
}


def shown_tables(judged: Sequence[Judged]) -> tuple[Table, ...]:
    """Return the tables that have any rows: each kind's, then those that cannot be played yet."""
    tables = (*(_played(judged, kind) for kind in _TITLES), _waiting(judged))
    return tuple(table for table in tables if table.rows)


def full_table(judged: Sequence[Judged]) -> Table:
    """Return every row with all that is known of it."""
    header = (
        "id", "what", "low", "high", "unit", "ours", "ratio", "deviation", "verdict", "kind", "profile", "quantity",
        "tolerance", "source", "assumed", "reason", "missing",
    )  # fmt: skip
    rows = tuple(
        (
            row.id, row.what, *row.ends, row.unit, each.ours, each.ratio, each.deviation, each.verdict, row.kind,
            row.profile, row.reads, row.tolerance, row.source, row.assumed, row.reason, row.missing,
        )
        for each in judged
        for row in (each.row,)
    )  # fmt: skip
    return Table("validation", "Outside numbers", header, rows)


def closing_lines(judged: Sequence[Judged]) -> list[str]:
    """Return the counts of each kind with its median deviation, and how many rows wait."""
    lines = []
    for kind in _TITLES:
        deviation = median_deviation(judged, kind)
        if deviation is not None:
            counts = Counter(each.verdict for each in judged if each.row.kind == kind and each.ours is not None)
            verdicts = f"{counts['agrees']} agree, {counts['near']} near, {counts['off']} off"
            lines.append(f"{kind}: median deviation {deviation:.0%} over {counts.total()} rows; {verdicts}")
    waiting = sum(each.ours is None for each in judged)
    return [*lines, f"not testable yet: {waiting} rows"] if waiting else lines


def outside(each: Judged) -> str:
    """Return the outside number, or its range, as people read it."""
    low, high = (_written(end) for end in each.row.ends)
    return low if low == high else f"{low} to {high}"


def _played(judged: Sequence[Judged], kind: Kind) -> Table:
    rows = tuple(
        (each.row.id, each.row.what, outside(each), _short(each.ours), each.row.unit, _short(each.ratio), each.verdict)
        for each in judged
        if each.row.kind == kind and each.ours is not None
    )
    header = ("row", "what", "outside", "ours", "unit", "ratio", "verdict")
    return Table(f"validation-{kind}", _TITLES[kind], header, rows)


def _written(number: float) -> str:
    return f"{number:,.0f}" if number >= 1_000 else f"{number:.4g}"


def _short(number: float | None) -> float | None:
    """Return it to three digits: no source has more, and the table is narrow."""
    return None if number is None else float(f"{number:.3g}")


def _waiting(judged: Sequence[Judged]) -> Table:
    rows = tuple(
        (each.row.id, each.row.what, outside(each), each.row.unit, each.row.missing)
        for each in judged
        if each.ours is None
    )
    return Table("validation-waiting", "Not testable yet", ("row", "what", "outside", "unit", "what is missing"), rows)
