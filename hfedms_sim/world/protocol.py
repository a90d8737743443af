"""The protocol of a round: reports, chains and scatter, and what becomes of them when something fails.

A chain is a SimPy process: the model comes down to the first sensor, who captures, works and hands it on through its
base station, and so on; what the last one hands over crosses to the server. Chains run side by side and meet only where
they compete for airtime. Between two sensors of one cell a transfer is an uplink and a downlink, store and forward;
across cells, and to or from the server, it also crosses the backbone, which has latency and no limit.

Once a sensor's uplink is complete, what it hands over is safe at its base station. So a sensor that fails is left out,
and the chain goes on from the last model handed over. docs/faults.md has the rules.
"""

from collections.abc import Iterable, Iterator, Sequence
from functools import partial
from math import ceil, inf
from typing import NamedTuple

from simpy import Event, Interrupt, Timeout
from simpy.events import Process, ProcessGenerator

from hfedms_sim.rounds import EVERYONE, SERVER, Direction, Group, Hop, Participation, Payload, Plan, Samples, Scatter
from hfedms_sim.world.buffers import Capture
from hfedms_sim.world.cell import Cell
from hfedms_sim.world.conditions import Conditions
from hfedms_sim.world.failing_cell import PayloadLost
from hfedms_sim.world.floor import NO_CHAIN, Floor
from hfedms_sim.world.patience import Crashed, GivenUp, RoundClosed
from hfedms_sim.world.processes import AllDone
from hfedms_sim.world.transfer import Transfer

_ROUNDING = 1e-9  # so that 0.3 of 10 are 3


class Visit:
    """A sensor's turn in a round: how often it was tried, and how far it has come."""

    __slots__ = ("batch", "has_model", "sensor", "tries")

    def __init__(self, sensor: int) -> None:
        self.sensor = sensor
        self.tries = 1
        self.batch: Capture | None = None
        self.has_model = False


class _Place(NamedTuple):
    """Where a participant stands: its chain, as it grew, and its index there."""

    group: int
    hop: int
    chain: list[Participation]

    @property
    def sensor(self) -> int:
        return self.chain[self.hop].sensor


class Stage:
    """A part of a round: processes side by side, which may be closed before all of them have ended."""

    def __init__(self, floor: Floor, closes_s: float | None) -> None:
        """`closes_s` is when it is closed; None: when all have ended."""
        self.env = floor.env
        self._floor = floor
        self._conditions = floor.conditions
        self.closes_s = closes_s
        self._open: dict[int, Process] = {}  # under way, where something may go wrong
        self._is_closed = False

    def send(
        self, visit: Visit, cell: Cell, group: int, hop: Hop, direction: Direction, payload: Payload
    ) -> ProcessGenerator:
        if self._conditions is None:
            yield from self._floor.transmit(cell, group, hop, direction, payload, (visit.sensor,))
            return
        while True:
            try:
                yield from self._floor.transmit(cell, group, hop, direction, payload, (visit.sensor,))
                return
            except PayloadLost as loss:
                self.count_try(self._conditions, visit, str(loss))
                self._conditions.log.of_sensor("retry", visit.sensor, str(loss))

    def count_try(self, conditions: Conditions, visit: Visit, reason: str) -> None:
        """Count one more try of a sensor; give it up if it has had all of them."""
        if visit.tries > conditions.recovery.retries:
            raise GivenUp(f"{reason}, and tried {visit.tries} times")
        visit.tries += 1

    def enter(self, number: int) -> None:
        """Let the process that is running now be cut off when this is closed."""
        process = self.env.active_process
        assert process is not None
        self._open[number] = process

    def leave(self, number: int) -> None:
        del self._open[number]

    def close(self) -> None:
        """Cut off whoever is still under way."""
        if not self._is_closed:
            self._is_closed = True
            for process in tuple(self._open.values()):
                process.interrupt(RoundClosed())

    def run_until_closed(self, processes: Iterable[ProcessGenerator]) -> None:
        """Run the processes until all have ended, or this is closed."""
        self._is_closed = False
        if self.closes_s is not None:
            alarm = Timeout(self.env, max(0.0, self.closes_s - self.env.now))
            alarm.callbacks.append(partial(self._close_at, self.closes_s))
        self.run_all(processes)
        self._is_closed = True

    def _close_at(self, closes_s: float, alarm: Event) -> None:
        if closes_s == self.closes_s:  # else it was begun anew
            self.close()

    def run_all(self, processes: Iterable[ProcessGenerator]) -> None:
        """Start the processes now and let the clock run until the last one has ended."""
        try:
            self.env.run(AllDone(self.env, processes))
        except RuntimeError as error:
            if self.env.peek() == inf:  # nothing is scheduled any more
                self._floor.invariants.breach(f"the round cannot end: {error}")
            raise


