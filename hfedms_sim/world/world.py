"""The factory on the simulated clock: plays a plan and tells what happened.

A chain is a story: the model comes down to the first sensor, who captures, works and hands it on through the base
station, and so on until the last one pushes it to the server. Chains run side by side and meet only where they
compete for airtime. Between two sensors of one cell a transfer is an uplink and a downlink, store and forward;
across cells, and to or from the server, it also crosses the backbone, which has latency and no limit. The server's
arithmetic takes no time.
"""

from collections.abc import Iterable, Iterator
from math import inf
from typing import NamedTuple

from simpy import Environment, Timeout

from hfedms_sim.rounds import EVERYONE, SERVER, Group, Hop, Participation, Payload, Plan, RoundRecord, Scatter, WorkStep
from hfedms_sim.scenario import Scenario
from hfedms_sim.trace import Trace
from hfedms_sim.world.cell import Cell, Direction
from hfedms_sim.world.stories import Story, Together
from hfedms_sim.world.streams import Capture, Streams

_ALONE = -1  # group and hop of a transfer outside any chain


class _Place(NamedTuple):
    """Where a participant stands: its chain, as it grows, and its index there."""

    group: int
    hop: int
    chain: list[Participation]

    @property
    def sensor(self) -> int:
        return self.chain[self.hop].sensor


