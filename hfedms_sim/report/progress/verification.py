"""How far a verification is: a bar on a terminal, nothing elsewhere."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager

from rich.console import Console
from rich.progress import BarColumn, Progress, TextColumn

from hfedms_sim.integrity import At


@contextmanager
def verification_progress(console: Console) -> Iterator[Callable[[At], None]]:
    """Give what is to be told how far a verification is."""
    if not console.is_terminal:
        yield lambda at: None
        return
    columns = (TextColumn("verifying"), BarColumn(), TextColumn("{task.fields[state]}", markup=False))
    with Progress(*columns, console=console, transient=True, redirect_stdout=False) as bar:
        task = bar.add_task("", total=None, state="")
        yield lambda at: bar.update(task, completed=at.done, total=at.total, state=f"{at.done}/{at.total} {at.what}")
