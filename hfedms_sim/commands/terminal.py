"""What commands share: the console, notices, and ending in order when somebody interrupts them."""

import signal
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from types import FrameType
from typing import TYPE_CHECKING

import click

if TYPE_CHECKING:
    from rich.console import Console

INTERRUPTED_EXIT_CODE = 130
_OPTIONS = {"overrides": "--set", "import": "hfedms-sim --import"}


def console(stderr: bool = False) -> "Console":
    from rich.console import Console

    made = Console(stderr=stderr)
    return made if made.is_terminal else Console(stderr=stderr, width=120)


def option_of(argument: str) -> str:
    """Return how the command line spells an argument of the public functions."""
    return _OPTIONS.get(argument, f"--{argument.replace('_', '-')}")


def notice(line: str) -> None:
    """Tell of something that is wrong but was dealt with."""
    click.echo(f"note: {' '.join(line.split())}", err=True)


@contextmanager
def resumable(directory: Path) -> Iterator[None]:
    """Ctrl-C and SIGTERM end what is running, and the last line says how to go on."""
    with terminated_like_ctrl_c():
        try:
            yield
        except KeyboardInterrupt:
            click.echo(f"interrupted; to go on: the same command with --out {directory} --resume", err=True)
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
