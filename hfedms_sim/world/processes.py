"""SimPy's processes, started without an event of their own, and the end of an instant.

A process here is a `simpy.Process` in every respect: it can fail, be interrupted, and be waited for by anybody. Only
its start differs. SimPy's is an event; in a round of a million sensors these would be 300,000 at once in the queue.
This is the one place that touches what SimPy keeps to itself.
"""

from collections.abc import Iterable
from types import SimpleNamespace
from typing import cast

import simpy
from simpy import Environment, Event
from simpy.events import NORMAL, EventPriority, ProcessGenerator

_LAST = EventPriority(NORMAL + 1)
_STARTED = cast(Event, SimpleNamespace(_ok=True, _value=None))  # what a process is resumed with first


class Process(simpy.Process):
    """A process that runs up to the first event it waits for while it is made, and is SimPy's from then on."""

    def __init__(self, env: Environment, generator: ProcessGenerator) -> None:
        Event.__init__(self, env)
        self._generator = generator
        active, env._active_proc = env._active_proc, self
        try:
            self._resume(_STARTED)
        finally:
            env._active_proc = active


def running(env: Environment) -> simpy.Process:
    """Return the process that is running now."""
    process = env.active_process
    assert process is not None
    return process


class EndOfInstant(Event):
    """Happens now, but after everything else that happens now, whatever else this brings about."""

    def __init__(self, env: Environment) -> None:
        super().__init__(env)
        self._ok, self._value = True, None
        env.schedule(self, priority=_LAST)


class AllDone(Event):
    """Starts the processes now and happens when the last has ended; fails with the first that fails.

    As `simpy.AllOf`, which keeps a list of the processes and of their values: here nobody wants them.
    """

    def __init__(self, env: Environment, processes: Iterable[ProcessGenerator]) -> None:
        super().__init__(env)
        self._running = 1  # this loop, so that nothing ends before everything has begun
        for each in processes:
            self._running += 1
            Process(env, each).callbacks.append(self._note)
        self._end_one()

    def _note(self, process: Event) -> None:
        if process.ok:
            self._end_one()
        elif not self.triggered:
            process.defused = True
            self.fail(cast(Exception, process.value))

    def _end_one(self) -> None:
        self._running -= 1
        if self._running == 0 and not self.triggered:
            self.succeed()
