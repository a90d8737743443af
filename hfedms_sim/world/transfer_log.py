"""What became of the transfers of a run: a row of the trace each, and how many bytes they came to."""

from typing import NamedTuple

from hfedms_sim.rounds import Direction
from hfedms_sim.trace import Outcome, Trace, TransferRow
from hfedms_sim.transfers import Demand, Timeline, Transfer
from hfedms_sim.world.invariants import Invariants
from hfedms_sim.world.sensor_rows import SensorTraffic


class Traffic(NamedTuple):
    """Bytes: payloads that arrived, up and down, and what was sent again."""

    uplink_bytes: int
    downlink_bytes: int
    retransmitted_bytes: int


class TransferLog:
    def __init__(self, trace: Trace, sensors: int, invariants: Invariants) -> None:
        self._trace = trace
        self._invariants = invariants
        self.of_sensors = SensorTraffic(sensors)
        self.round = 0
        """The one that is being played, in which transfers end."""
        self._transfers = 0
        self._retransmitted_bytes = 0
        self._collected = Traffic(0, 0, 0)
        self.payload_bytes: dict[Direction, int] = {"up": 0, "down": 0}
        """The payloads that arrived since the beginning."""

    def note(
        self, transfer: Transfer, cell: str, timeline: Timeline, sent: Demand, energy_j: float | None, outcome: Outcome
    ) -> None:
        """Write the row of a transfer that has just arrived, was lost or was given up.

        `sent` is what it took, which is less than its demand if it was aborted.
        """
        airtime_s, retransmitted_bytes = sent.airtime_s, sent.retransmitted_bytes
        ready_s, start_s, end_s = timeline[:3]
        direction, size_bytes = transfer.direction, transfer.payload.size_bytes
        self._invariants.end(outcome, size_bytes, ready_s, start_s, end_s, airtime_s)
        arrived_bytes = size_bytes if outcome == "ok" else 0
        self.payload_bytes[direction] += arrived_bytes
        self.of_sensors.note(transfer, arrived_bytes, airtime_s, end_s - ready_s)
        self._retransmitted_bytes += retransmitted_bytes
        row = TransferRow.of(self._transfers, self.round, transfer, cell, timeline, sent, energy_j, outcome)
        self._trace.transfers.append(row)
        self._transfers += 1

    def accept(self, transfer: Transfer) -> None:
        """Note that a transfer is ready; what becomes of it is noted when it has ended."""
        self._invariants.accept(transfer.payload.size_bytes)

    def collect(self) -> Traffic:
        """Return the bytes since the last call."""
        total = Traffic(self.payload_bytes["up"], self.payload_bytes["down"], self._retransmitted_bytes)
        since = Traffic(*(now - then for now, then in zip(total, self._collected, strict=True)))
        self._collected = total
        return since
