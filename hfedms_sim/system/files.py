"""Files that are there whole or not at all, also after a power cut; and the files that come with the package.

Whatever this package writes, it opens here: under a temporary name that nobody else has, and through no link. What was
there under the name itself is replaced only if it is a plain file: never a link, whose target is somebody else's, nor a
device. What cannot be done is an OSError that names the file.
"""

import errno
import os
import stat
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import BinaryIO

from hfedms_sim.system.foreign_text import printable

try:
    import fcntl
except ImportError:  # no such locks on Windows
    fcntl = None  # type: ignore[assignment]

_UNFOLLOWED = getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_BINARY", 0)  # Windows has the second only
_LINK = "is a link, and what it leads to is not touched"


class NewFile:
    """A file that is written under a temporary name, and gets its own when it is complete.

    Whatever had the temporary name is removed first, not followed: it may be a link that somebody left there. A file
    that another process is writing at this moment is left to it.
    """

    def __init__(self, path: Path) -> None:
        self._path = path.absolute()
        self._temporary = self._path.with_name(f".{path.name}.part")
        _require_plain(self._path)
        _require_unlocked(self._temporary)
        self._temporary.unlink(missing_ok=True)
        descriptor = os.open(self._temporary, os.O_CREAT | os.O_EXCL | os.O_WRONLY | _UNFOLLOWED, 0o666)
        self.file: BinaryIO = os.fdopen(descriptor, "wb")
        try_lock(descriptor)

    def settle(self) -> None:
        """Bring what was written so far to the disk."""
        self.file.flush()
        os.fsync(self.file.fileno())

    def commit(self) -> None:
        """Give the complete file its name. The lock is held until it has it."""
        self.settle()
        if fcntl is None:  # Windows renames no file that is open
            self.file.close()
        self._temporary.replace(self._path)
        self.file.close()
        _sync_directory(self._path.parent)

    def discard(self) -> None:
        """Leave nothing of a file that has not got its name."""
        if self.file.closed:
            return
        try:
            self._temporary.unlink(missing_ok=True)
        finally:
            with suppress(OSError):  # a full disk is what we are cleaning up after
                self.file.close()


@contextmanager
def atomic_write(path: Path) -> Iterator[BinaryIO]:
    """Give an empty file to write to, which becomes `path` when its content has reached the disk."""
    new = NewFile(path)
    try:
        yield new.file
        new.commit()
    finally:
        new.discard()


def write_atomically(path: Path, text: str) -> None:
    """Write a text, whole or not at all; signs in it that a reader's terminal would obey are replaced."""
    with atomic_write(path) as file:
        file.write(printable(text).encode())


@contextmanager
def appearing(path: Path) -> Iterator[Path]:
    """Give a name for a file or a directory to make, which becomes `path`, where there must be nothing yet."""
    path.parent.mkdir(parents=True, exist_ok=True)
    with TemporaryDirectory(dir=path.parent, prefix=".export-") as temporary:
        made = Path(temporary).absolute() / "export"
        yield made
        if os.path.lexists(path):
            raise FileExistsError(errno.EEXIST, "exists already", str(path))
        made.replace(path)


def opened_at_end(path: Path) -> int:
    """Return a descriptor that reads a file and adds to its end; it is made if it is not there.

    A file with further names (hard links, as copies that save space have them) is copied first: they keep what they
    have.
    """
    found = _require_plain(path)
    if found is not None and found.st_nlink > 1:
        content = path.read_bytes()
        with atomic_write(path) as file:
            file.write(content)
    return os.open(path, os.O_RDWR | os.O_CREAT | os.O_APPEND | _UNFOLLOWED, 0o644)


def own_directory(path: Path) -> Path:
    """Return a directory to write into, made if it is not there; a link to one is refused."""
    if path.is_symlink():
        raise OSError(errno.ELOOP, _LINK, str(path))
    path.mkdir(exist_ok=True)
    return path


def is_blank(directory: Path) -> bool:
    """Return whether a directory holds nothing, or temporary files alone: whoever made it was killed at once."""
    return directory.is_dir() and all(_is_temporary(path) for path in directory.iterdir())


def link_in(directory: Path, *, deep: bool) -> Path | None:
    """Return a directory that is a link, or the first link in it; `deep`: also further below. None if there is none.

    Temporary files are left out: they are removed unread.
    """
    if directory.is_symlink():
        return directory
    for place, directories, files in os.walk(directory):
        paths = [Path(place) / name for name in (*directories, *files)]
        found = next((path for path in paths if path.is_symlink() and not _is_temporary(path)), None)
        if found is not None or not deep:
            return found
    return None


def remove(path: Path) -> None:
    """Remove a file, if it is there; that it is gone has reached the disk when this returns."""
    try:
        path.unlink()
    except FileNotFoundError:
        return
    _sync_directory(path.parent)


def remove_leftovers(directory: Path) -> None:
    """Remove temporary files of a process that was killed while it wrote."""
    if directory.is_symlink():
        raise OSError(errno.ELOOP, _LINK, str(directory))
    for leftover in directory.glob(".*.part"):
        leftover.unlink(missing_ok=True)


def _is_temporary(path: Path) -> bool:
    return path.name.startswith(".") and path.suffix == ".part"


def try_lock(descriptor: int) -> bool:
    """Lock an open file or directory for this process alone; return whether nobody else has. It ends with the process.

    There are no such locks on Windows.
    """
    if fcntl is None:
        return True
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        return False
    return True


def _require_unlocked(temporary: Path) -> None:
    """Refuse to write what another process is writing; a temporary file that nobody has locked is a leftover."""
    try:
        descriptor = os.open(temporary, os.O_RDONLY | _UNFOLLOWED | getattr(os, "O_NONBLOCK", 0))
    except OSError:
        return  # not there, or nothing that can be written to
    try:
        if not try_lock(descriptor):
            raise OSError(errno.EBUSY, "another process is writing it", str(temporary))
    finally:
        os.close(descriptor)


def _require_plain(path: Path) -> os.stat_result | None:
    """Return what is known of a file that is to be written, None if there is none; refuse a link and a device."""
    try:
        found = path.lstat()
    except FileNotFoundError:
        return None
    if stat.S_ISLNK(found.st_mode):
        raise OSError(errno.ELOOP, _LINK, str(path))
    if stat.S_ISDIR(found.st_mode):
        raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR), str(path))
    if not stat.S_ISREG(found.st_mode):
        raise OSError(errno.EINVAL, "is a device or a pipe, not a file", str(path))
    return found


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
    package = Path(__file__).resolve().parent.parent
    installed = package / directory
    place = installed if installed.is_dir() else package.parent / directory
    return {path.stem: path for path in sorted(place.glob("*.yaml"))}
