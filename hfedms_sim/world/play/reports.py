"""The reports of a round: all sensors send their class counts before it is planned."""

from collections.abc import Sequence

from simpy import Interrupt
from simpy.events import ProcessGenerator

from hfedms_sim.rounds import SERVER, Hop, Payload, Samples
from hfedms_sim.world.faults.waiting import GivenUp
from hfedms_sim.world.play.floor import NO_CHAIN, ChainId, Floor
from hfedms_sim.world.play.stage import Stage, Visit, describe_failure


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
            batch = self._floor.capture(sensor, self._turn)
            self._floor.keep(sensor, self._turn, batch)
            self._captured[sensor] = batch.ranges

    def _push(self, sensor: int) -> ProcessGenerator:
        conditions, visit = self._conditions, Visit(sensor)
        if conditions is None:
            yield from self._answer(visit)
            return
        self.enter(sensor)
        try:
            if (waiting := conditions.wait_until_recovered(sensor)) is not None:
                yield from waiting
            self._capture(sensor)
            with conditions.interrupted_by_crash(sensor):
                yield from self._answer(visit)
        except (GivenUp, Interrupt) as reason:
            conditions.log.of_sensor("no report", sensor, describe_failure(reason))
        self.leave(sensor)

    def _answer(self, visit: Visit) -> ProcessGenerator:
        sensor, cell = visit.sensor, self._floor.cell_of(visit.sensor)
        hop = Hop(NO_CHAIN, sensor, SERVER)
        yield from self.send(visit, cell, ChainId(self._turn, self._turn - 1), hop, "up", self._payload)
        yield from self._floor.cross(cell, None)
        self._answered.add(sensor)
