"""The tables of a campaign, for people: its variants compared, and its trials.

Each is plain data first, of which Markdown and LaTeX are made; `comparison_table` adds the look of a terminal.
"""

from collections import Counter
from collections.abc import Callable, Sequence
from typing import NamedTuple

from rich.box import SIMPLE_HEAD
from rich.console import Console
from rich.table import Table
from rich.text import Text

from hfedms_sim import exhibits
from hfedms_sim.campaign import Refusal, Row, TrialResult, Variant
from hfedms_sim.campaign.comparison import END, cause_of
from hfedms_sim.campaign.statistics import Estimate
from hfedms_sim.report.captions import add_rows, captioned
from hfedms_sim.report.energy import EXTRAPOLATED, extrapolated_line, missing_line
from hfedms_sim.report.not_modelled import OMISSIONS
from hfedms_sim.stopping import stopped_of
from hfedms_sim.units import format_bytes, format_joules, format_seconds

NOT_MODELLED = tuple(each.short for each in OMISSIONS if each.short)
WIDEST_COLUMNS = 100

_NAMES = ("profile", "strategy")  # whose values speak for themselves
_BESIDE, _BELOW = " ± ", "\n±"
_PARTIAL, _REFUSED = "*", "†"


def comparison_table(rows: Sequence[Row], name: str) -> Table:
    """Return the table in the plainest layout that fits; the last one lets cells wrap, so that nothing is ever cut.

    What is the same in all rows is in the title; columns that would be empty are left out. What limited the runs is
    there where it fits without another layout.
    """
    endless = Console(width=10_000)
    shapes = ((False, False), (True, False), (True, True))
    tables = [_table(rows, name, _Layout(*shape, has_limits)) for shape in shapes for has_limits in (True, False)]
    return next((table for table in tables if endless.measure(table).maximum <= WIDEST_COLUMNS), tables[-1])


def comparison_in_words(rows: Sequence[Row], name: str) -> exhibits.Table:
    """Return the same table as plain data, every cell on one line, with the lines below it as its note."""
    words, _ = _words(rows, name, _Layout(is_tight=False, is_stacked=False, has_limits=True))
    header = tuple(heading.replace("\n", " ") for heading in words.header)
    cells = tuple(tuple(str(cell).replace("\n", " ") for cell in row) for row in words.rows)
    return exhibits.Table(words.name, words.title, header, cells, "\n".join(comparison_notes(rows)))


def trials_in_words(results: Sequence[TrialResult], refusals: Sequence[Refusal]) -> exhibits.Table:
    """Return what each trial came to at its end, and why one was refused, as people read it."""
    header = ("trial", "accuracy", "rounds", "simulated time", "bytes", "energy", "limited by", "ended")
    refused = tuple((trial.name, *[""] * 6, f"refused: {reason}") for trial, reason in refusals)
    extrapolated = [key for result in results for key in result.summary.get("energy_extrapolated") or ()]
    rows = (*map(_trial_row, results), *refused)
    return exhibits.Table("trials", "Trials", header, rows, extrapolated_line(extrapolated) or "")


def _trial_row(result: TrialResult) -> tuple[str, ...]:
    summary = result.summary
    accuracy, energy_j = summary["final_accuracy"], summary["energy_j"]
    mark = f" {EXTRAPOLATED}" if summary.get("energy_extrapolated") else ""
    return (
        result.trial.name,
        "" if accuracy is None else f"{accuracy:.3f}",
        f"{summary['rounds']:,}",
        _seconds(summary["simulated_s"]),
        format_bytes(summary["bytes"]["total"]),
        "" if energy_j is None else f"{format_joules(energy_j)}{mark}",
        cause_of(result) or "",
        str(stopped_of(summary) or ""),
    )


def comparison_notes(rows: Sequence[Row]) -> list[str]:
    """Return the lines that belong below the table: what its signs mean, and what no figure in it has."""
    telling = telling_keys(rows)
    notes = []
    if any(not row.is_comparable and row.reason is None for row in rows):
        notes.append(
            f"{_PARTIAL} not all sensors are in coverage: these figures are of fewer sensors, and not compared"
        )
    all_seeds = Counter[Variant]()
    for row in rows:
        all_seeds[row.variant] += row.seeds if row.target == END else 0
    who: dict[str, list[str]] = {}
    for row in rows:
        if row.reason is not None:
            seeds = f" ({row.seeds} of {all_seeds[row.variant]} seeds)" if all_seeds[row.variant] > 1 else ""
            who.setdefault(row.reason, []).append(", ".join(_entries(row, telling) or ["all"]) + seeds)
    notes += [f"{_REFUSED} {'; '.join(variants)}: {reason}" for reason, variants in who.items()]
    extrapolated = extrapolated_line([key for row in rows if row.measures["energy_j"] for key in row.extrapolated])
    notes += [] if extrapolated is None else [extrapolated]
    missing = missing_line(list(dict.fromkeys(entry for row in rows for entry in row.energy_missing)))
    notes += [] if missing is None else [missing]
    if len({dict(row.variant).get("profile") for row in rows}) > 1:
        notes.append(f"not modelled: {', '.join(NOT_MODELLED)}")
    return notes


