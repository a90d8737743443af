"""A stage of a round, reports, chains or scatter: processes side by side, in which sensors are tried again.

Where nothing can go wrong `conditions` are None, and a stage takes its steps without watching, waiting or trying again.
"""

from collections.abc import Callable, Iterable
from functools import partial
from math import inf

from simpy import Event, Interrupt, Timeout
from simpy.events import Process, ProcessGenerator

from hfedms_sim.rounds import Direction, Hop, Payload
from hfedms_sim.world.cell import Cell
from hfedms_sim.world.failing_cell import PayloadLost
from hfedms_sim.world.faults.conditions import Conditions
from hfedms_sim.world.faults.waiting import Crashed, GivenUp, RoundClosed
from hfedms_sim.world.play.floor import ChainId, Floor
from hfedms_sim.world.processes import AllDone, running
from hfedms_sim.world.streams.buffers import Capture


class Visit:
    """A sensor's turn in a round: how often it was tried, and how far it has come."""

    __slots__ = ("batch", "has_model", "sensor", "tries")

    def __init__(self, sensor: int) -> None:
        self.sensor = sensor
        self.tries = 1
        self.batch: Capture | None = None
        self.has_model = False


class Stage:
    """Processes of a round, side by side, which are cut off if the stage is closed before all of them have ended."""

    def __init__(self, floor: Floor, closes_s: float | None) -> None:
        """`closes_s`: when the stage is closed; None: it waits until all processes have ended."""
        self.env = floor.env
        self._floor = floor
        self._conditions = floor.conditions
        self._turn = floor.round
        self.closes_s = closes_s
        self._open: dict[int, Process] = {}  # under way, where something may go wrong
        self._is_closed = False

    def send(
        self, visit: Visit, cell: Cell, chain: ChainId, hop: Hop, direction: Direction, payload: Payload
    ) -> ProcessGenerator:
        """Return the process of a transfer to or from a sensor, which is tried again if its payload is lost."""
        sending = partial(self._floor.transmit, cell, chain, hop, direction, payload, (visit.sensor,))
        return sending() if self._conditions is None else self._send_with_retries(self._conditions, visit, sending)

    def _send_with_retries(
        self, conditions: Conditions, visit: Visit, sending: Callable[[], ProcessGenerator]
    ) -> ProcessGenerator:
        while True:
            try:
                yield from sending()
                return
            except PayloadLost as loss:
                self.count_try(conditions, visit, str(loss))
                conditions.log.of_sensor("retry", visit.sensor, str(loss))

    def count_try(self, conditions: Conditions, visit: Visit, reason: str) -> None:
        """Count one more try of a sensor; give it up if it has had all of them."""
        if visit.tries > conditions.recovery.retries:
            raise GivenUp(f"{reason}, and tried {visit.tries} times")
        visit.tries += 1

    def enter(self, number: int) -> None:
        """Let the process that is running now be cut off when the stage is closed."""
        self._open[number] = running(self.env)

    def leave(self, number: int) -> None:
        del self._open[number]

    def close(self) -> None:
        """Cut off the processes that are still under way."""
        if not self._is_closed:
            self._is_closed = True
            for process in tuple(self._open.values()):
                process.interrupt(RoundClosed())

    def run_until_closed(self, processes: Iterable[ProcessGenerator]) -> None:
        """Run the processes until all have ended; those that are under way when the stage is closed are cut off."""
        self._is_closed = False
        if self.closes_s is not None:
            alarm = Timeout(self.env, max(0.0, self.closes_s - self.env.now))
            alarm.callbacks.append(partial(self._close_at, self.closes_s))
        self.run_all(processes)
        self._floor.invariants.check_idle("a process of the round", not self._open)
        self._is_closed = True

    def _close_at(self, closes_s: float, alarm: Event) -> None:
        if closes_s == self.closes_s:  # else the stage was begun anew, with another time
            self.close()

    def run_all(self, processes: Iterable[ProcessGenerator]) -> None:
        """Start the processes now and let the clock run until the last one has ended."""
        self.run_until(AllDone(self.env, processes))

    def run_until(self, event: Event) -> None:
        """Let the clock run until an event has happened."""
        try:
            self.env.run(event)
        except RuntimeError as error:
            if self.env.peek() == inf:  # nothing is scheduled any more
                self._floor.invariants.breach(f"the round cannot end: {error}")
            raise


def describe_failure(reason: GivenUp | Interrupt) -> str:
    """Return in words why a sensor was given up."""
    if isinstance(reason, Interrupt):
        return "crashed" if isinstance(reason.cause, Crashed) else "too late"
    return str(reason)
