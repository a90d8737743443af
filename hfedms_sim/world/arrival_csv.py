"""Recorded arrivals, from a CSV file with the header `sensor,time_s`.

One row per sample: the sensor (0 .. sensors-1) and the seconds since the start of the run, never falling from one
row of a sensor to its next. Rows of different sensors may be mixed. A sensor without rows never delivers; after its
last row a sensor is silent (the recording is not repeated). A sample at 0 s is there from the start.
"""

import csv
import math
from array import array
from collections.abc import Sequence
from dataclasses import dataclass
from io import StringIO
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from hfedms_sim.errors import InputError

HEADER = ["sensor", "time_s"]


@dataclass(frozen=True, eq=False)
class TracePath:
    """The arrival times of all sensors, one after the other; those of sensor s are `starts[s]` to `starts[s + 1]`."""

    times_s: NDArray[np.float64]
    starts: NDArray[np.int64]

    @classmethod
    def of(cls, times_by_sensor_s: Sequence[Sequence[float]]) -> "TracePath":
        lengths = [len(times_s) for times_s in times_by_sensor_s]
        times_s = np.array([time_s for one_s in times_by_sensor_s for time_s in one_s], dtype=np.float64)
        return cls(times_s, np.concatenate(([0], np.cumsum(lengths, dtype=np.int64))))

    def count(self, sensor: int, until_s: float) -> int:
        """How many samples arrive up to until_s, those at 0 s included."""
        start, end = self.starts[sensor : sensor + 2]
        return int(self.times_s[start:end].searchsorted(until_s, side="right"))

    def time_of(self, sensor: int, number: int) -> float:
        start, end = self.starts[sensor : sensor + 2]
        return float(self.times_s[start + number - 1]) if number <= end - start else math.inf


def read_arrival_csv(path: Path, sensors: int) -> TracePath:
    reader = csv.reader(StringIO(_read_text(path), newline=""), strict=True, skipinitialspace=True)
    sensor_column, time_column, last_s = array("q"), array("d"), [0.0] * sensors
    try:
        _check_header(next(reader, []))
        for row in reader:
            if row:
                sensor, time_s = _sample(row, last_s)
                last_s[sensor] = time_s
                sensor_column.append(sensor)
                time_column.append(time_s)
    except (ValueError, csv.Error) as error:
        raise InputError(f"{path}, line {max(1, reader.line_num)}: {error}") from None
    if not sensor_column:
        raise InputError(f"{path}: has no rows below its header; no sensor would ever deliver")
    return _trace(np.array(sensor_column), np.array(time_column), sensors)


def _trace(sensor_column: NDArray[np.int64], times_s: NDArray[np.float64], sensors: int) -> TracePath:
    lengths = np.bincount(sensor_column, minlength=sensors)
    return TracePath(times_s[np.argsort(sensor_column, kind="stable")], np.concatenate(([0], np.cumsum(lengths))))


def _read_text(path: Path) -> str:
    """A byte order mark, as spreadsheets write it, is no part of the text."""
    if path.exists() and not path.is_file():
        raise InputError(f"{path}: is a {'directory' if path.is_dir() else 'device'}, not a CSV file")
    try:
        content = path.read_bytes()
    except FileNotFoundError:
        raise InputError(f"{path}: no such file") from None
    except OSError as error:
        raise InputError(f"{path}: cannot be read ({error.strerror})") from None
    try:
        return content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = content.count(b"\n", 0, error.start) + 1
        raise InputError(f"{path}, line {line}: byte {content[error.start]:#04x} is not UTF-8 text") from None


def _check_header(row: Sequence[str]) -> None:
    if [name.strip() for name in row] != HEADER:
        raise ValueError(f"header = {_shown(row)}: must be {','.join(HEADER)}")


def _sample(row: Sequence[str], last_s: Sequence[float]) -> tuple[int, float]:
    if len(row) != len(HEADER):
        raise ValueError(f"row = {_shown(row)}: must have {len(HEADER)} values, {' and '.join(HEADER)}")
    sensor, time_s = _sensor(row[0], len(last_s)), _time_s(row[1])
    if time_s < last_s[sensor]:
        raise ValueError(f"time_s = {time_s}: must be at least {last_s[sensor]}, the row before of sensor {sensor}")
    return sensor, time_s


def _sensor(text: str, sensors: int) -> int:
    digits = text.strip()
    # The length first: Python refuses to read thousands of digits.
    if len(digits) < 19 and digits.isascii() and digits.isdigit() and (sensor := int(digits)) < sensors:
        return sensor
    raise ValueError(f"sensor = {_shown([text])}: must be a whole number from 0 to {sensors - 1}")


def _time_s(text: str) -> float:
    try:
        time_s = float(text)
    except ValueError:
        time_s = math.nan
    if not 0 <= time_s < math.inf or "_" in text:
        raise ValueError(f"time_s = {_shown([text])}: must be a finite number of seconds, at least 0")
    return time_s


def _shown(row: Sequence[str]) -> str:
    text = repr(",".join(row))
    return text if len(text) <= 60 else text[:57] + "..."
