"""The processes of a session, and what one of them holds, seen from outside through Linux's /proc."""

from pathlib import Path
from time import monotonic, sleep
from typing import NamedTuple

_PROC = Path("/proc")
_LOOK_EVERY_S = 0.02


class Held(NamedTuple):
    """What a process holds at a moment."""

    rss_bytes: int
    descriptors: int
    threads: int


def members(session: int) -> list[int]:
    """Return the living processes of a session: whatever its first one has started, also if that is gone."""
    numbers = [int(entry.name) for entry in _PROC.iterdir() if entry.name.isdigit()]
    return [number for number in numbers if _session_of(number) == session]


def is_gone(session: int, within_s: float) -> bool:
    """Return whether every process of a session ends by itself within so many seconds."""
    deadline_s = monotonic() + within_s
    while members(session):
        if monotonic() > deadline_s:
            return False
        sleep(_LOOK_EVERY_S)
    return True


def workers_of(campaign: int) -> list[int]:
    """Return the workers of a campaign that leads a session; what a worker has forked looks alike, but is no worker."""
    return [each for each in members(campaign) if _stat_of(each)[1:2] == [str(campaign)] and _is_spawned(each)]


def carries(process: int, mark: str) -> bool:
    """Return whether a process was started with a variable NAME=VALUE in its environment."""
    try:
        return mark.encode() in (_PROC / str(process) / "environ").read_bytes().split(b"\0")
    except OSError:
        return False


def held_by(process: int) -> Held | None:
    """Return what a process holds; None if it has ended."""
    try:
        fields = dict(line.split(":", 1) for line in (_PROC / str(process) / "status").read_text().splitlines())
        descriptors = len(list((_PROC / str(process) / "fd").iterdir()))
        return Held(int(fields["VmRSS"].split()[0]) * 1024, descriptors, int(fields["Threads"]))
    except (OSError, KeyError):  # one that has ended, but was not waited for, has no memory
        return None


def _is_spawned(process: int) -> bool:
    """Return whether Python started a process as one of its own; its resource tracker is not."""
    try:
        return b"spawn_main" in (_PROC / str(process) / "cmdline").read_bytes()
    except OSError:
        return False


def _session_of(process: int) -> int | None:
    """Return the session of a living process."""
    fields = _stat_of(process)
    return None if not fields or fields[0] == "Z" else int(fields[3])


def _stat_of(process: int) -> list[str]:
    """Return state, parent, group, session and so on; nothing if the process has ended."""
    try:
        return (_PROC / str(process) / "stat").read_text().rpartition(")")[2].split()
    except OSError:
        return []
