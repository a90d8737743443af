"""Chains of sensors: how a model goes from one to the next, and what becomes of it when something fails.

A chain is a SimPy process: the model comes down to the first sensor, which captures, works and hands it on through its
base station, and so on; what the last one hands over crosses to the server. Chains run side by side and meet only where
they compete for airtime. Between two sensors of one cell a transfer is an uplink and a downlink, store and forward;
across cells, and to or from the server, it also crosses the backbone, which has latency and no limit.

Once a sensor's uplink is complete, what it hands over is safe at its base station. So a sensor that fails is left out,
and the chain goes on from the last model handed over. docs/faults.md has the rules.
"""

from collections.abc import Callable, Sequence
from math import ceil

from simpy import Interrupt, Timeout
from simpy.events import ProcessGenerator

from hfedms_sim.rounds import SERVER, Group, Hop, Participation, Plan
from hfedms_sim.world.faults.conditions import Conditions
from hfedms_sim.world.faults.waiting import Crashed, GivenUp, Part, RoundClosed
from hfedms_sim.world.play.floor import ChainId, Floor
from hfedms_sim.world.play.stage import Stage, Visit

_ROUNDING = 1e-9  # so that 0.3 of 10 are 3


class Chains(Stage):
    """The chains of a plan, each a process on the clock.

    Owns which of them have arrived, and how many were late; the steps are those of `Floor`. `World.play` makes one for
    each round: a `RoundPlay`, `WindowPlay` or `TeamPlay`, which decides when chains start and which it waits for.
    """

    def __init__(self, floor: Floor, plan: Plan, closes_s: float | None, quorum: float) -> None:
        super().__init__(floor, closes_s)
        self._plan = plan
        self._quorum = quorum
        self._arrived: set[int] = set()  # numbers of the chains whose model is at the server
        self._late = 0

    def _chain(self, number: int, group: Group, chain: list[Participation]) -> ProcessGenerator:
        """Return the process of a chain, which adds to `chain` what each sensor that has handed over did."""
        conditions = self._conditions
        if conditions is None:
            return self._steady_chain(number, group, chain)
        touring = self._chain_with_faults(conditions, number, group, chain)
        return self._play_and_log_failure(
            conditions, number, group, touring, lambda: f"{len(chain)} of {len(group.sensors)} sensors"
        )

    def _play_and_log_failure(
        self,
        conditions: Conditions,
        number: int,
        group: Group,
        playing: ProcessGenerator,
        progress: Callable[[], str],
    ) -> ProcessGenerator:
        """Play what a group does where something may go wrong; log it if nothing arrives of it, or if it is cut off."""
        self.enter(number)
        try:
            yield from playing
        except GivenUp as reason:
            conditions.log.note("not delivered", f"group {group.number}", str(reason))
        except Interrupt as interrupt:
            if not isinstance(interrupt.cause, RoundClosed):
                raise
            self._late += 1
            conditions.log.note("late", f"group {group.number}", f"after {progress()}")
        self.leave(number)

    def _apply_quorum(self, arrived: list[bool], asked: int) -> list[bool]:
        """Return which chains count: those that arrived, or none if they are too few and the round is void."""
        conditions, arrivals = self._conditions, sum(arrived)
        needed = max(1, ceil(self._quorum * asked - _ROUNDING))
        if conditions is None or arrivals >= needed:
            return arrived
        found = f"{arrivals} of {asked} chains arrived, needs {needed}"
        conditions.log.note("void", f"round {self._plan.round}", found)
        return [False] * len(arrived)

    def _steady_chain(self, number: int, group: Group, chain: list[Participation]) -> ProcessGenerator:
        """Take the model from sensor to sensor, and to the server."""
        source = SERVER
        for place, sensor in enumerate(group.sensors):
            arriving, leaving = _hops(group.sensors, place, source)
            yield from self._bring(source, sensor)
            chain.append((yield from self._visit(self._id(group), arriving, leaving, Visit(sensor))))
            source = sensor
        yield from self._floor.cross(self._floor.cell_of(source), None)
        self._arrived.add(number)

    def _chain_with_faults(
        self, conditions: Conditions, number: int, group: Group, chain: list[Participation]
    ) -> ProcessGenerator:
        """Do what `_steady_chain` does, where something may go wrong."""
        yield from self._tour(conditions, group, chain)
        if chain:
            yield from self._floor.cross(self._floor.cell_of(chain[-1].sensor), None)
            self._arrived.add(number)

    def _tour(self, conditions: Conditions, group: Group, chain: list[Participation]) -> ProcessGenerator:
        """Take the model from sensor to sensor, and leave out those that fail.

        What the chain has waited for in vain it does not wait for again, as long as it is down.
        """
        tour, source, place = list(group.sensors), SERVER, 0
        visits, given_up = {sensor: Visit(sensor) for sensor in tour}, list[Part]()
        while place < len(tour):
            sensor = tour[place]
            arriving, leaving = _hops(tour, place, source)
            try:
                self._require_hope(conditions, given_up, source, sensor)
                yield from self._bring(source, sensor)
                visiting = self._visit_with_retries(conditions, self._id(group), arriving, leaving, visits[sensor])
                chain.append((yield from visiting))
                source = sensor
            except GivenUp as reason:
                given_up += [] if reason.part is None else [reason.part]
                may_detour = conditions.recovery.on_gap == "reorder" and place < len(group.sensors)
                if may_detour and leaving.target != SERVER:
                    tour.append(sensor)
                    conditions.log.of_sensor("detour", sensor, str(reason))
                else:
                    conditions.log.of_sensor("skip", sensor, str(reason))
            place += 1

    def _id(self, group: Group) -> ChainId:
        """Return what draws and rows of a group's chain are keyed by.

        Its turn is the round in which it began, and it started from the model of the round before.
        """
        return ChainId(self._turn, self._turn - 1, group.number)

    def _require_hope(self, conditions: Conditions, given_up: list[Part], source: int, sensor: int) -> None:
        """Raise `GivenUp` if the way to the sensor needs a part that the chain has given up, and that is still down."""
        if given_up:
            cell = self._floor.cell_of(sensor)
            crosses = source == SERVER or self._floor.cell_of(source) is not cell
            conditions.require_hope(given_up, cell.number, crosses=crosses, with_server=source == SERVER)

    def _bring(self, source: int, sensor: int) -> ProcessGenerator:
        """Bring the model from where it is, with the server or at the cell of a sensor, to the cell of the next."""
        held, cell = None if source == SERVER else self._floor.cell_of(source), self._floor.cell_of(sensor)
        if held is not cell:
            yield from self._floor.cross(held, cell)

    def _visit_with_retries(
        self, conditions: Conditions, chain: ChainId, arriving: Hop, leaving: Hop, visit: Visit
    ) -> ProcessGenerator:
        """Visit a sensor, again if it crashes and is back in time; `GivenUp` if it is not, or has had all its tries."""
        visit.tries = 1
        while True:
            try:
                if (waiting := conditions.wait_until_recovered(visit.sensor)) is not None:
                    yield from waiting
                if visit.tries > 1:
                    conditions.log.of_sensor("retry", visit.sensor, "is back after a crash")
                with conditions.interrupted_by_crash(visit.sensor):
                    return (yield from self._visit(chain, arriving, leaving, visit))
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

    def _visit(self, chain: ChainId, arriving: Hop, leaving: Hop, visit: Visit) -> ProcessGenerator:
        """Bring the model to a sensor, let it work, and take what it hands over; return what it did."""
        plan, floor, sensor = self._plan, self._floor, visit.sensor
        cell = floor.cell_of(sensor)
        brought = plan.relay_payload if arriving.source >= 0 else plan.payload
        yield from self.send(visit, cell, chain, arriving, "down", brought)
        visit.has_model = True
        batch = visit.batch
        if batch is None:
            while wait_s := floor.wait_s(sensor, chain.turn, plan.reuse_batch):  # again if the clock rounded it short
                yield Timeout(self.env, wait_s)
            visit.batch = batch = floor.batch(sensor, chain.turn, plan.reuse_batch)
            if plan.scatter is not None:  # calibration rounds follow, which may reuse the batch
                floor.keep(sensor, chain.turn, batch)
        memory = plan.memory_fill.get(sensor, 0)
        is_never_stored, is_first_calibration = sensor in plan.never_stored, sensor in plan.first_calibrations
        trained, began_s = False, self.env.now
        for step in plan.work:
            samples = step.samples(batch.captured, memory, is_never_stored, is_first_calibration)
            if samples:
                trained = trained or step.kind != "extract"
                yield from floor.work(chain, arriving.number, sensor, step, samples)
        floor.last_work_s[sensor] = self.env.now - began_s
        handed_over = plan.relay_payload if leaving.target >= 0 else plan.uplink_payload
        yield from self.send(visit, cell, chain, leaving, "up", handed_over)
        return Participation(sensor, batch.ranges, trained, False)


def _hops(tour: Sequence[int], place: int, source: int) -> tuple[Hop, Hop]:
    """Return the hops to and from the sensor at this place of a tour."""
    following = tour[place + 1] if place + 1 < len(tour) else SERVER
    return Hop(place, source, tour[place]), Hop(place + 1, tour[place], following)