class World:
    def __init__(self, scenario: Scenario, trace: Trace) -> None:
        self.env = Environment(0.0)
        self.cells = tuple(Cell(self.env, settings) for settings in scenario.cells)
        self.sensor_count = scenario.sensors.count
        self.payload_bytes: dict[Direction, int] = {"up": 0, "down": 0}
        self._backbone_s = scenario.backbone.latency_s
        self._multiply_adds_per_s = inf  # compute.device: instant
        self._streams = Streams(scenario.stream)
        self._batches: dict[int, tuple[int, Capture]] = {}  # of the last report: sensor -> round, capture
        self._trace = trace
        self._round = 0
        self._round_start_s = 0.0
        self._transfers = 0

    def cell_of(self, sensor: int) -> Cell:
        return self.cells[sensor % len(self.cells)]

    def _cell_or_server(self, end: int) -> Cell | None:
        return None if end == SERVER else self.cell_of(end)

    def begin(self, round_number: int) -> None:
        self._round = round_number
        self._round_start_s = self.env.now

    def report(self, payload: Payload) -> None:
        """Every sensor captures a batch now, and sends its class counts to the server."""
        for sensor in range(self.sensor_count):
            self._batches[sensor] = (self._round, self._capture(sensor))
        self._play_together(
            self._carry(payload, _ALONE, Hop(_ALONE, sensor, SERVER)) for sensor in range(self.sensor_count)
        )

    def play(self, plan: Plan) -> RoundRecord:
        chains: list[list[Participation]] = [[] for _ in plan.groups]
        self._play_together(self._chain(plan, group, chain) for group, chain in zip(plan.groups, chains, strict=True))
        if plan.scatter is not None:
            self._play_together(self._scatter(plan, plan.scatter, chains))
        return RoundRecord(
            round=plan.round,
            cycle=plan.cycle,
            phase=plan.phase,
            chains=tuple(tuple(chain) for chain in chains),
            arrived=(True,) * len(chains),
            start_s=self._round_start_s,
            end_s=self.env.now,
        )

    def _chain(self, plan: Plan, group: Group, chain: list[Participation]) -> Story:
        for number in range(group.hop_count):
            hop = group.hop(number)
            yield from self._carry(plan.payload, group.number, hop)
            if hop.target != SERVER:
                batch = self._batch(hop.target, plan.reuse_batch)
                memory = plan.memory.get(hop.target, 0)
                trained = False
                for step in plan.work:
                    samples = step.samples(batch.captured, memory)
                    if samples:
                        trained = trained or step.kind != "extract"
                        yield from self._work(group.number, hop.number, hop.target, step, samples)
                chain.append(Participation(hop.target, batch.first_arrival, batch.captured, trained, True, False))

    def _carry(self, payload: Payload, group: int, hop: Hop) -> Story:
        """From one end of a hop to the other: up, across, down, as far as each is needed."""
        source, target = self._cell_or_server(hop.source), self._cell_or_server(hop.target)
        if source is not None:
            ready_s = self.env.now
            began_s = yield source.send("up", hop.source, payload.size_bytes)
            self._log_transfer(source, "up", hop.source, payload, group, hop, ready_s, began_s)
        if source is not target and self._backbone_s:
            yield Timeout(self.env, self._backbone_s)
        if target is not None:
            ready_s = self.env.now
            began_s = yield target.send("down", hop.target, payload.size_bytes)
            self._log_transfer(target, "down", hop.target, payload, group, hop, ready_s, began_s)

    def _scatter(self, plan: Plan, scatter: Scatter, chains: list[list[Participation]]) -> Iterator[Story]:
        """One story per receiver; if it is broadcast, one per cell."""
        places = [
            _Place(group.number, hop, chain)
            for group, chain in zip(plan.groups, chains, strict=True)
            for hop in range(len(chain))
        ]
        if scatter.mode == "unicast":
            return (self._scatter_to(place, scatter) for place in places)
        by_cell: dict[Cell, list[_Place]] = {}
        for place in places:
            by_cell.setdefault(self.cell_of(place.sensor), []).append(place)
        return (self._broadcast(cell, receivers, scatter) for cell, receivers in by_cell.items())

    def _scatter_to(self, place: _Place, scatter: Scatter) -> Story:
        yield from self._carry(scatter.payload, _ALONE, Hop(_ALONE, SERVER, place.sensor))
        yield from self._receive_scatter(place, scatter)

    def _broadcast(self, cell: Cell, receivers: list[_Place], scatter: Scatter) -> Story:
        if self._backbone_s:
            yield Timeout(self.env, self._backbone_s)
        ready_s, hop = self.env.now, Hop(_ALONE, SERVER, EVERYONE)
        began_s = yield cell.send("down", EVERYONE, scatter.payload.size_bytes)
        self._log_transfer(cell, "down", EVERYONE, scatter.payload, _ALONE, hop, ready_s, began_s)
        yield Together(self.env, (self._receive_scatter(place, scatter) for place in receivers))

    def _receive_scatter(self, place: _Place, scatter: Scatter) -> Story:
        received = place.chain[place.hop] = place.chain[place.hop]._replace(got_scatter=True)
        for step in scatter.work:
            yield from self._work(place.group, place.hop, received.sensor, step, received.captured)

    def _work(self, group: int, hop: int, sensor: int, step: WorkStep, samples: int) -> Story:
        start_s = self.env.now
        work_s = samples * step.multiply_adds_per_sample / self._multiply_adds_per_s
        if work_s:
            yield Timeout(self.env, work_s)
        self._trace.work.append((self._round, group, hop, sensor, step.kind, samples, start_s, self.env.now, None))

    def _log_transfer(
        self,
        cell: Cell,
        direction: Direction,
        sensor: int,
        payload: Payload,
        group: int,
        hop: Hop,
        ready_s: float,
        began_s: float | None,
    ) -> None:
        """A payload has just been delivered."""
        self.payload_bytes[direction] += payload.size_bytes
        self._trace.transfers.append((
            self._transfers, self._round, group, hop.number, direction, payload.kind, hop.source, hop.target, sensor,
            cell.name, payload.size_bytes, ready_s, ready_s if began_s is None else began_s, self.env.now,
            cell.airtime_s(direction, payload.size_bytes), 0, None, "ok",
        ))  # fmt: skip
        self._transfers += 1

    def _batch(self, sensor: int, reuse: bool) -> Capture:
        """What the sensor works on: the batch it reported in this round (or is told to reuse), else a new one."""
        held = self._batches.get(sensor)
        if held is not None and (reuse or held[0] == self._round):
            return held[1]
        return self._capture(sensor)

    def _capture(self, sensor: int) -> Capture:
        capture = self._streams.capture(self._round)
        self._trace.captures.append((self._round, sensor, self.env.now, *capture))
        return capture

    def _play_together(self, stories: Iterable[Story]) -> None:
        """Starts the stories now and lets the clock run until the last one has ended."""
        self.env.run(Together(self.env, stories))
