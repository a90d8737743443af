"""SHA256SUMS: what the files of a finished directory held when it was written, in the format of coreutils.

    SHA-256 of its content, two spaces, its path within the directory

It is written last and removed before anything else is changed, so that it never speaks of what is no longer there. A
directory without one (of an earlier version, of a run that goes on) is read without a check, and so is a file that it
does not list. A flipped bit of the list itself is noticed too: a line that no version writes is refused.
"""

import re
from collections.abc import Iterable
from hashlib import sha256
from pathlib import Path, PurePosixPath
from stat import S_ISREG

from hfedms_sim.errors import InputError
from hfedms_sim.system.files import remove, write_atomically

SUMS = "SHA256SUMS"

_LINE = re.compile(r"([0-9a-f]{64})  ([\x20-\x5b\x5d-\x7e]+)")
_BLOCK_BYTES = 2**20
_Edition = tuple[int, int, int]


class Checksums:
    """What SHA256SUMS of a directory says. A file that was found sound is read again only if it was replaced since."""

    def __init__(self, directory: Path) -> None:
        self.directory = directory
        self._found: dict[str, tuple[_Edition, str]] = {}

    def listed(self) -> dict[str, str] | None:
        """Return the checksums by path within the directory; None if there are none. Damaged ones are refused."""
        path = self.directory / SUMS
        try:
            content = path.read_bytes() if path.is_file() or not path.exists() else b""
        except FileNotFoundError:
            return None
        except OSError as error:
            raise InputError(f"{path}: cannot be read ({error.strerror})") from None
        return _parsed(path, content)

    def require(self, name: str) -> None:
        """Refuse a file that is gone or does not hold what it held; one that is not listed passes."""
        expected = self._expected(name)
        while expected is not None and self._digest(name) != expected:
            now = self._expected(name)
            if now == expected:
                raise self._damage(name)
            expected = now  # the directory was written anew meanwhile

    def damages(self) -> list[InputError]:
        """Return what is wrong with each listed file that is gone or does not hold what it held."""
        listed = self.listed() or {}
        return [self._damage(name) for name, expected in listed.items() if self._digest(name) != expected]

    def _expected(self, name: str) -> str | None:
        listed = self.listed()
        return None if listed is None else listed.get(name)

    def _damage(self, name: str) -> InputError:
        path = self.directory / name
        what = f"its checksum in {SUMS} does not match" if path.exists() else f"it is missing, and {SUMS} lists it"
        return InputError(f"{path}: damaged ({what})")

    def _digest(self, name: str) -> str:
        """Return the checksum of a file as it is now; empty if it is gone, or no file that could be read to its end."""
        path = self.directory / name
        try:
            status = path.stat()
            if not S_ISREG(status.st_mode):
                return ""
            edition = (status.st_ino, status.st_size, status.st_mtime_ns)
            known = self._found.get(name)
            if known is None or known[0] != edition:
                known = self._found[name] = edition, sha256_of(path)
        except (FileNotFoundError, NotADirectoryError):
            return ""
        except OSError as error:
            raise InputError(f"{path}: cannot be read ({error.strerror})") from None
        return known[1]


def sha256_of(path: Path) -> str:
    """Return the SHA-256 of a file's content, in hexadecimal digits."""
    digest = sha256()
    with path.open("rb") as file:
        while block := file.read(_BLOCK_BYTES):
            digest.update(block)
    return digest.hexdigest()


def write_checksums(directory: Path, names: Iterable[str]) -> None:
    """List these files of a directory, as they are now."""
    lines = [f"{sha256_of(directory / name)}  {name}\n" for name in sorted(names)]
    write_atomically(directory / SUMS, "".join(lines))


def remove_checksums(directory: Path) -> None:
    """Remove the list before files of the directory are changed; that it is gone has reached the disk."""
    remove(directory / SUMS)


def _parsed(path: Path, content: bytes) -> dict[str, str]:
    *lines, rest = content.decode("latin-1").split("\n")
    found = [_LINE.fullmatch(line) for line in lines]
    names = [match[2] for match in found if match is not None and _is_within(match[2])]
    if rest or not lines or len({*names}) != len(lines):
        raise InputError(f"{path}: damaged (it is not a list of checksums and files)")
    return {match[2]: match[1] for match in found if match is not None}


def _is_within(name: str) -> bool:
    """Return whether a path stays within the directory that it starts from."""
    path = PurePosixPath(name)
    return not path.is_absolute() and ".." not in path.parts
