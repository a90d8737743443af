"""Recorded arrivals, from a CSV file with the header `sensor,time_s`.

One row per sample: the sensor (0 .. sensors-1) and the seconds since the start of the run, never falling from one
row of a sensor to its next. Rows of different sensors may be mixed. A sensor without rows never delivers; after its
last row a sensor is silent (the recording is not repeated). A sample at 0 s is there from the start.
"""

import math
from array import array
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Literal

import numpy as np
from numpy.typing import NDArray
from pydantic import Field

from hfedms_sim.errors import InputError
from hfedms_sim.seeds import Draws
from hfedms_sim.world.csv_rows import number_of, read_rows, sensor_of
from hfedms_sim.world.streams.arrivals import ArrivalPath, Arriving

HEADER = ["sensor", "time_s"]


class Recorded(Arriving):
    arrival: Literal["trace"]
    """trace: samples arrive when a file says."""
    path: Annotated[str, Field(min_length=1)]
    """CSV of arrival times with the columns sensor, time_s."""

    def arrivals(self, sensors: int, draws: Draws) -> ArrivalPath:
        return read_arrival_csv(Path(self.path), sensors)


@dataclass(frozen=True, eq=False)
class TracePath:
    """The arrival times of all sensors, one after the other; those of sensor s are `starts[s]` to `starts[s + 1]`."""

    times_s: NDArray[np.float64]
    starts: NDArray[np.int64]

    def count(self, sensor: int, until_s: float) -> int:
        """Return how many samples arrive up to until_s, those at 0 s included."""
        start, end = self.starts[sensor : sensor + 2]
        return int(self.times_s[start:end].searchsorted(until_s, side="right"))

    def time_of(self, sensor: int, number: int) -> float:
        start, end = self.starts[sensor : sensor + 2]
        return float(self.times_s[start + number - 1]) if number <= end - start else math.inf


def read_arrival_csv(path: Path, sensors: int) -> TracePath:
    sensor_column, time_column, last_s = array("q"), array("d"), [0.0] * sensors

    def take(row: list[str]) -> None:
        sensor = sensor_of(row[0], sensors)
        time_s = number_of("time_s", row[1], math.inf, "a finite number of seconds, at least 0")
        if time_s < last_s[sensor]:
            raise ValueError(f"time_s = {time_s}: must be at least {last_s[sensor]}, the row before of sensor {sensor}")
        last_s[sensor] = time_s
        sensor_column.append(sensor)
        time_column.append(time_s)

    name = read_rows(path, HEADER, take)
    if not sensor_column:
        raise InputError(f"{name}: has no rows below its header; no sensor would ever deliver")
    return _trace(np.array(sensor_column), np.array(time_column), sensors)


def _trace(sensor_column: NDArray[np.int64], times_s: NDArray[np.float64], sensors: int) -> TracePath:
    lengths = np.bincount(sensor_column, minlength=sensors)
    return TracePath(times_s[np.argsort(sensor_column, kind="stable")], np.concatenate(([0], np.cumsum(lengths))))