class Reports(Stage):
    """All sensors send their class counts before the round is planned."""

    def __init__(self, floor: Floor, payload: Payload, closes_s: float | None) -> None:
        super().__init__(floor, closes_s)
        self._payload = payload
        self._captured: dict[int, Samples] = {}
        self._answered: set[int] = set()

    def play(self, sensors: Sequence[int]) -> dict[int, Samples]:
        """Return what each sensor that has answered captured, in the order of the sensors."""
        for sensor in sensors:
            if self._conditions is None or not self._conditions.has_crashed(sensor):
                self._capture(sensor)
        self.run_until_closed(self._push(sensor) for sensor in sensors)
        return {sensor: self._captured[sensor] for sensor in sensors if sensor in self._answered}

    def _capture(self, sensor: int) -> None:
        if sensor not in self._captured:
            batch = self._floor.capture(sensor)
            self._floor.keep(sensor, batch)
            self._captured[sensor] = batch.ranges

    def _push(self, sensor: int) -> ProcessGenerator:
        conditions, visit = self._conditions, Visit(sensor)
        if conditions is None:
            yield from self._answer(visit)
            return
        self.enter(sensor)
        try:
            if (waiting := conditions.recovered(sensor)) is not None:
                yield from waiting
            self._capture(sensor)
            with conditions.crashing(sensor):
                yield from self._answer(visit)
        except (GivenUp, Interrupt) as reason:
            conditions.log.of_sensor("no report", sensor, _said(reason))
        self.leave(sensor)

    def _answer(self, visit: Visit) -> ProcessGenerator:
        sensor, cell = visit.sensor, self._floor.cell_of(visit.sensor)
        yield from self.send(visit, cell, NO_CHAIN, Hop(NO_CHAIN, sensor, SERVER), "up", self._payload)
        yield from self._floor.cross(cell, None)
        self._answered.add(sensor)


