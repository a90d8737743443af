"""A process that leads a session, with all it started, seen from outside through Linux's /proc.

Memory is the proportional set size: a page that several processes share, as those of Ray's object store, counts once.
"""

import os
import signal
from collections import defaultdict
from contextlib import suppress
from pathlib import Path

_PROC = Path("/proc")


def family(root: int) -> list[int]:
    """Those alive: the session, also what the root left behind when it ended, and all their descendants."""
    children: dict[int, list[int]] = defaultdict(list)
    found: dict[int, None] = {}
    for process in [int(entry.name) for entry in _PROC.iterdir() if entry.name.isdigit()]:
        if fields := _stat_fields(process):
            _, parent, _, session, *_ = fields
            children[int(parent)].append(process)
            if int(session) == root:
                found[process] = None
    waiting = list(found)
    while waiting:
        new = [child for child in children[waiting.pop()] if child not in found]
        found |= dict.fromkeys(new)
        waiting += new
    return list(found)


def memory_bytes(root: int) -> int:
    return sum(_memory_bytes(process) for process in family(root))


def cpu_s(root: int) -> float:
    """Return the processor time of those alive, and of their children that have ended."""
    ticks = sum(sum(map(int, fields[11:15])) for process in family(root) if (fields := _stat_fields(process)))
    return ticks / os.sysconf("SC_CLK_TCK")


def send(root: int, wanted: signal.Signals) -> None:
    for process in family(root):
        with suppress(ProcessLookupError):  # has ended meanwhile
            os.kill(process, wanted)


def _stat_fields(process: int) -> list[str]:
    """From the third field, the state, on; the second, a name, may hold anything. Empty if the process has ended."""
    try:
        return (_PROC / str(process) / "stat").read_text().rpartition(")")[2].split()
    except (FileNotFoundError, ProcessLookupError):
        return []


def _memory_bytes(process: int) -> int:
    try:
        lines = (_PROC / str(process) / "smaps_rollup").read_text().splitlines()
    except (FileNotFoundError, ProcessLookupError, PermissionError):
        return 0
    return sum(int(line.split()[1]) * 1024 for line in lines if line.startswith("Pss:"))
