"""How far a run is: a bar on a terminal, a line now and then elsewhere, nothing when quiet."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from time import monotonic

from rich.console import Console
from rich.progress import BarColumn, Progress, ProgressColumn, Task, TextColumn
from rich.text import Text

from hfedms_sim.report.progress.remaining import RoundPace, time_left
from hfedms_sim.scenario import Scenario
from hfedms_sim.simulation import Progress as RoundProgress
from hfedms_sim.units import format_seconds

OnRound = Callable[[RoundProgress], None]

_FEWEST_KEPT = 10
_WIDE_COLUMNS = 140  # of a terminal in which everything has room
_BAR_COLUMNS, _SHORT_BAR_COLUMNS = 40, 10


@contextmanager
def round_progress(
    console: Console,
    scenario: Scenario,
    quiet: bool,
    *,
    timing_only: bool = False,
    clock: Callable[[], float] = monotonic,
) -> Iterator[OnRound]:
    """Give what is to be told of every round. `timing_only`: no accuracy will end the run."""
    if quiet:
        yield lambda progress: None
        return
    left = _TimeLeft(scenario, timing_only, clock)
    if console.is_terminal:
        with _bar(console, left) as bar:
            task = bar.add_task("", total=scenario.rounds, state="")

            def on_round(progress: RoundProgress) -> None:
                left.note(progress)
                bar.update(task, completed=progress.round, state=_state(progress))

            yield on_round
    else:
        yield _lines(console, scenario.rounds, left)


class _TimeLeft:
    """Says how long a run will still take, at most if it may stop before its last round."""

    def __init__(self, scenario: Scenario, timing_only: bool, clock: Callable[[], float]) -> None:
        longest_cycle = max(_FEWEST_KEPT, scenario.evaluate_every, scenario.strategy.cycle_rounds)
        self._pace = RoundPace(2 * longest_cycle, clock)
        self._rounds_left = scenario.rounds
        self._rounds = scenario.rounds
        self._stop_at = None if timing_only else scenario.stop_at
        self._stop_after_s = scenario.stop_after_s

    def note(self, progress: RoundProgress) -> None:
        """Note a round that has ended."""
        self._pace.note(progress.trained)
        is_good = self._stop_at is not None and progress.accuracy is not None and progress.accuracy >= self._stop_at
        is_late = self._stop_after_s is not None and progress.simulated_s >= self._stop_after_s
        self._rounds_left = 0 if is_good or is_late else self._rounds - progress.round

    def said(self, *, is_short: bool = False) -> str:
        """Return the time left in words, nothing until it can be told; the short form does not say what ends it."""
        seconds = self._pace.left_s(self._rounds_left)
        if seconds is None:
            return ""
        ends = self._ends()
        return time_left(seconds, ends="" if is_short else ends, is_bound=bool(ends))

    def _ends(self) -> str:
        """Return what ends the run before its last round, if anything does."""
        at = [] if self._stop_at is None else [f"at accuracy {self._stop_at:g}"]
        after = [] if self._stop_after_s is None else [f"after {format_seconds(self._stop_after_s)} simulated"]
        return f"stops {' or '.join([*at, *after])}" if at or after else ""


class _TimeLeftColumn(ProgressColumn):
    """Is rendered anew while a round goes on, so that the time left runs down."""

    def __init__(self, left: _TimeLeft, is_short: bool) -> None:
        super().__init__()
        self._left = left
        self._is_short = is_short

    def render(self, task: Task) -> Text:
        """Return the time left."""
        return Text(self._left.said(is_short=self._is_short), style="progress.remaining")


def _bar(console: Console, left: _TimeLeft) -> Progress:
    is_narrow = console.width < _WIDE_COLUMNS
    return Progress(
        TextColumn("round {task.completed}/{task.total}"),
        BarColumn(_SHORT_BAR_COLUMNS if is_narrow else _BAR_COLUMNS),
        TextColumn("{task.fields[state]}", markup=False),
        _TimeLeftColumn(left, is_narrow),
        console=console,
        transient=True,
    )


def _lines(console: Console, rounds: int, left: _TimeLeft) -> OnRound:
    """Print a line every tenth of the run."""

    def on_round(progress: RoundProgress) -> None:
        left.note(progress)
        if progress.round * 10 // rounds > (progress.round - 1) * 10 // rounds:
            said = ", ".join(filter(None, (f"round {progress.round}/{rounds}", _state(progress), left.said())))
            console.print(said, highlight=False, markup=False)

    return on_round


def _state(progress: RoundProgress) -> str:
    simulated = f"{format_seconds(progress.simulated_s)} simulated"
    return simulated if progress.accuracy is None else f"{simulated}, accuracy {progress.accuracy:.3f}"
