"""Files that are there whole or not at all, also after a power cut; and the files that come with the package."""

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path


@contextmanager
def replacing(path: Path) -> Iterator[Path]:
    """Give an empty temporary file to write to; it becomes `path` when its content has reached the disk.

    Whatever had the temporary name is removed first, not followed: it may be a link that somebody left there.
    """
    temporary = path.with_name(f".{path.name}.part")
    temporary.unlink(missing_ok=True)
    os.close(os.open(temporary, os.O_CREAT | os.O_EXCL | os.O_WRONLY | getattr(os, "O_NOFOLLOW", 0), 0o666))
    try:
        yield temporary
        with temporary.open("rb+") as file:
            os.fsync(file.fileno())
        temporary.replace(path)
        _sync_directory(path.parent)
    finally:
        temporary.unlink(missing_ok=True)


def write_atomically(path: Path, text: str) -> None:
    with replacing(path) as temporary:
        temporary.write_text(text, encoding="utf-8")


def remove(path: Path) -> None:
    """Remove a file, if it is there; that it is gone has reached the disk when this returns."""
    try:
        path.unlink()
    except FileNotFoundError:
        return
    _sync_directory(path.parent)


def remove_leftovers(directory: Path) -> None:
    """Remove temporary files of a process that was killed while it wrote."""
    for leftover in directory.glob(".*.part"):
        leftover.unlink(missing_ok=True)


def _sync_directory(directory: Path) -> None:
    """The new name too must reach the disk."""
    if os.name != "posix":
        return
    descriptor = os.open(directory, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def shipped_files(directory: str) -> dict[str, Path]:
    """Return by name the YAML files of a directory that comes with the package, installed or beside it."""
    package = Path(__file__).resolve().parent
    installed = package / directory
    place = installed if installed.is_dir() else package.parent / directory
    return {path.stem: path for path in sorted(place.glob("*.yaml"))}
