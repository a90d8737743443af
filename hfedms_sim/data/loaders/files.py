"""Files a stranger wrote: found, read and named in errors.

A loader raises ValueError for what it finds wrong inside a file; `errors_name(path)` turns it into the one line that
the user sees, with the file's name in front.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from hfedms_sim.errors import InputError


@contextmanager
def errors_name(path: Path) -> Iterator[None]:
    """What goes wrong inside is the file's fault, told in one line."""
    try:
        yield
    except FileNotFoundError:
        raise InputError(f"{name_of(path)}: no such file") from None
    except IsADirectoryError:
        raise InputError(f"{name_of(path)}: is a directory, not a file") from None
    except ValueError as error:
        raise InputError(f"{name_of(path)}: {first_line(error)}") from None
    except MemoryError as error:
        raise InputError(f"{name_of(path)}: does not fit into memory{f' ({error})' if str(error) else ''}") from None
    except OSError as error:
        raise InputError(f"{name_of(path)}: cannot be read ({error.strerror or first_line(error)})") from None


def name_of(path: Path) -> str:
    return str(path) if str(path).isprintable() else repr(str(path))


def first_line(error: Exception) -> str:
    lines = str(error).splitlines() or [type(error).__name__]
    return lines[0] if len(lines[0]) <= 200 else lines[0][:197] + "..."


def only_file(path: Path) -> Path:
    """The path itself, which must be a regular file: reading a pipe or a terminal would wait forever."""
    with errors_name(path):
        if path.is_dir():
            raise IsADirectoryError
        if path.exists() and not path.is_file():
            raise ValueError("is a device or a pipe, not a file")
        path.stat()
    return path


def files_in(path: Path, suffix: str) -> list[Path]:
    """The file itself, or the directory's files of that suffix in the order of their names."""
    with errors_name(path):
        if not path.is_dir():
            return [only_file(path)]
        found = sorted(only_file(file) for file in path.glob(f"*{suffix}"))
        if not found:
            raise ValueError(f"has no *{suffix} file")
        return found
