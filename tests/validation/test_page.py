"""docs/validation.md shows what the rows give today. After a change, write its tables anew with

python -m tests.validation.test_page
"""

import re
from collections.abc import Sequence
from pathlib import Path
from typing import get_args

from hfedms_sim.validation.judging import Judged, judge_all
from hfedms_sim.validation.quantities import UNITS, Quantity
from hfedms_sim.validation.rows import shipped_rows
from hfedms_sim.validation.tables import closing_lines, outside

PAGE = Path(__file__).resolve().parents[2] / "docs" / "validation.md"
BEGIN, END = "<!-- validate: begin -->\n", "<!-- validate: end -->\n"


def digits(number: float | None) -> str:
    if number is None:
        return ""
    return f"{number:,.0f}" if number >= 1000 else f"{number:.3g}"


def line(cells: Sequence[str]) -> str:
    return f"| {' | '.join(cells)} |"


def table(header: Sequence[str], rows: Sequence[Sequence[str]]) -> list[str]:
    return [line(header), "|" + "---|" * len(header), *(line(row) for row in rows), ""]


def played(judged: Sequence[Judged], kind: str) -> list[str]:
    rows = [
        (
            each.row.id, each.row.what, f"{outside(each)} {each.row.unit}", digits(each.ours), digits(each.ratio),
            each.verdict, each.row.source,
        )
        for each in judged
        if each.row.kind == kind and each.ours is not None
    ]  # fmt: skip
    return table(("row", "what", "outside", "ours", "ratio", "verdict", "source"), rows)


def section(judged: Sequence[Judged]) -> str:
    reasons = [(each.row.id, each.row.reason) for each in judged if each.row.reason]
    waiting = [
        (each.row.id, each.row.what, f"{outside(each)} {each.row.unit}", each.row.missing, each.row.source)
        for each in judged
        if each.ours is None
    ]
    assumed = [(each.row.id, each.row.assumed) for each in judged if each.row.assumed]
    parts = [
        *(f"- {each}" for each in closing_lines(judged)), "",
        "### Independent", "", *played(judged, "independent"),
        "### Calibration", "", *played(judged, "calibration"),
        "### Why some are off", "", *table(("row", "reason"), reasons),
        "### Not testable yet", "", *table(("row", "what", "outside", "what is missing", "source"), waiting),
        "### What scenarios assume", "", *table(("row", "assumed"), assumed),
    ]  # fmt: skip
    return "\n".join(parts)


def write_page() -> None:
    before, _, rest = PAGE.read_text(encoding="utf-8").partition(BEGIN)
    _, _, after = rest.partition(END)
    PAGE.write_text(f"{before}{BEGIN}{section(judge_all())}{END}{after}", encoding="utf-8")


def test_the_page_shows_what_the_rows_give_today() -> None:
    _, _, rest = PAGE.read_text(encoding="utf-8").partition(BEGIN)
    shown, _, _ = rest.partition(END)
    assert shown == section(judge_all()), "run: python -m tests.validation.test_page"


def test_the_page_explains_every_quantity_with_its_unit() -> None:
    explained: dict[str, str] = {}
    for names, units in re.findall(r"^\| (`[a-z_`, ]+`) \| ([^|]+) \|", PAGE.read_text(encoding="utf-8"), re.MULTILINE):
        found = re.findall(r"`([a-z_]+)`", names)
        listed = units.strip().split(", ")
        explained |= dict(zip(found, listed * len(found) if len(listed) == 1 else listed, strict=False))
    assert explained == UNITS
    assert set(UNITS) == set(get_args(Quantity))


def test_the_page_names_every_key_that_a_row_waits_for() -> None:
    text = PAGE.read_text(encoding="utf-8")
    needed = {key for row in shipped_rows().rows for key in row.needs}
    assert needed
    assert [key for key in sorted(needed) if f"`{key}`" not in text] == []


if __name__ == "__main__":
    write_page()
