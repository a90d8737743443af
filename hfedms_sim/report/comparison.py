"""The table of a campaign, for people, and how far a campaign is."""

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager

from rich.console import Console
from rich.progress import BarColumn, Progress, TextColumn
from rich.table import Table

from hfedms_sim.campaign import Row, Standing
from hfedms_sim.campaign.comparison import END
from hfedms_sim.campaign.statistics import Estimate
from hfedms_sim.units import format_bytes, format_joules, format_seconds

_NAMES = ("profile", "strategy")  # whose values speak for themselves

OnStanding = Callable[[Standing], None]


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
def trial_progress(console: Console, quiet: bool) -> Iterator[OnStanding]:
    """A bar on a terminal, a line whenever another tenth of the trials is done elsewhere."""
    if quiet:
        yield lambda standing: None
    elif console.is_terminal:
        columns = (TextColumn("{task.description}"), BarColumn(), TextColumn("{task.fields[state]}"))
        with Progress(*columns, console=console, transient=True) as bar:
            task = bar.add_task("timing", total=1, state="")
            yield lambda standing: bar.update(
                task,
                description=standing.phase,
                total=standing.trials,
                completed=standing.done + standing.failed,
                state=_state(standing),
            )
    else:
        yield _lines(console)


def _lines(console: Console) -> OnStanding:
    told: tuple[str, int, int] = ("", 0, 0)

    def on_standing(standing: Standing) -> None:
        nonlocal told
        now = (standing.phase, standing.done * 10 // max(1, standing.trials), standing.failed)
        if now != told:
            told = now
            console.print(f"{standing.phase}: {_state(standing)}", highlight=False)

    return on_standing


def _state(standing: Standing) -> str:
    return f"{standing.done}/{standing.trials} trials done, {standing.running} running, {standing.failed} failed"
