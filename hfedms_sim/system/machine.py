"""What this machine has: the memory that a process may still take, and what is said when that is not enough.

A process may be held by several limits at once: what the machine has free, that of its control group (a container, a
batch system) and of every group around it, and its own (ulimit -v). The least counts. Swap does not: a run that needs
it takes forever. What the system's cache of files holds is given back when it is needed, so it counts as free.
"""

import os
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path

from hfedms_sim.errors import InputError, RunError
from hfedms_sim.units import format_bytes, parse_bytes

try:
    import resource
except ImportError:  # no such limits on Windows
    resource = None  # type: ignore[assignment]

MEMORY_LIMIT = "HFEDMS_SIM_MEMORY_LIMIT"
"""Environment variable: what a process may take, such as 2GB, instead of all that is free."""

_OUT_OF_MEMORY = ("can't allocate memory", "out of memory", "std::bad_alloc")
"""How PyTorch, which raises RuntimeError, and compiled libraries say it."""
_LONGEST_DETAIL = 200


def available_memory_bytes(root: Path = Path("/")) -> int | None:
    """Return how much memory this process may still take; None where the system does not tell.

    `root` is where the system's files are. What the user allows (`MEMORY_LIMIT`) is the answer where it is less.
    """
    allowed_bytes = limit_of(MEMORY_LIMIT, parse_bytes)
    found = [*_free_on_machine(root), *_free_in_groups(root), *_free_by_own_limit(root)]
    found += [] if allowed_bytes is None else [int(allowed_bytes)]
    return max(0, min(found)) if found else None


def limit_of(variable: str, parse: Callable[[str], float | None]) -> float | None:
    """Return what an environment variable allows; None if it is not set."""
    text = os.environ.get(variable)
    if not text:
        return None
    allowed = parse(text)
    if allowed is None:
        raise InputError(f"{variable} = {text!a:.60}: must be a number with a unit, such as 2GB or 10min")
    return allowed


def free_disk_bytes(directory: Path) -> int | None:
    """Return the room on the disk of a directory, or of the nearest one above it that is there; None: nobody knows."""
    try:
        there = next((each for each in (directory, *directory.absolute().parents) if each.is_dir()), Path("/"))
        return shutil.disk_usage(there).free
    except OSError:  # a working directory that is gone, for instance
        return None


def require_memory(needed_bytes: float) -> None:
    """Raise MemoryError, with both figures, if something needs more than there is."""
    require_within(needed_bytes, available_memory_bytes())


def require_within(needed_bytes: float, available_bytes: int | None) -> None:
    """Raise MemoryError, with both figures, if something needs more than was available when it began."""
    if available_bytes is not None and needed_bytes > available_bytes:
        raise MemoryError(f"needs about {format_bytes(needed_bytes)}, there are {format_bytes(available_bytes)}")


def not_enough_memory(error: BaseException | None) -> RunError | None:
    """Return the one line for an error that says that memory is not enough; None for any other."""
    text = " ".join(str(error).split())
    if isinstance(error, MemoryError) or (
        isinstance(error, RuntimeError) and any(words in text for words in _OUT_OF_MEMORY)
    ):
        return RunError(f"not enough memory{f' ({text[:_LONGEST_DETAIL]})' if text else ''}")
    return None


def _free_on_machine(root: Path) -> Iterator[int]:
    free_kb = _fields(root / "proc/meminfo").get("MemAvailable:")
    if free_kb is not None:
        yield free_kb * 1024
    elif root == Path("/") and "SC_PHYS_PAGES" in getattr(os, "sysconf_names", {}):  # no Linux: all that there is
        yield os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")


def _free_in_groups(root: Path) -> Iterator[int]:
    """Yield what each control group around this process leaves, of either version of their files."""
    for controllers, group in _groups(root / "proc/self/cgroup"):
        if controllers == "":
            place, limit, used = root / "sys/fs/cgroup", "memory.max", "memory.current"
        elif "memory" in controllers.split(","):
            place, limit, used = root / "sys/fs/cgroup/memory", "memory.limit_in_bytes", "memory.usage_in_bytes"
        else:
            continue
        own = place / group.lstrip("/")
        for directory in (own, *own.parents):
            if directory.is_relative_to(place):
                yield from _left(directory, limit, used)


def _left(directory: Path, limit: str, used: str) -> Iterator[int]:
    limit_bytes, used_bytes = _number(directory / limit), _number(directory / used)
    if limit_bytes is not None and used_bytes is not None:  # "max" is no number
        cache_bytes = _fields(directory / "memory.stat").get("inactive_file", 0)
        yield limit_bytes - used_bytes + cache_bytes


def _free_by_own_limit(root: Path) -> Iterator[int]:
    if resource is None or root != Path("/"):
        return
    limit_bytes, _ = resource.getrlimit(resource.RLIMIT_AS)
    pages = _text(root / "proc/self/statm").split()
    if limit_bytes != resource.RLIM_INFINITY and pages:
        yield limit_bytes - int(pages[0]) * os.sysconf("SC_PAGE_SIZE")


def _groups(path: Path) -> Iterator[tuple[str, str]]:
    """Yield the controllers and the path of each control group of this process."""
    for line in _text(path).splitlines():
        _, controllers, group = line.split(":", 2)
        yield controllers, group


def _fields(path: Path) -> dict[str, int]:
    """Return the numbers of a file of names and numbers."""
    words = (line.split() for line in _text(path).splitlines())
    return {line[0]: int(line[1]) for line in words if len(line) > 1 and line[1].isdigit()}


def _number(path: Path) -> int | None:
    text = _text(path).strip()
    return int(text) if text.isdigit() else None


def _text(path: Path) -> str:
    try:
        return path.read_text(encoding="ascii", errors="replace")
    except OSError:
        return ""
