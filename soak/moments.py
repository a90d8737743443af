"""When a command is killed: at moments that are drawn at random, and lie in every phase of its work.

Seconds alone would hit the long phases only, and others on a busy machine than on an idle one. So a moment is an event
that is seen in the directory, and a short while after it.
"""

import os
from pathlib import Path
from random import Random
from time import monotonic, sleep
from typing import Literal, NamedTuple

from soak.commands import Command

Event = Literal["start", "change", "bytes", "learning", "writing"]
Phase = Literal["starting", "timing", "learning", "writing", "all written"]

EVENTS: tuple[Event, ...] = ("start", "change", "bytes", "learning", "writing")
_LOOK_EVERY_S = 0.002
_LONGEST_AFTER_S: dict[Event, float] = {
    "start": 3.0,
    "change": 1.0,
    "bytes": 0.1,
    "learning": 0.5,
    "writing": 0.002,
}
_LAST_WRITTEN = {"summary.json", "curves.csv", "command.txt"}

Files = dict[Path, tuple[int, int]]
"""How large each file is, and when it was last written."""


class Moment(NamedTuple):
    """An event, how far the directory must have grown (of the bytes it has at the end), and seconds after it."""

    event: Event
    share: float
    after_s: float


def drawn(random: Random, event: Event) -> Moment:
    """Draw a moment of a kind."""
    return Moment(event, random.uniform(0.0, 1.0), random.uniform(0.0, _LONGEST_AFTER_S[event]))


class Watch:
    """Looks at what a command does in a directory, from before it is started."""

    def __init__(self, out: Path) -> None:
        self._out = out
        self._before = files_below(out)

    def awaits(self, moment: Moment, command: Command, whole_bytes: int) -> bool:
        """Wait for the moment; return False if the command ended before it.

        A directory that has so many bytes already, because it is gone on with, is no event: then any growth is.
        """
        least_bytes = max(moment.share * whole_bytes, bytes_of(self._before) + 1)
        looked_s = monotonic()
        while command.is_running and not self._has_come(moment.event, least_bytes):
            sleep(max(_LOOK_EVERY_S, monotonic() - looked_s))  # whoever looks takes half of a processor at most
            looked_s = monotonic()
        deadline_s = monotonic() + moment.after_s
        while command.is_running and monotonic() < deadline_s:
            sleep(min(_LOOK_EVERY_S, moment.after_s))
        return command.is_running

    def phase(self) -> Phase:
        """Return what the command was at when it was killed, by what it changed."""
        changed = self._changed()
        if not changed:
            return "starting"
        if _being_written(changed):
            return "writing"
        if any(path.name in _LAST_WRITTEN for path in changed):
            return "all written"
        return "learning" if _is_learning(changed) else "timing"

    def _has_come(self, event: Event, least_bytes: float) -> bool:
        if event == "start":
            return True
        if event == "bytes":
            return bytes_of(files_below(self._out)) >= least_bytes
        changed = self._changed()
        if event == "learning":
            return _is_learning(changed)
        return bool(changed if event == "change" else _being_written(changed))

    def _changed(self) -> list[Path]:
        return [path for path, state in files_below(self._out).items() if self._before.get(path) != state]


def files_below(directory: Path) -> Files:
    """Return all files of a directory, also while some come and go, at which `Path.rglob` fails."""
    found = {}
    for place, _, names in os.walk(directory):
        for name in names:
            path = Path(place) / name
            try:
                state = path.lstat()
            except OSError:
                continue  # it was renamed meanwhile
            found[path] = (state.st_size, state.st_mtime_ns)
    return found


def bytes_of(files: Files) -> int:
    """Return how many bytes files have together."""
    return sum(size_bytes for size_bytes, _ in files.values())


def _is_learning(changed: list[Path]) -> bool:
    return any(path.name == "metrics.log" for path in changed)


def _being_written(changed: list[Path]) -> list[Path]:
    """Return temporary files, but for a run's tables, which have them all the time."""
    temporary = [path for path in changed if path.name.startswith(".")]
    return [path for path in temporary if not path.name.endswith(".parquet.part")]
