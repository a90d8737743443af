"""Who computes with what, and how long work takes.

In a mix sensor k has the first processor whose cumulated share exceeds a number that is even in [0, 1) and keyed by
the seed and k: one more sensor changes nobody else's, and shares hold in the mean, not exactly.

A processor at the rate r takes m / r seconds for m multiply-adds. With `jitter` s a sensor's work in a round takes
exp(s z - s^2 / 2) times as long, z standard normal and keyed by (sensor, round): 1 in the mean, the same for all its
work in that round, for every radio and strategy. It takes its power all the while.

Left out: clocks that slow down when hot, other programs on the processor, the time to wake it up.
"""

from array import array
from math import exp
from pathlib import Path
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from hfedms_sim.errors import InputError, quoted
from hfedms_sim.scenario import Compute
from hfedms_sim.seeds import Draws
from hfedms_sim.world.csv_rows import read_rows, sensor_of

CSV_HEADER = ["sensor", "device"]


class Work(NamedTuple):
    duration_s: float
    energy_j: float


class Processors:
    def __init__(self, compute: Compute, sensors: int, draws: Draws) -> None:
        self._names = tuple(compute.known)
        self._devices = tuple(compute.known.values())
        self._jitter = compute.jitter
        self._draws = draws
        self._which = array("q", _which(compute, self._names, sensors, draws).tobytes())

    def work(self, sensor: int, round_number: int, multiply_adds: float) -> Work:
        """Return how long a sensor computes, and what it spends."""
        device = self._devices[self._which[sensor]]
        duration_s = device.work_s(multiply_adds)
        if self._jitter and duration_s:
            duration_s *= self._factor(sensor, round_number)
        return Work(duration_s, device.power_w * duration_s)

    def power_w(self, sensor: int) -> float:
        """Return what a sensor's processor takes while it works."""
        return self._devices[self._which[sensor]].power_w

    def names(self, sensors: NDArray[np.int64]) -> NDArray[np.object_]:
        """Return what each of the sensors computes with."""
        return np.array(self._names, dtype=object)[np.frombuffer(self._which, dtype=np.int64)[sensors]]

    def _factor(self, sensor: int, round_number: int) -> float:
        deviate = float(self._draws.normal("compute/jitter", sensor, round_number))
        return exp(self._jitter * deviate - self._jitter**2 / 2)


def _which(compute: Compute, names: tuple[str, ...], sensors: int, draws: Draws) -> NDArray[np.int64]:
    """Return the number of each sensor's processor among the names."""
    if compute.path is not None:
        return _from_csv(Path(compute.path), names, sensors)
    shares = compute.mix or {compute.device: 1.0}
    ends = np.cumsum(list(shares.values()))
    drawn = np.searchsorted(ends[:-1], draws.uniform("compute/mix", np.arange(sensors)), side="right")
    return np.array([names.index(name) for name in shares], dtype=np.int64)[drawn]


def _from_csv(path: Path, names: tuple[str, ...], sensors: int) -> NDArray[np.int64]:
    """Read `sensor,device`: sensors 0 .. count-1 in any order, each once."""
    found = np.full(sensors, -1, dtype=np.int64)

    def take(row: list[str]) -> None:
        sensor, name = sensor_of(row[0], sensors), row[1].strip()
        if found[sensor] >= 0:
            raise ValueError(f"sensor = {sensor}: stands in the file twice; allowed is once")
        if name not in names:
            raise ValueError(f"device = {quoted(name)}: must be one of {', '.join(names)}")
        found[sensor] = names.index(name)

    label = read_rows(path, CSV_HEADER, take)
    if (found < 0).any():
        missing = int(np.argmax(found < 0))
        raise InputError(
            f"{label}: sensor {missing} is missing; there must be the sensors 0 to {sensors - 1}, each once"
        )
    return found
