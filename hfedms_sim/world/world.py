"""The factory on the simulated clock: plays a plan and tells what happened.

A chain is a story: the model comes down to the first sensor, who captures, works and hands it on through the base
station, and so on until the last one pushes it to the server. Chains run side by side and meet only where they
compete for airtime. Between two sensors of one cell a transfer is an uplink and a downlink, store and forward;
across cells, and to or from the server, it also crosses the backbone, which has latency and no limit. The server's
arithmetic takes no time.
"""

from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple

import numpy as np
from simpy import Timeout

from hfedms_sim.rounds import (
    EVERYONE,
    SERVER,
    Direction,
    Group,
    Hop,
    Participation,
    Payload,
    Plan,
    RoundRecord,
    Samples,
    Scatter,
    WorkStep,
)
from hfedms_sim.scenario import DEVICES, Scenario
from hfedms_sim.schedule import redraw_rounds
from hfedms_sim.seeds import Draws
from hfedms_sim.trace import Trace
from hfedms_sim.world.attachment import make_attachment
from hfedms_sim.world.buffers import Capture
from hfedms_sim.world.cell import Cell
from hfedms_sim.world.clock import Clock
from hfedms_sim.world.luck import Luck
from hfedms_sim.world.stories import Story, Together
from hfedms_sim.world.streams import Sizes, make_streams

_ALONE = -1  # group and hop of a transfer outside any chain


class Energy(NamedTuple):
    total_j: float
    baseline_j: float


class _Place(NamedTuple):
    """Where a participant stands: its chain, as it grows, and its index there."""

    group: int
    hop: int
    chain: list[Participation]

    @property
    def sensor(self) -> int:
        return self.chain[self.hop].sensor


