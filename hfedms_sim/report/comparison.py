"""The table of a campaign, for people, and how far a campaign is."""

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from math import floor, inf
from time import monotonic
from typing import NamedTuple

from rich.box import SIMPLE_HEAD
from rich.console import Console
from rich.progress import BarColumn, Progress, TextColumn
from rich.table import Table
from rich.text import Text

from hfedms_sim.campaign import Ended, Row, Standing, Variant
from hfedms_sim.campaign.comparison import END
from hfedms_sim.campaign.statistics import Estimate
from hfedms_sim.report.energy import EXTRAPOLATED, extrapolated_line
from hfedms_sim.report.not_modelled import OMISSIONS
from hfedms_sim.units import format_bytes, format_joules, format_seconds

NOT_MODELLED = tuple(each.short for each in OMISSIONS if each.short)
WIDEST_COLUMNS = 100

_NAMES = ("profile", "strategy")  # whose values speak for themselves
_BESIDE, _BELOW = " ± ", "\n±"
_PARTIAL, _REFUSED = "*", "†"

_LINE_EVERY_S, _LEAST_BETWEEN_LINES_S = 30.0, 1.0
_MOST_NAMES = 8


def comparison_table(rows: Sequence[Row], name: str) -> Table:
    """Return the table in the plainest layout that fits; the last one lets cells wrap, so that nothing is ever cut.

    What is the same in all rows is in the title; columns that would be empty are left out. What limited the runs is
    there where it fits without another layout.
    """
    endless = Console(width=10_000)
    shapes = ((False, False), (True, False), (True, True))
    tables = [_table(rows, name, _Layout(*shape, has_limits)) for shape in shapes for has_limits in (True, False)]
    return next((table for table in tables if endless.measure(table).maximum <= WIDEST_COLUMNS), tables[-1])


def comparison_notes(rows: Sequence[Row]) -> list[str]:
    """Return the lines that belong below the table: what its signs mean, and what no figure in it has."""
    telling = _telling(rows)
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
    missing = dict.fromkeys(entry for row in rows for entry in row.energy_missing)
    notes += (
        [f"joules are not modelled where a radio's currents are not known: {'; '.join(missing)}"] if missing else []
    )
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
    facts, telling = dict(rows[0].variant), _telling(rows)
    same = [which if key in _NAMES else f"{key} {which}" for key, which in facts.items() if key not in telling]
    title = f"{', '.join([name, *same])}: mean over seeds and 95 % interval"
    table = Table(title=title, title_justify="left", box=SIMPLE_HEAD, show_edge=False, pad_edge=False)
    table.collapse_padding = True
    headings = ["\n".join(telling)] if layout.is_stacked and telling else telling
    reached = _reached(rows) if layout.is_tight else [""] * len(rows)
    for heading in (*headings, "target,\nreached" if any(reached) else "target"):
        table.add_column(heading, overflow="fold")
    columns = {heading: entries for heading, entries in _columns(rows, layout).items() if any(entries)}
    for heading in columns:
        table.add_column(heading, justify="right", overflow="fold")
    for number, row in enumerate(rows):
        own = _entries(row, telling)
        variant = ["\n".join(own)] if layout.is_stacked and telling else own
        target = f"{row.target}\n{reached[number]}".strip()
        table.add_row(*map(Text, variant), target, *(entries[number] for entries in columns.values()))
    return table


def _telling(rows: Sequence[Row]) -> list[str]:
    """Return what is not the same in all rows."""
    facts = [dict(row.variant) for row in rows]
    return [key for key in facts[0] if len({variant[key] for variant in facts}) > 1]


def _entries(row: Row, telling: Sequence[str]) -> list[str]:
    return [dict(row.variant)[key] for key in telling]


def _columns(rows: Sequence[Row], layout: _Layout) -> dict[str, list[str]]:
    """By heading, an entry for each row."""

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
    """Return such as 102/150; a mean over seeds is rounded down, so that it never looks whole if it is not."""
    if row.coverage is None:
        return ""
    sensors, covered = row.coverage
    share = f"{floor(10 * covered) / 10:.1f}".removesuffix(".0") + f"/{sensors}"
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


@contextmanager
def trial_progress(
    console: Console, quiet: bool, clock: Callable[[], float] = monotonic
) -> Iterator[Callable[[Standing], None]]:
    """Show a bar on a terminal; elsewhere a line when a trial ends, and every 30 s."""
    if quiet:
        yield lambda standing: None
    elif console.is_terminal:
        columns = (TextColumn("{task.description}"), BarColumn(), TextColumn("{task.fields[state]}"))
        with Progress(*columns, console=console, transient=True) as bar:
            task = bar.add_task("timing", total=1, state="")
            yield lambda standing: bar.update(
                task,
                description=standing.phase,
                total=standing.rounds,
                completed=standing.rounds_done,
                state=_state(standing),
            )
    else:
        lines = _Lines(console, clock)
        yield lines.take
        lines.flush()


class _Lines:
    """Prints where a campaign is: at once what has ended, but at most a line a second."""

    def __init__(self, console: Console, clock: Callable[[], float]) -> None:
        self._console = console
        self._clock = clock
        self._told_s = -inf
        self._newest: Standing | None = None
        self._told: Standing | None = None
        self._ended: list[Ended] = []

    def take(self, standing: Standing) -> None:
        before, self._newest = self._newest, standing
        self._ended += standing.ended
        since_s = self._clock() - self._told_s
        is_news = (
            bool(self._ended) or before is None or before.phase != standing.phase or before.failed < standing.failed
        )
        if since_s >= _LINE_EVERY_S or (is_news and since_s >= _LEAST_BETWEEN_LINES_S):
            self._print(standing)

    def flush(self) -> None:
        """Print what was held back because another line had just been printed."""
        if self._newest is not None and self._newest is not self._told:
            self._print(self._newest)

    def _print(self, standing: Standing) -> None:
        names = [each.trial if each.accuracy is None else f"{each.trial} {each.accuracy:.3f}" for each in self._ended]
        more = [f"{len(names) - _MOST_NAMES} more"] if len(names) > _MOST_NAMES else []
        ended = f"; ended: {', '.join([*names[:_MOST_NAMES], *more])}" if names else ""
        self._console.print(f"{standing.phase}: {_state(standing)}{ended}", highlight=False, soft_wrap=True)
        self._told, self._told_s, self._ended = standing, self._clock(), []


def _state(standing: Standing) -> str:
    trials = f"{standing.done}/{standing.trials} trials done, {standing.running} running, {standing.failed} failed"
    rounds = f"round {standing.rounds_done:,} of {standing.rounds:,}"
    left = "" if standing.eta_s is None or not standing.running else f", {format_seconds(standing.eta_s)} left"
    return f"{trials}, {rounds}{left}"
