"""The contest: contestants in processes of their own take turns on one core, a round each.

A contestant lives through all its rounds. While another one trains it is stopped (SIGSTOP, with all its processes), so
that what it does in the background is not on the other's account.
"""

import json
import os
import signal
import subprocess
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from threading import Event, Thread
from typing import Any, NamedTuple

from benchmarks.peers import process_tree
from benchmarks.peers.workload import PATH_VARIABLE

SAMPLING_S = 1.0  # walking the pages of gigabytes is work too
ENDING_S = 20.0
QUIET = {
    "OMP_NUM_THREADS": "1",
    "MKL_NUM_THREADS": "1",
    "OPENBLAS_NUM_THREADS": "1",
    "MPLBACKEND": "Agg",
    "FLWR_TELEMETRY_ENABLED": "0",
    "RAY_USAGE_STATS_ENABLED": "0",
}


class Turn(NamedTuple):
    """One round of one contestant. `memory_bytes` is the largest of all its processes together."""

    seconds: float
    cpu_s: float
    memory_bytes: int


class ContestantFailedError(Exception):
    pass


class Contestant:
    """A process that answers as `benchmarks.peers.rounds` says."""

    def __init__(self, name: str, command: Sequence[str], workload: Path, log: Path) -> None:
        self.name, self._log = name, log
        environment = {**os.environ, **QUIET, PATH_VARIABLE: str(workload)}
        with log.open("w") as errors:
            self._process = subprocess.Popen(
                command,
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=errors,
                text=True,
                env=environment,
                start_new_session=True,
            )
        try:
            self.versions: dict[str, str] = self._answer()["versions"]
            self._pause()
        except BaseException:
            self.close()
            raise

    def turn(self) -> Turn:
        root = self._process.pid
        self._resume()
        cpu_before_s = process_tree.cpu_s(root)
        with _peak_memory_bytes(root) as peak:
            seconds = self._ask("round")["seconds"]
        turn = Turn(seconds, process_tree.cpu_s(root) - cpu_before_s, max(peak))
        self._pause()
        return turn

    def save(self, path: Path) -> None:
        """The model after the last turn."""
        self._resume()
        self._ask(f"save {path}")
        self._pause()

    def close(self) -> None:
        """Ends the process: politely first, and what is left of its family after a while is killed."""
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._resume()
        self._process.stdin.close()
        with suppress(subprocess.TimeoutExpired):
            self._process.wait(ENDING_S)
        process_tree.send(self._process.pid, signal.SIGKILL)
        self._process.stdout.close()
        self._process.wait()

    def _ask(self, line: str) -> dict[str, Any]:
        assert self._process.stdin is not None
        with suppress(BrokenPipeError):  # then there is no answer either
            print(line, file=self._process.stdin, flush=True)
        return self._answer()

    def _answer(self) -> dict[str, Any]:
        assert self._process.stdout is not None
        line = self._process.stdout.readline()
        if not line:
            last = self._log.read_text().strip().splitlines()[-1:]
            raise ContestantFailedError(f"{self.name} ended early: {' '.join(last) or 'it said nothing'}")
        answer: dict[str, Any] = json.loads(line)
        return answer

    def _pause(self) -> None:
        process_tree.send(self._process.pid, signal.SIGSTOP)

    def _resume(self) -> None:
        process_tree.send(self._process.pid, signal.SIGCONT)


@contextmanager
def one_core() -> Iterator[None]:
    """Processes started inside share one core; this one returns to those it had."""
    cores = os.sched_getaffinity(0)
    os.sched_setaffinity(0, {max(cores)})
    try:
        yield
    finally:
        os.sched_setaffinity(0, cores)


def take_turns(contestants: Sequence[Contestant], rounds: int) -> dict[str, list[Turn]]:
    """By name. Interleaved, so that a busy machine is busy for all of them."""
    turns: dict[str, list[Turn]] = {contestant.name: [] for contestant in contestants}
    for number in range(rounds):
        for contestant in contestants:
            turn = contestant.turn()
            turns[contestant.name].append(turn)
            spent = f"{turn.seconds:.2f} s, {turn.cpu_s:.2f} s of CPU time, {turn.memory_bytes / 1e9:.2f} GB"
            print(f"    round {number + 1}, {contestant.name}: {spent}", flush=True)
    return turns


@contextmanager
def _peak_memory_bytes(root: int) -> Iterator[list[int]]:
    """Samples into the list until the block ends."""
    samples, done = [process_tree.memory_bytes(root)], Event()

    def watch() -> None:
        while not done.wait(SAMPLING_S):
            samples.append(process_tree.memory_bytes(root))

    watcher = Thread(target=watch)
    watcher.start()
    try:
        yield samples
    finally:
        done.set()
        watcher.join()
