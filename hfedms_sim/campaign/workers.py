"""Where tasks are performed: what an executor of trials is, and local processes as the plain one.

Each local worker is a process of its own at the end of a pipe, so that the death of one (killed, out of memory) is the
failure of exactly the trial it was at. Threads are fixed before a worker starts: results depend on them. While it is at
a task a worker tells a few times a second which round it is at.

Closing asks the workers to end and kills those that do not within a short grace, such as one inside a long call of C.
The lineage store is made to survive that.
"""

import gc
import multiprocessing
import os
import signal
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from multiprocessing.connection import Connection, wait
from multiprocessing.context import SpawnContext, SpawnProcess
from threading import Thread
from time import monotonic
from typing import Any, NamedTuple, Protocol

from hfedms_sim.campaign.tasks import OnRound, Options, Task
from hfedms_sim.errors import InputError, OneLineError, RunError
from hfedms_sim.simulation import Progress
from hfedms_sim.system.machine import MEMORY_LIMIT, available_memory_bytes, not_enough_memory

_GRACE_S = 1.5
_REPORT_EVERY_S = 0.25
_COLLECT_EVERY_S = 10.0
_THREAD_VARIABLES = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS")


class Finished(NamedTuple):
    """What became of the task `key`: its `value`, or an `error` of one line."""

    key: str
    value: Any = None
    error: OneLineError | None = None
    is_final: bool = False
    """Whether trying again is useless: the input is at fault."""


class At(NamedTuple):
    """Which round a task is at, and how many of its rounds were trained, not found in a store."""

    round: int
    trained: int


class Workers(Protocol):
    """Where tasks are performed, each under a key of its own."""

    capacity: int
    """How many tasks can be under way at a time."""

    def start(self, key: str, task: Task) -> None:
        """Begin a task; there must be room for it."""

    def finished(self, wait_s: float) -> list[Finished]:
        """Return the tasks that have ended since; none if nothing did for so long, or one only told where it is."""

    def at(self) -> dict[str, At]:
        """Return where the tasks under way are, as far as they have told."""

    def close(self) -> None:
        """End what is still under way."""


def workers_for(jobs: int, ray: str | None, options: Options) -> Workers:
    """Return that many local processes, or the Ray cluster at an address. A campaign closes them when it ends."""
    if ray is None:
        return LocalWorkers(jobs, options.threads)
    from hfedms_sim.campaign.ray_workers import RayWorkers  # here: Ray is optional

    return RayWorkers(ray, options.threads)


def thread_environment(threads: int) -> dict[str, str]:
    return dict.fromkeys(_THREAD_VARIABLES, str(threads))


def _memory_share(jobs: int) -> dict[str, str]:
    """Return the limit of each of this many processes: its share of what is free, unless the user has set one."""
    free_bytes = available_memory_bytes()
    if MEMORY_LIMIT in os.environ or jobs == 1 or free_bytes is None:
        return {}
    return {MEMORY_LIMIT: f"{free_bytes / jobs:.0f}B"}


class LocalWorkers:
    """Processes of this machine, started when there is a task for them."""

    def __init__(self, jobs: int, threads: int) -> None:
        self.capacity = jobs
        self._threads = threads
        self._context = multiprocessing.get_context("spawn")
        self._idle: list[WorkerProcess] = []
        self._busy: dict[str, WorkerProcess] = {}
        self._at: dict[str, At] = {}
        self._memory_share = _memory_share(jobs)

    def start(self, key: str, task: Task) -> None:
        self._idle = [worker for worker in self._idle if worker.process.is_alive()]
        if not self._idle:
            with environment(thread_environment(self._threads) | self._memory_share), _ctrl_c_held():
                self._idle.append(WorkerProcess(self._context))
        worker = self._busy[key] = self._idle[-1]
        self._idle.pop()
        with suppress(BrokenPipeError):  # it has died: what comes back says so
            worker.connection.send(task)

    def finished(self, wait_s: float) -> list[Finished]:
        ready = wait([worker.connection for worker in self._busy.values()], wait_s)
        told = [key for key, worker in self._busy.items() if worker.connection in ready]
        return [outcome for key in told if (outcome := self._received(key)) is not None]

    def at(self) -> dict[str, At]:
        return dict(self._at)

    def close(self) -> None:
        """End all processes. Each of them is dead when this returns, also if it is interrupted itself."""
        workers = [*self._busy.values(), *self._idle]
        try:
            for worker in workers:
                worker.process.terminate()
            deadline_s = monotonic() + _GRACE_S
            for worker in workers:
                worker.process.join(max(0.0, deadline_s - monotonic()))
        finally:
            for worker in workers:
                worker.process.kill()
            for worker in workers:
                worker.process.join()
                worker.connection.close()
            self._busy, self._idle, self._at = {}, [], {}

    def _received(self, key: str) -> Finished | None:
        """Take a worker's next message, and return what became of its task if it has ended."""
        worker = self._busy[key]
        try:
            message = worker.connection.recv()
        except (EOFError, OSError):
            worker.process.join()
            self._forget(key)
            worker.connection.close()
            return Finished(key, error=RunError(f"its process ended with exit code {worker.process.exitcode}"))
        if isinstance(message, At):
            self._at[key] = message
            return None
        self._idle.append(worker)
        self._forget(key)
        return Finished(key, *message)

    def _forget(self, key: str) -> None:
        del self._busy[key]
        self._at.pop(key, None)


