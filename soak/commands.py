"""A command as a process that leads a session of its own, and what must hold when it has ended, whatever it was."""

import os
import shlex
import signal
import subprocess
import sys
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from threading import Thread
from time import monotonic
from typing import IO, NamedTuple
from uuid import uuid4

from soak.processes import carries, is_gone, members

HFEDMS_SIM = (sys.executable, "-m", "hfedms_sim.cli")
TINY_PAPER = (sys.executable, "-m", "soak.tiny_paper")
LONGEST_S = 900.0
"""How long a command may take on a busy machine; one that takes longer hangs."""
_LONGEST_END_S = 30.0
"""How long what a command has started may outlive it."""
_LONGEST_ECHO_S = 0.1
_PART_BYTES = 65536
_MARK = "SOAK_COMMAND"
_CLONE = Path(__file__).resolve().parent.parent


class UnexpectedError(Exception):
    """Something was not as it must be; the text says what."""


class Ended(NamedTuple):
    """What became of a command. A negative exit code is the signal that killed it."""

    command: str
    exit_code: int
    output: str
    errors: str
    took_s: float

    def require(self, *exit_codes: int) -> None:
        """Refuse another exit code, and a traceback whatever the code is."""
        if self.exit_code not in exit_codes:
            raise UnexpectedError(f"exit code {self.exit_code}, not {exit_codes}: {self.errors[-2000:]}")
        for text in (self.output, self.errors):
            if "Traceback" in text:
                raise UnexpectedError(f"a traceback: {text[-2000:]}")

    def require_error(self, exit_code: int) -> None:
        """Refuse anything but this exit code and one line that says why, after notes at most."""
        self.require(exit_code)
        lines = [line for line in self.errors.splitlines() if not line.startswith("note: ")]
        if len(lines) != 1 or not lines[0].startswith("error: "):
            raise UnexpectedError(f"not one line of error: {self.errors[-2000:]!r}")


@dataclass(frozen=True)
class Surroundings:
    """Where commands run: their working directory, and what they are told of the machine."""

    directory: Path
    cache: Path

    @property
    def temporary(self) -> Path:
        """Return where commands are told to put temporary files."""
        return self.directory / "temporary"

    @property
    def home(self) -> Path:
        """Return the working directory, which is the home too, among files that nobody may touch."""
        return self.directory / "home"

    def environment(self) -> dict[str, str]:
        places = {"HOME": self.home, "TMPDIR": self.temporary, "XDG_CACHE_HOME": self.cache, "MPLCONFIGDIR": self.cache}
        threads = dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"), "1")
        packages = {"PYTHONPATH": os.pathsep.join([str(_CLONE), *filter(None, [os.environ.get("PYTHONPATH")])])}
        return os.environ | threads | packages | {name: str(path) for name, path in places.items()}


class Command:
    """A command that has been started. All that it starts carries its mark, by which it is known to be its own."""

    def __init__(self, command: Sequence[str], surroundings: Surroundings, most_bytes: int | None = None) -> None:
        """Start it; `most_bytes` is how large a file it may write."""
        limited = () if most_bytes is None else (sys.executable, "-m", "soak.limited", str(most_bytes))
        self.text = shlex.join([*limited, *command])
        self._mark = f"{_MARK}={uuid4().hex}"
        self._started_s = monotonic()
        self.process = subprocess.Popen(
            [*limited, *command],
            cwd=surroundings.home,
            env=surroundings.environment() | dict([self._mark.split("=")]),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            start_new_session=True,
        )
        self._said = [_Listener(stream) for stream in (self.process.stdout, self.process.stderr) if stream]

    @property
    def session(self) -> int:
        """Return the session that it leads, which is its process too."""
        return self.process.pid

    @property
    def is_running(self) -> bool:
        return self.process.poll() is None

    def signal(self, which: signal.Signals, to_all: bool = False) -> None:
        """Send a signal to its first process, or to all as a terminal does."""
        if self.is_running:
            (os.killpg if to_all else os.kill)(self.session, which)

    def ended(self, within_s: float = LONGEST_S) -> Ended:
        """Wait for the end of its first process and return what became of it; kill and refuse it if it takes too long.

        What others that it has started say later is not waited for.
        """
        try:
            exit_code = self.process.wait(within_s)
        except subprocess.TimeoutExpired:
            self.remove()
            raise UnexpectedError(f"has not ended within {within_s:g} s") from None
        output, errors = (listener.heard() for listener in self._said)
        return Ended(self.text, exit_code, output, errors, monotonic() - self._started_s)

    def require_gone(self) -> None:
        """Refuse what it has started and left behind."""
        if not is_gone(self.session, _LONGEST_END_S) and (left := self._left()):
            self.remove()
            raise UnexpectedError(f"{len(left)} of its processes are left: {left}")

    def remove(self) -> None:
        """Kill whatever is left of it."""
        for process in self._left():
            with suppress(ProcessLookupError):
                os.kill(process, signal.SIGKILL)
        self.process.wait()

    def _left(self) -> list[int]:
        """Return what is left of it; numbers of processes and sessions are given away again, marks are not."""
        return [process for process in members(self.session) if carries(process, self._mark)]


class _Listener(Thread):
    """Reads what a command says, so that it never waits for somebody to listen."""

    def __init__(self, stream: IO[bytes]) -> None:
        super().__init__(daemon=True)
        self._stream = stream
        self._parts: list[bytes] = []
        self.start()

    def run(self) -> None:
        with self._stream:
            while part := os.read(self._stream.fileno(), _PART_BYTES):
                self._parts.append(part)

    def heard(self) -> str:
        """Return what was said up to the end of the command; whoever outlives it may keep the stream open."""
        self.join(_LONGEST_ECHO_S)
        return b"".join(self._parts).decode(errors="replace")
