"""The table of a campaign, for people, and how far a campaign is."""

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from math import inf
from time import monotonic

from rich.console import Console
from rich.progress import BarColumn, Progress, TextColumn
from rich.table import Table

from hfedms_sim.campaign import Ended, Row, Standing
from hfedms_sim.campaign.comparison import END
from hfedms_sim.campaign.statistics import Estimate
from hfedms_sim.units import format_bytes, format_joules, format_seconds

_NAMES = ("profile", "strategy")  # whose values speak for themselves

_LINE_EVERY_S, _LEAST_BETWEEN_LINES_S = 30.0, 1.0
_MOST_NAMES = 8


def comparison_table(rows: Sequence[Row], name: str) -> Table:
    """What is the same in all rows is in the title; columns that would be empty are left out."""
    facts = [dict(row.variant) for row in rows]
    same = [key for key in facts[0] if len({variant[key] for variant in facts}) == 1]
    over = ", ".join([name, *(facts[0][key] if key in _NAMES else f"{key} {facts[0][key]}" for key in same)])
    table = Table(title=f"{over}: mean over seeds and 95 % interval", title_justify="left")
    telling = [key for key in facts[0] if key not in same]
    for key in (*telling, "target"):
        table.add_column(key, no_wrap=True)
    columns = {heading: entries for heading, entries in _columns(rows).items() if any(entries)}
    for heading in columns:
        table.add_column(heading, justify="right")
    for number, row in enumerate(rows):
        variant = [facts[number][key] for key in telling]
        table.add_row(*variant, row.target, *(entries[number] for entries in columns.values()))
    return table


def _columns(rows: Sequence[Row]) -> dict[str, list[str]]:
    """By heading, an entry for each row."""

    def shown(measure: str, formatted: Callable[[float], str]) -> list[str]:
        return [_shown(row.measures[measure], formatted) for row in rows]

    return {
        "reached": ["" if row.target == END else f"{row.reached} of {row.seeds}" for row in rows],
        "accuracy": shown("accuracy", lambda value: f"{value:.3f}"),
        "round": shown("round", lambda value: f"{value:.4g}"),
        "simulated time": shown("simulated_s", _seconds),
        "bytes": shown("bytes", format_bytes),
        "energy": shown("energy_j", format_joules),
        "time, less\nthe first's": [_shown(row.differences["simulated_s"], _seconds, sign=True) for row in rows],
    }


def _shown(value: Estimate | None, formatted: Callable[[float], str], *, sign: bool = False) -> str:
    if value is None:
        return ""
    mean = f"{'-' if value.mean < 0 else '+' if sign else ''}{formatted(abs(value.mean))}"
    return mean if not value.half_width else f"{mean} ± {formatted(value.half_width)}"


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
