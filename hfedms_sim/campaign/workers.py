"""Where tasks are performed: what an executor of trials is, and local processes as the plain one.

Each local worker is a process of its own at the end of a pipe, so that the death of one (killed, out of memory) is the
failure of exactly the trial it was at. Threads are fixed before a worker starts: results depend on them.
"""

import multiprocessing
import os
import signal
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from multiprocessing.connection import Connection, wait
from multiprocessing.context import SpawnContext, SpawnProcess
from threading import Thread
from typing import Any, NamedTuple, Protocol

from hfedms_sim.campaign.tasks import Task
from hfedms_sim.errors import InputError, RunError

_ENDING_S = 20.0
_THREAD_VARIABLES = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS")


class Finished(NamedTuple):
    """What became of the task `key`: its `value`, or an `error` in one line."""

    key: str
    value: Any = None
    error: str | None = None
    is_final: bool = False
    """Whether trying again is useless: the input is at fault."""


class Workers(Protocol):
    capacity: int
    """How many tasks can be under way at a time."""

    def start(self, key: str, task: Task) -> None: ...

    def finished(self, wait_s: float) -> list[Finished]:
        """Those that have ended since; none if nothing did for so long."""

    def close(self) -> None:
        """Ends what is still under way."""


def thread_environment(threads: int) -> dict[str, str]:
    return dict.fromkeys(_THREAD_VARIABLES, str(threads))


class LocalWorkers:
    def __init__(self, jobs: int, threads: int) -> None:
        self.capacity = jobs
        self._threads = threads
        self._context = multiprocessing.get_context("spawn")
        self._idle: list[_Worker] = []
        self._busy: dict[str, _Worker] = {}

    def start(self, key: str, task: Task) -> None:
        self._idle = [worker for worker in self._idle if worker.process.is_alive()]
        if not self._idle:
            with _environment(thread_environment(self._threads)):
                self._idle.append(_Worker(self._context))
        worker = self._idle.pop()
        worker.connection.send(task)
        self._busy[key] = worker

    def finished(self, wait_s: float) -> list[Finished]:
        ready = wait([worker.connection for worker in self._busy.values()], wait_s)
        ended = [key for key, worker in self._busy.items() if worker.connection in ready]
        return [self._outcome(key, self._busy.pop(key)) for key in ended]

    def close(self) -> None:
        workers = [*self._busy.values(), *self._idle]
        for worker in workers:
            worker.process.terminate()
        for worker in workers:
            worker.process.join(_ENDING_S)
            worker.process.kill()
        self._busy, self._idle = {}, []

    def _outcome(self, key: str, worker: "_Worker") -> Finished:
        try:
            value, error, is_final = worker.connection.recv()
        except (EOFError, OSError):
            worker.process.join()
            return Finished(key, error=f"its process ended with exit code {worker.process.exitcode}")
        self._idle.append(worker)
        return Finished(key, value, error, is_final)


class _Worker:
    def __init__(self, context: SpawnContext) -> None:
        self.connection, end = context.Pipe()
        self.process: SpawnProcess = context.Process(target=_serve, args=(end,), daemon=True)
        self.process.start()
        end.close()


def _serve(connection: "Connection[Any, Any]") -> None:
    """Ctrl-C goes to every process of a terminal; only the campaign's own acts on it, and ends the workers."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(1))
    Thread(target=_end_with_the_campaign, daemon=True).start()
    with suppress(EOFError):
        while True:
            connection.send(attempt(connection.recv()))


def attempt(task: Task) -> tuple[Any, str | None, bool]:
    """Value, error, and whether the error is final."""
    try:
        return task.perform(), None, False
    except InputError as error:
        return None, str(error), True
    except RunError as error:
        return None, str(error), False
    except Exception as error:
        return None, f"{type(error).__name__}: {error}", False


def _end_with_the_campaign() -> None:
    """A campaign that was killed leaves no worker behind that would hold on to a run directory."""
    campaign = multiprocessing.parent_process()
    if campaign is not None:
        campaign.join()
        os._exit(1)


@contextmanager
def _environment(variables: dict[str, str]) -> Iterator[None]:
    before = {name: os.environ.get(name) for name in variables}
    os.environ.update(variables)
    try:
        yield
    finally:
        for name, value in before.items():
            if value is None:
                del os.environ[name]
            else:
                os.environ[name] = value
