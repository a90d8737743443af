"""What commands share: how anything is printed, and ending in order when somebody interrupts them.

Whatever a command prints goes through `say` or through `console`. Both show text of others (names of files, scenarios,
runs) as it is, but for signs that a terminal would obey; both print on a terminal of any encoding.
"""

import codecs
import os
import signal
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from types import FrameType
from typing import TYPE_CHECKING

import click

from hfedms_sim.system.foreign_text import printable

if TYPE_CHECKING:
    from rich.console import Console

INTERRUPTED_EXIT_CODE = 130
TRACEBACK = "HFEDMS_SIM_TRACEBACK"
"""The environment variable that shows where a mistake of ours is."""
OWN_MISTAKE = "this is a mistake in hfedms-sim, please report it"
_LONGEST_LINE = 900
_ASCII = {"±": "+-", "…": "...", "‡": "++", "†": "+", "→": "->", "·": "-", "‰": "/1000", "ö": "oe"}
"""How signs of ours are said where there are none but those of ASCII."""
_REPLACING = "hfedms_sim.said_otherwise"
_OPTIONS = {"overrides": "--set", "import": "hfedms-sim --import"}


def console(stderr: bool = False) -> "Console":
    from hfedms_sim.commands.screen import Screen

    made = Screen(stderr=stderr)
    return made if made.is_terminal else Screen(stderr=stderr, width=120)


def say(text: object = "", *, err: bool = False, nl: bool = True) -> None:
    """Print a text, on the error output if `err`; `nl`: and end the line."""
    click.echo(printable(str(text)), file=sys.stderr if err else sys.stdout, nl=nl)


def say_error(message: str) -> None:
    """Print what went wrong in one line, shortened in its middle if it is longer than anybody reads."""
    line = " ".join(message.split())
    if len(line) > _LONGEST_LINE:
        line = f"{line[: _LONGEST_LINE // 2]} ... {line[-_LONGEST_LINE // 2 :]}"
    say(f"error: {line}", err=True)


def own_mistake(error: Exception) -> str:
    """Return the line for an error that nobody foresaw: what it is, and how to see where it is."""
    return f"{type(error).__name__}: {error}: {OWN_MISTAKE} with what {TRACEBACK}=1 shows"


def speak_any_encoding() -> None:
    """Let what the outputs cannot say be said in other signs, rather than fail."""
    codecs.register_error(_REPLACING, _said_otherwise)
    for stream in (sys.stdout, sys.stderr):
        if hasattr(stream, "reconfigure"):  # a program that calls us may have put anything in their place
            stream.reconfigure(errors=_REPLACING)


def _said_otherwise(error: UnicodeError) -> tuple[str, int]:
    if not isinstance(error, UnicodeEncodeError):
        raise error
    signs = error.object[error.start : error.end]
    return "".join(_ASCII.get(sign, "?") for sign in signs), error.end


def give_up_output() -> None:
    """Send what is still to be printed nowhere: nobody reads it, and Python would say so again when it ends."""
    nowhere = os.open(os.devnull, os.O_WRONLY)
    for stream in (sys.stdout, sys.stderr):
        with suppress(OSError, ValueError, AttributeError):  # of a program that calls us it may be no file
            os.dup2(nowhere, stream.fileno())
    os.close(nowhere)


def option_of(argument: str) -> str:
    """Return how the command line spells an argument of the public functions."""
    return _OPTIONS.get(argument, f"--{argument.replace('_', '-')}")


def notice(line: str) -> None:
    """Tell of something that is wrong but was dealt with."""
    say(f"note: {' '.join(line.split())}", err=True)


@contextmanager
def resumable(directory: Path) -> Iterator[None]:
    """Ctrl-C and SIGTERM end what is running, and the last line says how to go on."""
    with terminated_like_ctrl_c():
        try:
            yield
        except KeyboardInterrupt:
            say(f"interrupted; to go on: the same command with --out {directory} --resume", err=True)
            sys.exit(INTERRUPTED_EXIT_CODE)


@contextmanager
def terminated_like_ctrl_c() -> Iterator[None]:
    """SIGTERM raises KeyboardInterrupt, so that files are closed and temporary ones removed."""

    def interrupt(_: int, __: FrameType | None) -> None:
        raise KeyboardInterrupt

    before = signal.signal(signal.SIGTERM, interrupt)
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, before)