class RoundPlay(Stage):
    """One round of chains, and the scatter after it."""

    def __init__(self, floor: Floor, plan: Plan, closes_s: float | None, quorum: float) -> None:
        super().__init__(floor, closes_s)
        self._plan = plan
        self._quorum = quorum
        self.chains: tuple[list[Participation], ...] = tuple([] for _ in plan.groups)
        self.has_arrived = [False] * len(plan.groups)
        self.arrivals = 0
        self.late = 0

    def play(self) -> None:
        plan, conditions = self._plan, self._conditions
        self.run_until_closed(map(self._chain, range(len(plan.groups))))
        if conditions is None:
            self.arrivals = len(plan.groups)
        else:
            self._judge(conditions)
        if plan.scatter is not None:
            self.run_all(self._scatter(plan.scatter))

    def _judge(self, conditions: Conditions) -> None:
        """Make the round void if too few chains have arrived."""
        asked = self._plan.closes_after or len(self._plan.groups)
        needed = max(1, ceil(self._quorum * asked - _ROUNDING))
        if self.arrivals < needed:
            self.has_arrived = [False] * len(self.has_arrived)
            found = f"{self.arrivals} of {asked} chains arrived, needs {needed}"
            conditions.log.note("void", f"round {self._plan.round}", found)

    # Chains

    def _chain(self, index: int) -> ProcessGenerator:
        group, chain, conditions = self._plan.groups[index], self.chains[index], self._conditions
        if conditions is None:
            yield from self._tour(group, chain)
            yield from self._floor.cross(self._floor.cell_of(chain[-1].sensor), None)
            self.has_arrived[index] = True
            return
        self.enter(index)
        try:
            yield from self._tour(group, chain)
            if chain:
                yield from self._floor.cross(self._floor.cell_of(chain[-1].sensor), None)
                self.has_arrived[index] = True
                self.arrivals += 1
        except GivenUp as reason:
            conditions.log.note("not delivered", f"group {group.number}", str(reason))
        except Interrupt:
            self.late += 1
            conditions.log.note("late", f"group {group.number}", f"after {len(chain)} of {len(group.sensors)} sensors")
        self.leave(index)
        if self.arrivals == self._plan.closes_after:
            self.close()

    def _tour(self, group: Group, chain: list[Participation]) -> ProcessGenerator:
        """Take the model from sensor to sensor, and leave out those that fail."""
        tour, source, place, conditions = list(group.sensors), SERVER, 0, self._conditions
        while place < len(tour):
            sensor, following = tour[place], tour[place + 1] if place + 1 < len(tour) else SERVER
            arriving, leaving = Hop(place, source, sensor), Hop(place + 1, sensor, following)
            if conditions is None:
                chain.append((yield from self._visit(group.number, arriving, leaving, Visit(sensor))))
                source = sensor
            else:
                try:
                    chain.append((yield from self._tried(conditions, group.number, arriving, leaving)))
                    source = sensor
                except GivenUp as reason:
                    is_detour = conditions.recovery.on_gap == "reorder" and place < len(group.sensors)
                    if is_detour and following != SERVER:
                        tour.append(sensor)
                        conditions.log.of_sensor("detour", sensor, str(reason))
                    else:
                        conditions.log.of_sensor("skip", sensor, str(reason))
            place += 1

    def _tried(self, conditions: Conditions, group: int, arriving: Hop, leaving: Hop) -> ProcessGenerator:
        """Visit a sensor, again if it has crashed and is back in time."""
        visit = Visit(arriving.target)
        while True:
            try:
                if (waiting := conditions.recovered(visit.sensor)) is not None:
                    yield from waiting
                if visit.tries > 1:
                    conditions.log.of_sensor("retry", visit.sensor, "is back after a crash")
                with conditions.crashing(visit.sensor):
                    return (yield from self._visit(group, arriving, leaving, visit))
            except GivenUp as reason:
                self._note_lost_work(conditions, visit, str(reason))
                raise
            except Interrupt as interrupt:
                if not isinstance(interrupt.cause, Crashed):
                    raise
                self._note_lost_work(conditions, visit, "crashed")
                self.count_try(conditions, visit, f"sensor {visit.sensor} crashed")

    def _note_lost_work(self, conditions: Conditions, visit: Visit, reason: str) -> None:
        if visit.has_model:
            visit.has_model = False
            conditions.log.of_sensor("lost work", visit.sensor, reason)

    def _visit(self, group: int, arriving: Hop, leaving: Hop, visit: Visit) -> ProcessGenerator:
        """Bring the model to a sensor, let it work, and take what it hands over; return what it did."""
        plan, floor, sensor = self._plan, self._floor, visit.sensor
        source, cell = None if arriving.source == SERVER else floor.cell_of(arriving.source), floor.cell_of(sensor)
        if source is not cell:
            yield from floor.cross(source, cell)
        yield from self.send(visit, cell, group, arriving, "down", plan.payload)
        visit.has_model = True
        batch = visit.batch
        if batch is None:
            while wait_s := floor.wait_s(sensor, plan.reuse_batch):  # again if the clock rounded it short
                yield Timeout(self.env, wait_s)
            visit.batch = batch = floor.batch(sensor, plan.reuse_batch)
            if plan.scatter is not None:  # a calibration round may reuse it
                floor.keep(sensor, batch)
        memory, newcomer = plan.memory_fill.get(sensor, 0), sensor in plan.newcomers
        trained, began_s = False, self.env.now
        for step in plan.work:
            samples = step.samples(batch.captured, memory, newcomer)
            if samples:
                trained = trained or step.kind != "extract"
                yield from floor.work(group, arriving.number, sensor, step, samples)
        floor.last_work_s[sensor] = self.env.now - began_s
        yield from self.send(visit, cell, group, leaving, "up", plan.uplink_payload)
        return Participation(sensor, batch.ranges, trained, True, False)

    # Scatter

    def _scatter(self, scatter: Scatter) -> Iterator[ProcessGenerator]:
        """Return a process for each receiver; if it is broadcast, one for each cell."""
        places = [
            _Place(group.number, hop, chain)
            for group, chain, arrived in zip(self._plan.groups, self.chains, self.has_arrived, strict=True)
            if arrived
            for hop in range(len(chain))
        ]
        if scatter.mode == "unicast":
            return (self._scatter_to(place, scatter) for place in places)
        by_cell: dict[Cell, list[_Place]] = {}
        for place in places:
            by_cell.setdefault(self._floor.cell_of(place.sensor), []).append(place)
        return (self._broadcast(cell, receivers, scatter) for cell, receivers in by_cell.items())

    def _scatter_to(self, place: _Place, scatter: Scatter) -> ProcessGenerator:
        conditions, sensor = self._conditions, place.sensor
        hop, cell, visit = Hop(NO_CHAIN, SERVER, sensor), self._floor.cell_of(sensor), Visit(sensor)
        if conditions is None:
            yield from self._floor.cross(None, cell)
            yield from self.send(visit, cell, NO_CHAIN, hop, "down", scatter.payload)
        else:
            try:
                if (waiting := conditions.recovered(sensor)) is not None:
                    yield from waiting
                with conditions.crashing(sensor):
                    yield from self._floor.cross(None, cell)
                    yield from self.send(visit, cell, NO_CHAIN, hop, "down", scatter.payload)
            except (GivenUp, Interrupt) as reason:
                conditions.log.of_sensor("missed scatter", sensor, _said(reason))
                return
        yield AllDone(self.env, [self._receive(place, scatter)])

    def _broadcast(self, cell: Cell, receivers: list[_Place], scatter: Scatter) -> ProcessGenerator:
        conditions, hop = self._conditions, Hop(NO_CHAIN, SERVER, EVERYONE)
        if conditions is None:
            yield from self._floor.cross(None, cell)
            radios = tuple(place.sensor for place in receivers)
            yield from self._floor.transmit(cell, NO_CHAIN, hop, "down", scatter.payload, radios)
        else:
            receivers = yield from self._broadcast_under(conditions, cell, hop, receivers, scatter)
        yield AllDone(self.env, (self._receive(place, scatter) for place in receivers))

    def _broadcast_under(
        self, conditions: Conditions, cell: Cell, hop: Hop, receivers: list[_Place], scatter: Scatter
    ) -> ProcessGenerator:
        """Broadcast to whoever listens from the beginning to the end, and return where those stand."""
        listening = list[_Place]()
        missed: set[int] = set()
        try:
            yield from self._floor.cross(None, cell)
            listening = [place for place in receivers if conditions.listens(place.sensor)]
            radios = tuple(place.sensor for place in listening)
            if radios:
                with conditions.noting_losses(radios, missed):
                    yield from self._floor.transmit(cell, NO_CHAIN, hop, "down", scatter.payload, radios)
                sent = Transfer(self._plan.round, NO_CHAIN, hop, "down", scatter.payload, EVERYONE, radios)
                missed |= {sensor for sensor in radios if conditions.is_lost(sent, sensor)}
        except GivenUp:
            listening = []
        heard = {place.sensor: place for place in listening if place.sensor not in missed}
        for place in receivers:
            if place.sensor not in heard:
                conditions.log.of_sensor("missed scatter", place.sensor, f"not reached by cell {cell.name}")
        return list(heard.values())

    def _receive(self, place: _Place, scatter: Scatter) -> ProcessGenerator:
        """Let a receiver do its work with the merged model; it has the scatter when that is done."""
        conditions, received = self._conditions, place.chain[place.hop]
        if conditions is None:
            yield from self._extract(place, received, scatter)
            return
        try:
            with conditions.crashing(received.sensor):
                yield from self._extract(place, received, scatter)
        except Interrupt as reason:
            conditions.log.of_sensor("missed scatter", received.sensor, _said(reason))

    def _extract(self, place: _Place, received: Participation, scatter: Scatter) -> ProcessGenerator:
        for step in scatter.work:
            yield from self._floor.work(place.group, place.hop, received.sensor, step, received.captured)
        place.chain[place.hop] = received._replace(got_scatter=True)


def _said(reason: GivenUp | Interrupt) -> str:
    """Return in words why something was given up."""
    if isinstance(reason, Interrupt):
        return "crashed" if isinstance(reason.cause, Crashed) else "too late"
    return str(reason)
