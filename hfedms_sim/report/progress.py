"""How far a run is: a bar on a terminal, a line now and then elsewhere, nothing when quiet."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager

from rich.console import Console
from rich.progress import BarColumn, Progress, TextColumn, TimeRemainingColumn

from hfedms_sim.simulation import Progress as RoundProgress
from hfedms_sim.units import format_seconds

OnRound = Callable[[RoundProgress], None]


@contextmanager
def round_progress(console: Console, rounds: int, quiet: bool) -> Iterator[OnRound]:
    if quiet:
        yield lambda progress: None
    elif console.is_terminal:
        with _bar(console) as bar:
            task = bar.add_task("", total=rounds, state="")
            yield lambda progress: bar.update(task, completed=progress.round, state=_state(progress))
    else:
        yield _lines(console, rounds)


def _bar(console: Console) -> Progress:
    return Progress(
        TextColumn("round {task.completed}/{task.total}"),
        BarColumn(),
        TextColumn("{task.fields[state]}"),
        TimeRemainingColumn(),
        console=console,
        transient=True,
    )


def _lines(console: Console, rounds: int) -> OnRound:
    """A line every tenth of the run."""

    def on_round(progress: RoundProgress) -> None:
        if progress.round * 10 // rounds > (progress.round - 1) * 10 // rounds:
            console.print(f"round {progress.round}/{rounds}, {_state(progress)}", highlight=False)

    return on_round


def _state(progress: RoundProgress) -> str:
    simulated = f"{format_seconds(progress.simulated_s)} simulated"
    return simulated if progress.accuracy is None else f"{simulated}, accuracy {progress.accuracy:.3f}"
