"""How far a campaign is: a bar on a terminal, lines elsewhere, nothing when quiet.

Both name the trials that are running. Where these are too many, as many as there is room for are named and the others
counted.
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from math import inf
from time import monotonic

from rich.console import Console, RenderableType
from rich.progress import BarColumn, Progress, TextColumn
from rich.text import Text

from hfedms_sim.campaign import Ended, Standing
from hfedms_sim.report.progress.remaining import time_left

_LINE_EVERY_S, _LEAST_BETWEEN_LINES_S = 30.0, 1.0
_MOST_NAMES = 8


@contextmanager
def trial_progress(
    console: Console, quiet: bool, clock: Callable[[], float] = monotonic
) -> Iterator[Callable[[Standing], None]]:
    """Show a bar on a terminal; elsewhere a line when a trial ends, and every 30 s."""
    if quiet:
        yield lambda standing: None
    elif console.is_terminal:
        with _Bar(console) as bar:
            yield bar.take
    else:
        lines = _Lines(console, clock)
        yield lines.take
        lines.flush()


class _Bar(Progress):
    """Rounds and the time left in one line, trials and their names in the next."""

    def __init__(self, console: Console) -> None:
        columns = (TextColumn("{task.description}"), BarColumn(), TextColumn("{task.fields[state]}", markup=False))
        self._below = Text()
        super().__init__(*columns, console=console, transient=True)
        self._task = self.add_task("timing", total=1, state="")

    def take(self, standing: Standing) -> None:
        """Show how far the campaign is."""
        trials = f"{_trials(standing)}{'; now: ' if standing.running_trials else ''}"
        names = fitting(standing.running_trials, self.console.width - len(trials))
        self._below = Text(f"{trials}{names}", no_wrap=True, overflow="ellipsis")
        self.update(
            self._task,
            description=standing.phase,
            total=standing.rounds,
            completed=standing.rounds_done,
            state=", ".join(_rounds(standing)),
        )

    def get_renderables(self) -> Iterable[RenderableType]:
        """Give rich the bar, and the line below it."""
        yield from super().get_renderables()
        yield self._below


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
        ended = [each.trial if each.accuracy is None else f"{each.trial} {each.accuracy:.3f}" for each in self._ended]
        parts = [", ".join([_trials(standing), *_rounds(standing)])]
        parts += [f"ended: {_counted(ended, _MOST_NAMES)}"] if ended else []
        parts += [f"now: {_counted(standing.running_trials, _MOST_NAMES)}"] if standing.running_trials else []
        line = f"{standing.phase}: {'; '.join(parts)}"
        self._console.print(line, highlight=False, markup=False, soft_wrap=True)
        self._told, self._told_s, self._ended = standing, self._clock(), []


def fitting(names: Sequence[str], columns: int) -> str:
    """Return as many names as fit into a line, one at least, and how many more there are."""
    most = next((most for most in range(len(names), 1, -1) if len(_counted(names, most)) <= columns), 1)
    return _counted(names, most)


def _counted(names: Sequence[str], most: int) -> str:
    more = [f"{len(names) - most} more"] if len(names) > most else []
    return ", ".join([*names[:most], *more])


def _trials(standing: Standing) -> str:
    return f"{standing.done}/{standing.trials} trials done, {standing.running} running, {standing.failed} failed"


def _rounds(standing: Standing) -> list[str]:
    rounds = f"round {standing.rounds_done:,} of {standing.rounds:,}"
    if standing.eta_s is None or not standing.running:
        return [rounds]
    return [rounds, time_left(standing.eta_s, is_bound=standing.may_stop_early)]
