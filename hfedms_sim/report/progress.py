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
            task = bar.add_task("", total=rounds, simulated="0 s")
            yield lambda progress: bar.update(
                task, completed=progress.round, simulated=format_seconds(progress.simulated_s)
            )
    else:
        yield _lines(console, rounds)


def _bar(console: Console) -> Progress:
    return Progress(
        TextColumn("round {task.completed}/{task.total}"),
        BarColumn(),
        TextColumn("{task.fields[simulated]} simulated"),
        TimeRemainingColumn(),
        console=console,
        transient=True,
    )


def _lines(console: Console, rounds: int) -> OnRound:
    """A line every tenth of the run."""

    def on_round(progress: RoundProgress) -> None:
        if progress.round * 10 // rounds > (progress.round - 1) * 10 // rounds:
            simulated = format_seconds(progress.simulated_s)
            console.print(f"round {progress.round}/{rounds}, {simulated} simulated", highlight=False)

    return on_round
