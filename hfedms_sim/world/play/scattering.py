"""The scatter after a round's merge: the new model to every participant whose chain arrived, and their work with it.

It goes to each of them, or once per cell to all. A broadcast waits for no sensor: one that is out of reach when it
begins, or goes before it ends, has missed it.
"""

from collections.abc import Iterator
from typing import NamedTuple

from simpy import Interrupt
from simpy.events import ProcessGenerator

from hfedms_sim.rounds import EVERYONE, SERVER, Hop, Participation, Scatter
from hfedms_sim.transfers import Transfer
from hfedms_sim.world.cell import Cell
from hfedms_sim.world.faults.conditions import Conditions
from hfedms_sim.world.faults.waiting import GivenUp
from hfedms_sim.world.play.floor import NO_CHAIN, ChainId, Floor
from hfedms_sim.world.play.stage import Stage, Visit, describe_failure
from hfedms_sim.world.processes import AllDone


class Place(NamedTuple):
    """Where a participant stands: its chain, as it grew, and its index there."""

    group: int
    hop: int
    chain: list[Participation]

    @property
    def sensor(self) -> int:
        return self.chain[self.hop].sensor


class Scattering(Stage):
    def __init__(self, floor: Floor, scatter: Scatter) -> None:
        super().__init__(floor, None)
        self._scatter = scatter
        self._merged = ChainId(self._turn, self._turn)

    def play(self, places: list[Place]) -> None:
        """Send the model to these participants; who has got it is noted in their chains."""
        self.run_all(self._unicasts(places) if self._scatter.mode == "unicast" else self._broadcasts(places))

    def _unicasts(self, places: list[Place]) -> Iterator[ProcessGenerator]:
        return map(self._unicast, places)

    def _broadcasts(self, places: list[Place]) -> Iterator[ProcessGenerator]:
        by_cell: dict[Cell, list[Place]] = {}
        for place in places:
            by_cell.setdefault(self._floor.cell_of(place.sensor), []).append(place)
        return (self._broadcast(cell, receivers) for cell, receivers in by_cell.items())

    def _unicast(self, place: Place) -> ProcessGenerator:
        conditions, sensor = self._conditions, place.sensor
        if conditions is None:
            yield from self._send_to(sensor)
        else:
            try:
                if (waiting := conditions.wait_until_recovered(sensor)) is not None:
                    yield from waiting
                with conditions.interrupted_by_crash(sensor):
                    yield from self._send_to(sensor)
            except (GivenUp, Interrupt) as reason:
                conditions.log.of_sensor("missed scatter", sensor, describe_failure(reason))
                return
        yield AllDone(self.env, [self._receive(place)])

    def _send_to(self, sensor: int) -> ProcessGenerator:
        cell, hop = self._floor.cell_of(sensor), Hop(NO_CHAIN, SERVER, sensor)
        yield from self._floor.cross(None, cell)
        yield from self.send(Visit(sensor), cell, self._merged, hop, "down", self._scatter.payload)

    def _broadcast(self, cell: Cell, receivers: list[Place]) -> ProcessGenerator:
        conditions = self._conditions
        if conditions is None:
            yield from self._floor.cross(None, cell)
            yield from self._send_to_all(cell, tuple(place.sensor for place in receivers))
        else:
            receivers = yield from self._broadcast_with_faults(conditions, cell, receivers)
        yield AllDone(self.env, map(self._receive, receivers))

    def _send_to_all(self, cell: Cell, radios: tuple[int, ...]) -> ProcessGenerator:
        hop = Hop(NO_CHAIN, SERVER, EVERYONE)
        return self._floor.transmit(cell, self._merged, hop, "down", self._scatter.payload, radios)

    def _broadcast_with_faults(self, conditions: Conditions, cell: Cell, receivers: list[Place]) -> ProcessGenerator:
        """Broadcast to a cell; return the places of the receivers that listened from the beginning to the end."""
        radios, missed = tuple[int, ...](), set[int]()
        try:
            yield from self._floor.cross(None, cell)
            radios = tuple(place.sensor for place in receivers if conditions.listens(place.sensor))
            if radios:
                with conditions.noting_losses(radios, missed):
                    yield from self._send_to_all(cell, radios)
                missed |= {sensor for sensor in radios if conditions.is_lost(self._heard(radios), sensor)}
        except GivenUp:
            missed |= set(radios)
        heard = set(radios) - missed
        for place in receivers:
            if place.sensor not in heard:
                conditions.log.of_sensor("missed scatter", place.sensor, f"not reached by cell {cell.name}")
        return [place for place in receivers if place.sensor in heard]

    def _heard(self, radios: tuple[int, ...]) -> Transfer:
        """Return the broadcast that these radios have heard."""
        hop = Hop(NO_CHAIN, SERVER, EVERYONE)
        return Transfer(*self._merged, hop, "down", self._scatter.payload, EVERYONE, radios)

    def _receive(self, place: Place) -> ProcessGenerator:
        """Let a receiver do its work with the merged model; it has the scatter when that is done."""
        conditions = self._conditions
        if conditions is None:
            yield from self._extract(place)
            return
        try:
            with conditions.interrupted_by_crash(place.sensor):
                yield from self._extract(place)
        except Interrupt as reason:
            conditions.log.of_sensor("missed scatter", place.sensor, describe_failure(reason))

    def _extract(self, place: Place) -> ProcessGenerator:
        received = place.chain[place.hop]
        for step in self._scatter.work:
            chain = self._merged._replace(group=place.group)
            yield from self._floor.work(chain, place.hop, received.sensor, step, received.captured)
        place.chain[place.hop] = received._replace(got_scatter=True)
