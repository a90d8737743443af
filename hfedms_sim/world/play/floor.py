"""What happens on the factory floor, step by step: transfers, crossings of the backbone, captures and work.

The steps are processes on the simulated clock. Which sensor takes which step, and what becomes of a round in
which one fails, is the business of reports, chains and scatter (reports.py, chains.py, scattering.py).
"""

from array import array
from math import nan
from typing import NamedTuple

from simpy import Environment
from simpy.events import ProcessGenerator

from hfedms_sim.rounds import Direction, Hop, Payload, WorkStep
from hfedms_sim.trace import CaptureRow, Outcome, Trace, WorkRow
from hfedms_sim.transfers import Transfer
from hfedms_sim.world.cell import Cell
from hfedms_sim.world.energy.ledger import Ledger
from hfedms_sim.world.faults.conditions import Conditions
from hfedms_sim.world.invariants import Invariants
from hfedms_sim.world.processors import Processors
from hfedms_sim.world.site.attachment import Attachment
from hfedms_sim.world.streams.buffers import Capture
from hfedms_sim.world.streams.streams import Streams

NO_CHAIN = -1  # group and hop of a transfer outside any chain


class ChainId(NamedTuple):
    """Which chain something belongs to, if any, and which model it started from; see `Transfer`."""

    turn: int
    version: int
    group: int = NO_CHAIN


class Network(NamedTuple):
    """The base stations, which sensor uses which, and what connects them."""

    cells: tuple[Cell, ...]
    attachment: Attachment
    backbone_s: float
    """One way."""


class Floor:
    """The steps of which a round is made, for the sensors of a run.

    Owns the batches that sensors hold, and how long each last worked; cells, processors and streams are those of the
    run. It writes the rows of work and captures. `World` makes one for a run, and the stages of a round (`Reports`,
    `Chains`, `Scattering`) take its steps.
    """

    def __init__(
        self,
        env: Environment,
        network: Network,
        processors: Processors,
        streams: Streams,
        trace: Trace,
        ledger: Ledger,
        invariants: Invariants,
        conditions: Conditions | None,
    ) -> None:
        """`conditions` are None where nothing can go wrong."""
        self.env = env
        self.cells, self._attachment, self._backbone_s = network
        self.conditions = conditions
        self.invariants = invariants
        self.round = 0
        """The one that is being played; chains under way may have begun in an earlier one."""
        self.work_j = 0.0
        """Joules spent by processors since it was last set to zero."""
        self.last_work_s = array("d", [nan]) * ledger.sensors
        """How long each sensor worked when it last took part."""
        self._processors = processors
        self._streams = streams
        self._trace = trace
        self._ledger = ledger
        self._batches: dict[int, tuple[int, Capture]] = {}  # of the last report or full round: sensor -> turn, capture

    def cell_of(self, sensor: int) -> Cell:
        return self.cells[self._attachment.cell(sensor)]

    def transmit(
        self, cell: Cell, chain: ChainId, hop: Hop, direction: Direction, payload: Payload, radios: tuple[int, ...]
    ) -> ProcessGenerator:
        """Return the process of one transfer between the cell and these radios, on this hop."""
        sensor = hop.source if direction == "up" else hop.target
        return cell.transmit(Transfer(*chain, hop, direction, payload, sensor, radios))

    def cross(self, source: Cell | None, target: Cell | None) -> ProcessGenerator:
        """Cross the backbone from one cell to another; None is the server."""
        if self.conditions is not None:
            waiting = self.conditions.wait_until_can_cross(with_server=source is None or target is None)
            if waiting is not None:
                yield from waiting
        if self._backbone_s:
            yield self.env.timeout(self._backbone_s)

    def work(self, chain: ChainId, hop: int, sensor: int, step: WorkStep, samples: int) -> ProcessGenerator:
        """Let a sensor compute, and note it. What it has spent until it is interrupted is spent."""
        start_s, (turn, version, group) = self.env.now, chain
        work_s, energy_j = self._processors.work(sensor, turn, samples * step.multiply_adds_per_sample)

        def note(outcome: Outcome) -> None:
            spent_j = energy_j
            if self.conditions is not None:  # it may have taken longer, or been interrupted
                spent_j = self._processors.power_w(sensor) * (self.env.now - start_s)
            self.work_j += spent_j
            if spent_j:
                self._ledger.compute_j.add(sensor, spent_j)
            row = WorkRow(
                self.round, group, hop, sensor, step.kind, samples, start_s, self.env.now, spent_j, outcome, version
            )
            self._trace.work.append(row)

        try:
            if self.conditions is not None:
                yield from self.conditions.work_at_current_speed(sensor, work_s)
            elif work_s:
                yield self.env.timeout(work_s)
        except Exception:
            note("aborted")
            raise
        note("ok")

    def wait_s(self, sensor: int, turn: int, reuse: bool) -> float:
        """Return how long a sensor still waits for the samples it works on, in this turn."""
        return 0.0 if self._held(sensor, turn, reuse) else self._streams.wait_s(sensor, self.env.now)

    def batch(self, sensor: int, turn: int, reuse: bool) -> Capture:
        """Return what the sensor works on in this turn: what it holds, else a new batch."""
        return self._held(sensor, turn, reuse) or self.capture(sensor, turn)

    def keep(self, sensor: int, turn: int, batch: Capture) -> None:
        """Let a sensor hold the batch of a turn, which it may be told to reuse."""
        self._batches[sensor] = (turn, batch)

    def _held(self, sensor: int, turn: int, reuse: bool) -> Capture | None:
        """Return the batch the sensor reported in this turn, or is told to reuse."""
        kept_in, batch = self._batches.get(sensor, (0, None))
        return batch if reuse or kept_in == turn else None

    def capture(self, sensor: int, turn: int) -> Capture:
        """Let a sensor take samples from its stream; a saturated one has a batch for each turn."""
        capture = self._streams.capture(sensor, turn, self.env.now)
        first, arrived, overflowed, captured, _ = capture
        row = CaptureRow(self.round, sensor, self.env.now, first, arrived, overflowed, captured)
        self._trace.captures.append(row)
        return capture