class _Layout(NamedTuple):
    is_tight: bool
    """Whether intervals are below their means, and `reached` is below the target."""
    is_stacked: bool
    """Whether what tells variants apart is one column, a line each."""
    has_limits: bool
    """Whether there is a column for what limited the runs."""


def _table(rows: Sequence[Row], name: str, layout: _Layout) -> Table:
    words, texts = _words(rows, name, layout)
    table = captioned(Table(box=SIMPLE_HEAD, show_edge=False, pad_edge=False), words)
    table.collapse_padding = True
    for number, heading in enumerate(words.header):
        table.add_column(Text(heading), justify="left" if number < texts else "right", overflow="fold")
    return add_rows(table, words)


def _words(rows: Sequence[Row], name: str, layout: _Layout) -> tuple[exhibits.Table, int]:
    """Return the table in a layout, with line breaks in its cells, and how many of its columns stand flush left."""
    facts, telling = dict(rows[0].variant), telling_keys(rows)
    same = [which if key in _NAMES else f"{key} {which}" for key, which in facts.items() if key not in telling]
    title = f"{', '.join([name, *same])}: mean over seeds and 95 % interval"
    reached = _reached(rows) if layout.is_tight else [""] * len(rows)
    headings = ["\n".join(telling)] if layout.is_stacked and telling else telling
    texts = [*headings, "target,\nreached" if any(reached) else "target"]
    columns = {heading: entries for heading, entries in _columns(rows, layout).items() if any(entries)}
    cells = []
    for number, row in enumerate(rows):
        own = _entries(row, telling)
        variant = ["\n".join(own)] if layout.is_stacked and telling else own
        target = f"{row.target}\n{reached[number]}".strip()
        cells.append((*variant, target, *(entries[number] for entries in columns.values())))
    return exhibits.Table("comparison", title, (*texts, *columns), tuple(cells)), len(texts)


def telling_keys(rows: Sequence[Row]) -> list[str]:
    """Return what is not the same in all rows; a variant may lack what another one names."""
    facts = [dict(row.variant) for row in rows]
    named = dict.fromkeys(key for variant in facts for key in variant)
    return [key for key in named if len({variant.get(key) for variant in facts}) > 1]


def _entries(row: Row, telling: Sequence[str]) -> list[str]:
    return [dict(row.variant).get(key, "") for key in telling]


def _columns(rows: Sequence[Row], layout: _Layout) -> dict[str, list[str]]:
    """Return by heading an entry for each row."""

    def shown(measure: str, formatted: Callable[[float], str]) -> list[str]:
        return [_shown(row.measures[measure], formatted, layout.is_tight) for row in rows]

    times = shown("simulated_s", _seconds)
    return {
        "covered": [_covered(row) for row in rows],
        "reached": [] if layout.is_tight else _reached(rows),
        "accuracy": shown("accuracy", lambda value: f"{value:.3f}"),
        "round": shown("round", lambda value: f"{value:.4g}"),
        "simulated\ntime": [
            time if row.reason is None else f"refused {_REFUSED}" for row, time in zip(rows, times, strict=True)
        ],
        "bytes": shown("bytes", format_bytes),
        "energy": [
            f"{joules} {EXTRAPOLATED}" if joules and row.extrapolated else joules
            for row, joules in zip(rows, shown("energy_j", format_joules), strict=True)
        ],
        "time, less\nreference's": _differences(rows, layout),
        "limited by": [(row.limited_by or "").replace(" ", "\n", 1) for row in rows] if layout.has_limits else [],
    }


def _reached(rows: Sequence[Row]) -> list[str]:
    return ["" if row.target == END else f"{row.reached} of {row.seeds}" for row in rows]


def _covered(row: Row) -> str:
    """Return such as 102/150; a mark says that it is not whole."""
    if row.coverage is None:
        return ""
    share = f"{row.coverage.covered_text}/{row.coverage.sensors}"
    return share if row.coverage.is_whole else f"{share} {_PARTIAL}"


def _differences(rows: Sequence[Row], layout: _Layout) -> list[str]:
    """Return an entry for each row; none at all where there is nothing to compare."""
    if not any(row.differences["simulated_s"] for row in rows):
        return []
    return [
        "reference"
        if row.is_reference
        else _shown(row.differences["simulated_s"], _seconds, layout.is_tight, sign=True)
        for row in rows
    ]


def _shown(value: Estimate | None, formatted: Callable[[float], str], is_tight: bool, *, sign: bool = False) -> str:
    if value is None:
        return ""
    mean = f"{'-' if value.mean < 0 else '+' if sign else ''}{formatted(abs(value.mean))}"
    if not value.half_width:
        return mean
    return f"{mean}{_BELOW if is_tight else _BESIDE}{formatted(value.half_width)}"


def _seconds(value: float) -> str:
    return "0 s" if value == 0 else format_seconds(value)
