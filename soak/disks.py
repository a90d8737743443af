"""Disks that are full: by a limit on the size of files, which anybody can have, or a small disk, where one may mount.

A command ends with one line and exit code 1, or is refused with 2 where a run is estimated to need more room than there
is; and it goes on to the same outcome when there is room again.
"""

import shutil
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from math import exp, log
from pathlib import Path
from random import Random

from soak.commands import Ended
from soak.scene import Scene
from soak.subjects import SUBJECTS

_LEAST_BYTES, _PAGE_BYTES = 200, 4096
_LEAST_PAGES = 4
"""A disk with less cannot even hold the directory, which is refused before anything is begun."""
_ROOM = "size=1g"
_REFUSED = " on the disk, most for "


def files_too_large(scene: Scene) -> None:
    """Let a command write small files only, then go on without a limit."""
    subject = scene.random.choice(list(SUBJECTS.values()))
    largest_bytes = max(len(content) for content in scene.whole(subject).outcome.values())
    most_bytes = _drawn(scene.random, _LEAST_BYTES, 2 * largest_bytes)
    _require_full(scene.end(scene.begin(subject, most_bytes), 0, 1))
    scene.finish(subject)


def disk_full(scene: Scene) -> None:
    """Let a command write to a small disk, which then grows; whoever may not mount one has a limit on files."""
    subject = scene.random.choice(list(SUBJECTS.values()))
    most_pages = scene.whole(subject).size_bytes // _PAGE_BYTES + _LEAST_PAGES
    pages = _drawn(scene.random, _LEAST_PAGES, 2 * most_pages)
    with _small_disk(scene.disk, pages * _PAGE_BYTES) as is_mounted:
        if not is_mounted:
            files_too_large(scene)
            return
        scene.remember()
        _require_full(scene.end(scene.begin(subject), 0, 1, 2))
        _mount("-o", f"remount,{_ROOM}", str(scene.disk))
        scene.finish(subject)


@contextmanager
def _small_disk(place: Path, size_bytes: int) -> Iterator[bool]:
    """Mount a disk in memory, if that is allowed; what a failure leaves on it is kept beside it."""
    place.mkdir()
    if not _mount("-t", "tmpfs", "-o", f"size={size_bytes}", "tmpfs", str(place)):
        place.rmdir()
        yield False
        return
    try:
        yield True
    except BaseException:
        shutil.copytree(place, place.with_name("kept"), symlinks=True)
        raise
    finally:
        subprocess.run(["umount", "--lazy", str(place)], check=True, capture_output=True)


def _mount(*arguments: str) -> bool:
    if shutil.which("mount") is None:
        return False
    return subprocess.run(["mount", *arguments], capture_output=True).returncode == 0


def _require_full(ended: Ended) -> None:
    if ended.exit_code:
        ended.require_error(2 if _REFUSED in ended.errors else 1)


def _drawn(random: Random, least: int, most: int) -> int:
    """Draw a number so that small ones are as likely as large ones."""
    return round(exp(random.uniform(log(least), log(most))))
