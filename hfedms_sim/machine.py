"""What the machine has left for a run: memory, within the limits of a container too, and room on a disk."""

import os
import shutil
from math import inf
from pathlib import Path

_MEMINFO = Path("/proc/meminfo")
_CGROUP = Path("/sys/fs/cgroup")


def available_memory_bytes() -> float:
    """Return how much memory can be had without swapping; infinity where the system does not tell."""
    return min(_of_system_bytes(), _of_container_bytes())


def free_disk_bytes(directory: Path) -> float:
    """Return the room on the disk of a directory, or of the nearest one above it that is there."""
    try:
        there = next((each for each in (directory, *directory.absolute().parents) if each.is_dir()), Path("/"))
        return float(shutil.disk_usage(there).free)
    except OSError:  # a working directory that is gone, for instance
        return inf


def _of_system_bytes() -> float:
    try:
        lines = dict(line.split(":", 1) for line in _MEMINFO.read_text().splitlines())
        return 1024.0 * int(lines["MemAvailable"].split()[0])
    except (OSError, KeyError, ValueError):
        pass
    try:
        return float(os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES"))
    except (OSError, ValueError, AttributeError):  # not everywhere
        return inf


def _of_container_bytes() -> float:
    """Return what a control group leaves to its processes; infinity if there is no limit."""
    try:
        most, used = ((_CGROUP / name).read_text().strip() for name in ("memory.max", "memory.current"))
        return inf if most == "max" else max(0.0, float(most) - float(used))
    except (OSError, ValueError):
        return inf