class HereWorkers:
    """This very process, one task at a time: `start` returns when the task has ended.

    Nothing is sent anywhere, so that classes of a notebook can be used, and a script needs no guard.
    """

    capacity = 1

    def __init__(self) -> None:
        self._ended: list[Finished] = []

    def start(self, key: str, task: Task) -> None:
        self._ended.append(Finished(key, *attempt(task)))

    def finished(self, wait_s: float) -> list[Finished]:
        ended, self._ended = self._ended, []
        return ended

    def at(self) -> dict[str, At]:
        """Return nothing: when somebody can ask, no task is under way."""
        return {}

    def close(self) -> None:
        """Do nothing: there is nothing under way."""


class WorkerProcess:
    """A process that performs the tasks which come through its pipe, one after the other."""

    def __init__(self, context: SpawnContext) -> None:
        self.connection, end = context.Pipe()
        self.process: SpawnProcess = context.Process(target=_serve, args=(end,), daemon=True)
        self.process.start()
        end.close()


def _serve(connection: "Connection[Any, Any]") -> None:
    """Ctrl-C goes to every process of a terminal; only the campaign's own acts on it, and ends the workers."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(1))
    sys.unraisablehook = _end_at_last
    Thread(target=_end_with_the_campaign, daemon=True).start()
    collect = collector(_COLLECT_EVERY_S)
    with suppress(EOFError, ConnectionError):  # the campaign is gone, before or after the task
        while True:
            connection.send(attempt(connection.recv(), _reporter(connection)))
            collect()


def collector(every_s: float, clock: Callable[[], float] = monotonic) -> Callable[[], None]:
    """Return what looks for garbage now and then, to be called between tasks.

    What a run leaves counts as old, and each round sets back what Python would look at it by (simulation/session.py):
    a process that plays many runs would keep the small rest of every one.
    """
    collected_s = clock()

    def collect() -> None:
        nonlocal collected_s
        if clock() - collected_s >= every_s:
            gc.collect()
            collected_s = clock()

    return collect


def _reporter(connection: "Connection[Any, Any]") -> OnRound:
    """Return what tells the campaign now and then which round a task is at."""
    told_s = monotonic()

    def on_round(progress: Progress) -> None:
        nonlocal told_s
        if monotonic() - told_s >= _REPORT_EVERY_S:
            told_s = monotonic()
            connection.send(At(progress.round, progress.trained))

    return on_round


def attempt(task: Task, on_round: OnRound = lambda progress: None) -> tuple[Any, OneLineError | None, bool]:
    """Perform a task; return its value, the error, and whether the error is final."""
    try:
        return task.perform(on_round), None, False
    except InputError as error:
        return None, error, True
    except RunError as error:
        return None, error, False
    except Exception as error:
        return None, not_enough_memory(error) or RunError(f"{type(error).__name__}: {error}"), False


def _end_at_last(unraisable: Any) -> None:
    """End a worker that was told to while something was being destroyed, where Python shows a traceback and goes on."""
    if isinstance(unraisable.exc_value, SystemExit):
        os._exit(1)
    sys.__unraisablehook__(unraisable)


def _end_with_the_campaign() -> None:
    """A campaign that was killed leaves no worker behind that would hold on to a run directory."""
    campaign = multiprocessing.parent_process()
    if campaign is not None:
        campaign.join()
        os._exit(1)


@contextmanager
def _ctrl_c_held() -> Iterator[None]:
    """Hold Ctrl-C back while a worker starts, which inherits that and so is not hit before it ignores Ctrl-C itself."""
    if not hasattr(signal, "pthread_sigmask"):  # Windows
        yield
        return
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


@contextmanager
def environment(variables: dict[str, str]) -> Iterator[None]:
    """Set environment variables for a while."""
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
