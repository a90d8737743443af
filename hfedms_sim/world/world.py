"""The factory on the simulated clock: plays a plan and tells what happened.

A chain is a SimPy process: the model comes down to the first sensor, who captures, works and hands it on through the
base station, and so on until the last one pushes it to the server. Chains run side by side and meet only where they
compete for airtime. Between two sensors of one cell a transfer is an uplink and a downlink, store and forward;
across cells, and to or from the server, it also crosses the backbone, which has latency and no limit. The server's
arithmetic takes no time.
"""

from array import array
from collections.abc import Iterable, Iterator
from math import nan
from typing import NamedTuple

import numpy as np
from simpy import Environment
from simpy.events import ProcessGenerator

from hfedms_sim.rounds import (
    EVERYONE,
    SERVER,
    Direction,
    Group,
    Hop,
    NetworkView,
    Participation,
    Payload,
    Plan,
    RoundRecord,
    Samples,
    Scatter,
    WorkStep,
)
from hfedms_sim.scenario import Scenario
from hfedms_sim.schedule import redraw_rounds
from hfedms_sim.seeds import Draws
from hfedms_sim.trace import CaptureRow, FaultRow, Trace, WorkRow
from hfedms_sim.world.attachment import make_attachment
from hfedms_sim.world.buffers import Capture
from hfedms_sim.world.cell import Cell
from hfedms_sim.world.energy import States, total_of
from hfedms_sim.world.ledger import Ledger
from hfedms_sim.world.loss_draws import LossDraws
from hfedms_sim.world.processes import AllDone
from hfedms_sim.world.processors import Processors
from hfedms_sim.world.sensor_energy import SensorEnergy, sensor_energy
from hfedms_sim.world.sensor_rows import rates, write_sensors
from hfedms_sim.world.streams import Sizes, make_streams
from hfedms_sim.world.transfer import Transfer
from hfedms_sim.world.transfer_log import Traffic, TransferLog

NO_CHAIN = -1  # group and hop of a transfer outside any chain


