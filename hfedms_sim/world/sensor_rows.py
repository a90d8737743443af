"""The sensors of a run, one row each: where they stand, how well they are heard, and what their radios carried."""

from array import array
from collections.abc import Iterator, Mapping
from math import nan

import numpy as np
from numpy.typing import NDArray

from hfedms_sim.rounds import Direction
from hfedms_sim.scenario import Scenario
from hfedms_sim.trace import SensorRow, TableRecorder
from hfedms_sim.transfers import Transfer
from hfedms_sim.world.energy.meter import States
from hfedms_sim.world.energy.sensor_energy import SensorEnergy
from hfedms_sim.world.processors import Processors
from hfedms_sim.world.site.attachment import Attachment, Placed

Columns = Mapping[str, NDArray[np.generic]]

_CHUNK = 65_536  # sensors at a time, so that ten million need no table in memory
_DIRECTIONS: tuple[Direction, ...] = ("up", "down")


class SensorTraffic:
    """What each sensor's radio has carried since the beginning; whoever listens to a broadcast has received it."""

    def __init__(self, sensors: int) -> None:
        self._transfers = array("q", bytes(8 * sensors))
        self._airtime_s = array("d", bytes(8 * sensors))
        self._bytes: dict[Direction, array[int]] = {each: array("q", bytes(8 * sensors)) for each in _DIRECTIONS}
        self._last_s: dict[Direction, array[float]] = {each: array("d", [nan]) * sensors for each in _DIRECTIONS}

    def note(self, transfer: Transfer, arrived_bytes: int, airtime_s: float, taken_s: float) -> None:
        """Count a transfer that has just ended, so long after it was ready."""
        bytes_of, last_s = self._bytes[transfer.direction], self._last_s[transfer.direction]
        for sensor in transfer.radios:
            self._transfers[sensor] += 1
            self._airtime_s[sensor] += airtime_s
            bytes_of[sensor] += arrived_bytes
            last_s[sensor] = taken_s

    def last_s(self, direction: Direction) -> NDArray[np.float64]:
        """Return how long the last transfer of each sensor took; not a number where there was none."""
        return np.array(self._last_s[direction])

    def columns(self, sensors: slice) -> Columns:
        return {
            "transfers": np.array(self._transfers[sensors]),
            "uplink_bytes": np.array(self._bytes["up"][sensors]),
            "downlink_bytes": np.array(self._bytes["down"][sensors]),
            "airtime_s": np.array(self._airtime_s[sensors]),
        }


def write_sensors(
    recorder: TableRecorder[SensorRow],
    scenario: Scenario,
    attachment: Attachment,
    processors: Processors,
    traffic: SensorTraffic,
    energy: SensorEnergy,
    availability: NDArray[np.float64] | None,
    faults: Mapping[int, int],
) -> None:
    """Write the rows of all sensors; the recorder leaves null what is not said, or not a number.

    `availability` is the share of the run in which each could be reached, `faults` what happened to whom how often.
    """
    fault_counts = np.zeros(scenario.sensors.count, dtype=np.int64)
    fault_counts[list(faults)] = list(faults.values())
    covered = np.zeros(scenario.sensors.count, dtype=np.bool_)
    covered[attachment.covered] = True
    for part in _parts(scenario.sensors.count):
        sensors = np.arange(part.start, part.stop)
        names = np.array([cell.name for cell in scenario.cells], dtype=object)
        recorder.extend(
            {
                "sensor": sensors,
                "cell": names[attachment.cells(sensors)],
                "compute": processors.names(sensors),
                "covered": covered[part],
                **rates(scenario, attachment, sensors, covered[part]),
                **(_places(attachment, part) if isinstance(attachment, Placed) else {}),
                **traffic.columns(part),
                **{f"{state}_j": getattr(energy, state)[part] for state in States._fields},
                **({} if availability is None else {"availability": availability[part]}),
                "faults": fault_counts[part],
            }
        )


def _parts(count: int) -> Iterator[slice]:
    return (slice(start, min(start + _CHUNK, count)) for start in range(0, count, _CHUNK))


def rates(
    scenario: Scenario, attachment: Attachment, sensors: NDArray[np.int64], covered: NDArray[np.bool_]
) -> dict[str, NDArray[np.float64]]:
    """Return the rates and the class of each sensor, not a number where it is out of coverage."""
    cells, known = attachment.cells(sensors), np.where(covered, 1.0, np.nan)
    placed = attachment if isinstance(attachment, Placed) else None
    columns: dict[str, NDArray[np.float64]] = {}
    for direction in _DIRECTIONS:
        full_bps = np.array([cell.profile.rate_bps(direction) for cell in scenario.cells])[cells]
        share = 1.0 if placed is None else placed.rate_shares[direction][sensors]
        columns[f"{direction}link_bps"] = known * full_bps * share
    columns["coverage_class"] = known * (0 if placed is None else placed.coverage_classes[sensors])
    return columns


def _places(attachment: Placed, part: slice) -> Columns:
    coverage = attachment.coverage
    return {
        "x_m": attachment.positions_m[part, 0],
        "y_m": attachment.positions_m[part, 1],
        "line_of_sight": coverage.los[part],
        "coupling_loss_db": attachment.coupling_loss_db[part],
        "snr_up_db": coverage.snr_up_db[part],
        "snr_down_db": coverage.snr_down_db[part],
    }
