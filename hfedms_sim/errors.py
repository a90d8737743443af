"""The two ways a call or a command can end badly, in one line each. No command ever shows a traceback.

Python and the command line give the same arguments by different names. A message therefore holds the arguments it
speaks of as `Argument`, not as text: `str` spells them as code does, and the command line has its own spelling.
"""

import errno
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

_LONGEST_QUOTE = 60
_NO_ROOM = {getattr(errno, name, None) for name in ("ENOSPC", "EDQUOT", "EFBIG", "EIO")}  # not all are on Windows


@dataclass(frozen=True)
class Argument:
    """An argument of a public function, as a message names it."""

    name: str
    in_code: str | None = None
    """How code gives it, where that is not its name alone: `timing_only=True`."""


TIMING_ONLY = Argument("timing_only", "timing_only=True")
ALLOW_INFEASIBLE = Argument("allow_infeasible", "allow_infeasible=True")
ALLOW_LARGE = Argument("allow_large", "allow_large=True")
OUT = Argument("out")
RESUME = Argument("resume")


class OneLineError(Exception):
    """An error in one line, made of text and of the arguments that it speaks of.

    `given_by` is the argument that a faulty value came by, where the line names the scenario's key by itself: Python
    needs no more, the command line says the option too.
    """

    exit_code = 1

    def __init__(self, *parts: str | Argument, given_by: Argument | None = None) -> None:
        super().__init__(*parts)
        self.given_by = given_by

    def __str__(self) -> str:
        return "".join(part.in_code or part.name if isinstance(part, Argument) else str(part) for part in self.args)

    def __repr__(self) -> str:
        return f"{type(self).__name__}({str(self)!r})"

    def said(self, spelled: Callable[[str], str]) -> str:
        """Return the line as somebody says it who spells arguments in another way."""
        line = "".join(spelled(part.name) if isinstance(part, Argument) else str(part) for part in self.args)
        return line if self.given_by is None else f"{spelled(self.given_by.name)}: {line}"


class InputError(OneLineError):
    """What the user gave cannot be used. One line: file, key, value, what is allowed. Exit code 2."""

    exit_code = 2


class RunError(OneLineError):
    """The input was good, but the run could not be completed (disk full, ...). Exit code 1."""

    exit_code = 1


def unwritable(path: Path, error: OSError) -> OneLineError:
    """Return what a file that cannot be written is: no fault of the input where the disk is full or broken."""
    kind = RunError if error.errno in _NO_ROOM else InputError
    return kind(f"{path}: cannot be written ({error.strerror or error})")


def quoted(value: object) -> str:
    """Return a value as a message shows it: in quotes if it is text, and cut if it is long."""
    text = repr(value)
    return text if len(text) <= _LONGEST_QUOTE else text[: _LONGEST_QUOTE - 3] + "..."