class World:
    def __init__(self, scenario: Scenario, trace: Trace, sizes: Sizes | None = None) -> None:
        """`sizes`: how many samples each sensor owns, where that limits what it can capture."""
        self.env = Clock()
        draws = Draws(scenario.seed)
        self._attachment = make_attachment(scenario, draws)
        self.covered = self._attachment.covered
        """The sensors that can take part."""
        self.cells = tuple(
            Cell(self.env, number, settings, draws, self._attachment) for number, settings in enumerate(scenario.cells)
        )
        self._luck = Luck(draws, scenario.sensors.count, self.cells, self._attachment)
        self.payload_bytes: dict[Direction, int] = {"up": 0, "down": 0}
        self.retransmitted_bytes = 0
        self.energy_j: float | None = 0.0
        self._backbone_s = scenario.backbone.latency_s
        self._device = DEVICES[scenario.compute.device]
        self._streams = make_streams(scenario.stream, scenario.sensors.count, draws, sizes, redraw_rounds(scenario))
        self._batches: dict[int, tuple[int, Capture]] = {}  # of the last report or full round: sensor -> round, capture
        self._trace = trace
        self._round = 0
        self._round_start_s = 0.0
        self._transfers = 0
        self._work_j = 0.0
        for sensor in np.setdiff1d(np.arange(scenario.sensors.count), self.covered).tolist():
            trace.faults.append((0.0, "out of coverage", f"sensor {sensor}", 0, "takes no part in the run"))

    def cell_of(self, sensor: int) -> Cell:
        return self.cells[self._attachment.cell(sensor)]

    def _cell_or_server(self, end: int) -> Cell | None:
        return None if end == SERVER else self.cell_of(end)

    def begin(self, round_number: int) -> None:
        self._round = round_number
        self._round_start_s = self.env.now

    def end_round(self) -> Energy | None:
        """Joules since the last call; None unless every cell's radio is modelled."""
        work_j, self._work_j = self._work_j, 0.0
        radio = [cell.connections.end_round(self.env.now) for cell in self.cells]
        modelled = [each for each in radio if each is not None]
        if self.energy_j is None or len(modelled) < len(radio):
            self.energy_j = None
            return None
        baseline_j = sum(each.baseline_j for each in modelled)
        total_j = work_j + baseline_j + sum(each.transfers_j for each in modelled)
        self.energy_j += total_j
        return Energy(total_j, baseline_j)

    def report(self, payload: Payload) -> dict[int, Samples]:
        """Every sensor in coverage captures a batch now, and sends its class counts to the server.

        Returns what each of them captured.
        """
        sensors = self.covered.tolist()
        self._luck.draw(self._round, sensors, {"up": payload})
        for sensor in sensors:
            self._batches[sensor] = (self._round, self._capture(sensor))
        self._play_together(self._push_report(sensor, payload) for sensor in sensors)
        return {sensor: self._batches[sensor][1].ranges for sensor in sensors}

    def play(self, plan: Plan) -> RoundRecord:
        sensors = [sensor for group in plan.groups for sensor in group.sensors]
        self._luck.draw(self._round, sensors, {"up": plan.uplink_payload, "down": plan.payload})
        chains: list[list[Participation]] = [[] for _ in plan.groups]
        self._play_together(self._chain(plan, group, chain) for group, chain in zip(plan.groups, chains, strict=True))
        if plan.scatter is not None:
            self._luck.draw(self._round, sensors, {"down": plan.scatter.payload})
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
        uplink = plan.uplink_payload
        for number in range(group.hop_count):
            hop = group.hop(number)
            source, target = self._cell_or_server(hop.source), self._cell_or_server(hop.target)
            if source is not None:
                yield from self._on_air(source, "up", hop.source, uplink, group.number, hop)
            if source is not target and self._backbone_s:
                yield Timeout(self.env, self._backbone_s)
            if target is not None:
                yield from self._on_air(target, "down", hop.target, plan.payload, group.number, hop)
                while wait_s := self._wait_s(hop.target, plan.reuse_batch):  # again if the clock rounded it short
                    yield Timeout(self.env, wait_s)
                batch = self._batch(hop.target, plan.reuse_batch)
                if plan.scatter is not None:  # a calibration round may reuse it
                    self._batches[hop.target] = (self._round, batch)
                memory, newcomer = plan.memory.get(hop.target, 0), hop.target in plan.newcomers
                trained = False
                for step in plan.work:
                    samples = step.samples(batch.captured, memory, newcomer)
                    if samples:
                        trained = trained or step.kind != "extract"
                        yield from self._work(group.number, hop.number, hop.target, step, samples)
                chain.append(Participation(hop.target, batch.ranges, trained, True, False))

    def _push_report(self, sensor: int, payload: Payload) -> Story:
        yield from self._on_air(self.cell_of(sensor), "up", sensor, payload, _ALONE, Hop(_ALONE, sensor, SERVER))
        if self._backbone_s:
            yield Timeout(self.env, self._backbone_s)

    def _scatter(self, plan: Plan, scatter: Scatter, chains: list[list[Participation]]) -> Iterator[Story]:
        """One story per receiver; if it is broadcast, one per cell."""
        places = [
            _Place(group.number, hop, chain)
            for group, chain in zip(plan.groups, chains, strict=True)
            for hop in range(len(chain))
        ]
        if scatter.mode == "unicast":
            return (self._scatter_to(place.sensor, self.cell_of(place.sensor), [place], scatter) for place in places)
        by_cell: dict[Cell, list[_Place]] = {}
        for place in places:
            by_cell.setdefault(self.cell_of(place.sensor), []).append(place)
        return (self._scatter_to(EVERYONE, cell, receivers, scatter) for cell, receivers in by_cell.items())

    def _scatter_to(self, target: int, cell: Cell, receivers: list[_Place], scatter: Scatter) -> Story:
        """`target` is the only receiver, or everyone in the cell."""
        if self._backbone_s:
            yield Timeout(self.env, self._backbone_s)
        listeners = [place.sensor for place in receivers]
        hop = Hop(_ALONE, SERVER, target)
        yield from self._on_air(cell, "down", target, scatter.payload, _ALONE, hop, listeners)
        yield Together(self.env, (self._receive_scatter(place, scatter) for place in receivers))

    def _receive_scatter(self, place: _Place, scatter: Scatter) -> Story:
        received = place.chain[place.hop] = place.chain[place.hop]._replace(got_scatter=True)
        for step in scatter.work:
            yield from self._work(place.group, place.hop, received.sensor, step, received.captured)

    def _work(self, group: int, hop: int, sensor: int, step: WorkStep, samples: int) -> Story:
        start_s = self.env.now
        work_s = self._device.work_s(samples * step.multiply_adds_per_sample)
        if work_s:
            yield Timeout(self.env, work_s)
        energy_j = self._device.power_w * work_s
        self._work_j += energy_j
        self._trace.work.append((self._round, group, hop, sensor, step.kind, samples, start_s, self.env.now, energy_j))

    def _on_air(
        self,
        cell: Cell,
        direction: Direction,
        sensor: int,
        payload: Payload,
        group: int,
        hop: Hop,
        listeners: Sequence[int] = (),
    ) -> Story:
        """One transfer over the radio of `sensor`, or to all `listeners`, and its row in the trace."""
        ready_s = self.env.now
        radios = listeners or (sensor,)
        set_up = cell.connections.set_up(radios, ready_s)
        if set_up is not None:
            yield set_up
        need = cell.need(direction, radios, payload)
        began_s = self.env.now
        waited_until_s = yield cell.send(direction, sensor, need)
        end_s = self.env.now
        energy_j = cell.connections.use(direction, radios, end_s, need.airtime_s)
        self.payload_bytes[direction] += payload.size_bytes
        self.retransmitted_bytes += need.retransmitted_bytes
        self._trace.transfers.append((
            self._transfers, self._round, group, hop.number, direction, payload.kind, hop.source, hop.target, sensor,
            cell.name, payload.size_bytes, ready_s, began_s if waited_until_s is None else waited_until_s, end_s,
            need.airtime_s, need.retransmitted_bytes, energy_j, "ok",
        ))  # fmt: skip
        self._transfers += 1

    def _held(self, sensor: int, reuse: bool) -> Capture | None:
        """The batch the sensor reported in this round, or is told to reuse."""
        round_number, batch = self._batches.get(sensor, (0, None))
        return batch if reuse or round_number == self._round else None

    def _wait_s(self, sensor: int, reuse: bool) -> float:
        return 0.0 if self._held(sensor, reuse) else self._streams.wait_s(sensor, self.env.now)

    def _batch(self, sensor: int, reuse: bool) -> Capture:
        """What the sensor works on: the batch it holds, else a new one."""
        return self._held(sensor, reuse) or self._capture(sensor)

    def _capture(self, sensor: int) -> Capture:
        capture = self._streams.capture(sensor, self._round, self.env.now)
        self._trace.captures.append((self._round, sensor, self.env.now, *capture[:4]))
        return capture

    def _play_together(self, stories: Iterable[Story]) -> None:
        """Starts the stories now and lets the clock run until the last one has ended."""
        self.env.run(Together(self.env, stories))