class RoundCost(NamedTuple):
    """What a round took; no joules unless every cell's radio is modelled."""

    traffic: Traffic
    energy_j: float | None = None
    baseline_energy_j: float | None = None
    by_state_j: States | None = None


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
        self.env = Environment(0.0)
        self._scenario = scenario
        draws = Draws(scenario.seed)
        self._attachment = make_attachment(scenario, draws)
        self.covered = self._attachment.covered
        """The sensors that can take part."""
        self._log = TransferLog(trace, scenario.sensors.count)
        loss_draws = LossDraws(draws, scenario.sensors.count)
        self._ledger = Ledger(scenario.sensors.count)
        self._last_work_s = array("d", [nan]) * scenario.sensors.count
        self.cells = tuple(
            Cell(self.env, number, settings, draws, loss_draws, self._attachment, self._log, self._ledger)
            for number, settings in enumerate(scenario.cells)
        )
        self.energy_j: float | None = 0.0
        """Spent since the beginning; None unless every cell's radio is modelled."""
        self.energy_by_state_j: States | None = States()
        """The same, by state."""
        self._backbone_s = scenario.backbone.latency_s
        self._processors = Processors(scenario.compute, scenario.sensors.count, draws)
        self._streams = make_streams(scenario.stream, scenario.sensors.count, draws, sizes, redraw_rounds(scenario))
        self._batches: dict[int, tuple[int, Capture]] = {}  # of the last report or full round: sensor -> round, capture
        self._trace = trace
        self._round = 0
        self._round_start_s = 0.0
        self._settled_s = 0.0
        self._work_j = 0.0
        for sensor in np.setdiff1d(np.arange(scenario.sensors.count), self.covered).tolist():
            trace.faults.append(
                FaultRow(
                    time_s=0.0,
                    kind="out of coverage",
                    entity=f"sensor {sensor}",
                    round=0,
                    detail="takes no part in the run",
                )
            )

    def cell_of(self, sensor: int) -> Cell:
        return self.cells[self._attachment.cell(sensor)]

    def _cell_or_server(self, end: int) -> Cell | None:
        return None if end == SERVER else self.cell_of(end)

    @property
    def now_s(self) -> float:
        return self.env.now

    @property
    def payload_bytes(self) -> dict[Direction, int]:
        """The payloads that have arrived since the beginning."""
        return self._log.payload_bytes

    def begin_round(self, round_number: int) -> None:
        self._round = round_number
        self._round_start_s = self.env.now

    def end_round(self) -> RoundCost:
        """Return what was spent since the last call."""
        work_j, self._work_j = self._work_j, 0.0
        radio = [cell.end_round() for cell in self.cells]
        self._ledger.settle()
        self._settled_s = self.env.now
        modelled = [each for each in radio if each is not None]
        if self.energy_j is None or len(modelled) < len(radio):
            self.energy_j = self.energy_by_state_j = None
            return RoundCost(self._log.collect())
        baseline_j = sum(each.baseline_j for each in modelled)
        total_j = work_j + baseline_j + sum(each.transfers_j for each in modelled)
        self.energy_j += total_j
        by_state_j = total_of(each.joules for each in modelled)._replace(compute=work_j)
        self.energy_by_state_j = total_of([self.energy_by_state_j or States(), by_state_j])
        return RoundCost(self._log.collect(), total_j, baseline_j, by_state_j)

    def energy_of_sensors(self) -> SensorEnergy:
        """Return what each sensor has spent until the end of the last round; NaN where its radio is not modelled."""
        cells = self._attachment.cells(np.arange(self._ledger.sensors))
        powers = [None if cell.meter is None else cell.meter.power for cell in self.cells]
        return sensor_energy(self._ledger, powers, cells, self._settled_s)

    def network(self) -> NetworkView:
        """Return what a server could know of the sensors' links now."""
        sensors, profiles = np.arange(self._ledger.sensors), [cell.profile for cell in self._scenario.cells]
        covered = np.isin(sensors, self.covered)
        known = rates(self._scenario, self._attachment, sensors, covered)
        return NetworkView(
            cell=self._attachment.cells(sensors),
            uplink_bps=known["uplink_bps"],
            downlink_bps=known["downlink_bps"],
            coverage_class=known["coverage_class"],
            last_uplink_s=self._log.of_sensors.last_s("up"),
            last_downlink_s=self._log.of_sensors.last_s("down"),
            last_work_s=np.array(self._last_work_s),
            uplink_channels=np.array([profile.channels_in("up") for profile in profiles]),
            downlink_channels=np.array([profile.channels_in("down") for profile in profiles]),
        )

    def end_run(self) -> None:
        """Write the table of sensors, when the last round has ended."""
        energy = self.energy_of_sensors()
        traffic = self._log.of_sensors
        write_sensors(self._trace.sensors, self._scenario, self._attachment, self._processors, traffic, energy)

    def report(self, payload: Payload) -> dict[int, Samples]:
        """Every sensor in coverage captures a batch now, and sends its class counts to the server.

        Returns what each of them captured.
        """
        sensors = self.covered.tolist()
        for sensor in sensors:
            self._batches[sensor] = (self._round, self._capture(sensor))
        self._run_all(self._push_report(sensor, payload) for sensor in sensors)
        return {sensor: self._batches[sensor][1].ranges for sensor in sensors}

    def play(self, plan: Plan) -> RoundRecord:
        chains: list[list[Participation]] = [[] for _ in plan.groups]
        self._run_all(self._chain(plan, group, chain) for group, chain in zip(plan.groups, chains, strict=True))
        if plan.scatter is not None:
            self._run_all(self._scatter(plan, plan.scatter, chains))
        return RoundRecord(
            round=plan.round,
            cycle=plan.cycle,
            phase=plan.phase,
            chains=tuple(tuple(chain) for chain in chains),
            arrived=(True,) * len(chains),
            start_s=self._round_start_s,
            end_s=self.env.now,
        )

    def _chain(self, plan: Plan, group: Group, chain: list[Participation]) -> ProcessGenerator:
        uplink = plan.uplink_payload
        for number in range(group.hop_count):
            hop = group.hop(number)
            source, target = self._cell_or_server(hop.source), self._cell_or_server(hop.target)
            if source is not None:
                yield from self._transmit(source, group.number, hop, "up", uplink, (hop.source,))
            if source is not target and self._backbone_s:
                yield self.env.timeout(self._backbone_s)
            if target is not None:
                yield from self._transmit(target, group.number, hop, "down", plan.payload, (hop.target,))
                while wait_s := self._wait_s(hop.target, plan.reuse_batch):  # again if the clock rounded it short
                    yield self.env.timeout(wait_s)
                batch = self._batch(hop.target, plan.reuse_batch)
                if plan.scatter is not None:  # a calibration round may reuse it
                    self._batches[hop.target] = (self._round, batch)
                memory, newcomer = plan.memory_fill.get(hop.target, 0), hop.target in plan.newcomers
                trained, began_s = False, self.env.now
                for step in plan.work:
                    samples = step.samples(batch.captured, memory, newcomer)
                    if samples:
                        trained = trained or step.kind != "extract"
                        yield from self._work(group.number, hop.number, hop.target, step, samples)
                self._last_work_s[hop.target] = self.env.now - began_s
                chain.append(Participation(hop.target, batch.ranges, trained, True, False))

    def _push_report(self, sensor: int, payload: Payload) -> ProcessGenerator:
        hop = Hop(NO_CHAIN, sensor, SERVER)
        yield from self._transmit(self.cell_of(sensor), NO_CHAIN, hop, "up", payload, (sensor,))
        if self._backbone_s:
            yield self.env.timeout(self._backbone_s)

    def _scatter(self, plan: Plan, scatter: Scatter, chains: list[list[Participation]]) -> Iterator[ProcessGenerator]:
        """Return a process for each receiver; if it is broadcast, one for each cell."""
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

    def _scatter_to(self, target: int, cell: Cell, receivers: list[_Place], scatter: Scatter) -> ProcessGenerator:
        """`target` is the only receiver, or everyone in the cell."""
        if self._backbone_s:
            yield self.env.timeout(self._backbone_s)
        radios = tuple(place.sensor for place in receivers)
        yield from self._transmit(cell, NO_CHAIN, Hop(NO_CHAIN, SERVER, target), "down", scatter.payload, radios)
        yield AllDone(self.env, (self._receive_scatter(place, scatter) for place in receivers))

    def _receive_scatter(self, place: _Place, scatter: Scatter) -> ProcessGenerator:
        received = place.chain[place.hop] = place.chain[place.hop]._replace(got_scatter=True)
        for step in scatter.work:
            yield from self._work(place.group, place.hop, received.sensor, step, received.captured)

    def _work(self, group: int, hop: int, sensor: int, step: WorkStep, samples: int) -> ProcessGenerator:
        start_s = self.env.now
        work_s, energy_j = self._processors.work(sensor, self._round, samples * step.multiply_adds_per_sample)
        if work_s:
            yield self.env.timeout(work_s)
        self._work_j += energy_j
        if energy_j:
            self._ledger.compute_j.add(sensor, energy_j)
        row = WorkRow(self._round, group, hop, sensor, step.kind, samples, start_s, self.env.now, energy_j)
        self._trace.work.append(row)

    def _transmit(
        self, cell: Cell, group: int, hop: Hop, direction: Direction, payload: Payload, radios: tuple[int, ...]
    ) -> ProcessGenerator:
        """Return the process of one transfer between the cell and these radios, on this hop."""
        sensor = hop.source if direction == "up" else hop.target
        return cell.transmit(Transfer(self._round, group, hop, direction, payload, sensor, radios))

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
        first, arrived, overflowed, captured, _ = capture
        row = CaptureRow(self._round, sensor, self.env.now, first, arrived, overflowed, captured)
        self._trace.captures.append(row)
        return capture

    def _run_all(self, processes: Iterable[ProcessGenerator]) -> None:
        """Start the processes now and let the clock run until the last one has ended."""
        self.env.run(AllDone(self.env, processes))
