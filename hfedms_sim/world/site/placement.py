"""Where the sensors stand: rows of x, y in metres, in a rectangular hall with a corner at 0, 0.

Every position is a function of the sensor's number and the seed alone, so one more sensor moves nobody:
- grid: in the middle of squares of a fixed pitch, row by row along the hall's width;
- uniform: anywhere, x = width U1, y = length U2;
- clusters: sensor k around the centre of cluster k mod n (a machine, a line), the centre uniform, the offset normal
  with the same spread in x and y; who would stand outside is folded back at the wall;
- from_csv: as a file says, which may also name the cell whose radio each sensor has.
Left out: heights (the radio's budget has one for all sensors), movement, and what stands in the way.
"""

import csv
import math
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from hfedms_sim.errors import InputError
from hfedms_sim.scenario import unknown
from hfedms_sim.scenario.placement import InClusters, InHall, OnGrid
from hfedms_sim.seeds import Draws
from hfedms_sim.world.csv_rows import number_of, read_rows, sensor_of

Floats = NDArray[np.float64]

CSV_HEADER = ["sensor", "x_m", "y_m"]
CELL_COLUMN = "cell"


@dataclass(frozen=True, slots=True)
class Hall:
    width_m: float
    """Along x."""
    length_m: float
    """Along y."""

    @classmethod
    def of(cls, placement: InHall) -> "Hall":
        return cls(placement.width_m, placement.length_m)

    @property
    def size_m(self) -> Floats:
        return np.array([self.width_m, self.length_m])

    def __str__(self) -> str:
        return f"{self.width_m:g} x {self.length_m:g} m"


def positions_m(placement: InHall, count: int, draws: Draws) -> Floats:
    """Return where sensors stand, unless a file says it."""
    hall = Hall.of(placement)
    if isinstance(placement, OnGrid):
        return grid(count, hall, placement.pitch_m)
    if isinstance(placement, InClusters):
        return clusters(count, hall, placement.clusters, placement.spread_m, draws)
    return uniform(count, hall, draws)


def grid(count: int, hall: Hall, pitch_m: float) -> Floats:
    """A length too short for all is an error, never a smaller pitch: that would move everybody."""
    columns, rows = _whole_pitches(hall.width_m, pitch_m), _whole_pitches(hall.length_m, pitch_m)
    if count > columns * rows:
        raise InputError(
            f"{count} sensors do not fit: a hall of {hall} has room for {columns * rows} at pitch_m = {pitch_m:g}"
        )
    sensors = np.arange(count)
    return (np.column_stack((sensors % max(columns, 1), sensors // max(columns, 1))) + 0.5) * pitch_m


def uniform(count: int, hall: Hall, draws: Draws) -> Floats:
    return draws.uniform("placement", np.arange(count)[:, None], np.arange(2)) * hall.size_m


def clusters(count: int, hall: Hall, cluster_count: int, spread_m: float, draws: Draws) -> Floats:
    """More clusters than before do move sensors: k mod n changes."""
    sensors, axes = np.arange(count)[:, None], np.arange(2)
    centres_m = draws.uniform("cluster centre", sensors % cluster_count, axes) * hall.size_m
    return _folded(centres_m + spread_m * draws.normal("placement", sensors, axes), hall.size_m)


class Listed(NamedTuple):
    """What a file says of the sensors, in the order of their numbers."""

    positions_m: Floats
    cells: NDArray[np.int64] | None
    """The index of the cell whose radio each has; None without that column."""


def from_csv(count: int, hall: Hall, path: Path, cell_names: Sequence[str] = ()) -> Listed:
    """Read `sensor,x_m,y_m` or `sensor,x_m,y_m,cell`: sensors 0 .. count-1 in any order, each once, all in the hall."""
    cells = {name: index for index, name in enumerate(cell_names)}
    listed: dict[int, tuple[float, float, int]] = {}

    def take(row: list[str]) -> None:
        sensor = sensor_of(row[0], count)
        if sensor in listed:
            raise ValueError(f"sensor = {sensor}: stands in the file twice; allowed is once")
        x_m, y_m = _coordinate_m("x_m", row[1], hall.width_m), _coordinate_m("y_m", row[2], hall.length_m)
        listed[sensor] = (x_m, y_m, _cell(row[3], cells) if len(row) > len(CSV_HEADER) else -1)

    header = _expected_header(path)
    name = read_rows(path, header, take)
    if len(listed) < count:
        missing = next(sensor for sensor in range(count) if sensor not in listed)
        raise InputError(f"{name}: sensor {missing} is missing; there must be the sensors 0 to {count - 1}, each once")
    in_order = [listed[sensor] for sensor in range(count)]
    positions_m = np.array([(x_m, y_m) for x_m, y_m, _ in in_order]).reshape(count, 2)
    return Listed(positions_m, np.array([cell for *_, cell in in_order]) if CELL_COLUMN in header else None)


def _expected_header(path: Path) -> list[str]:
    """Return the header with the cell if the first line has four columns; `read_rows` says what is wrong with it."""
    with suppress(OSError, ValueError, csv.Error):
        if path.is_file():
            with path.open(encoding="utf-8-sig", newline="") as file:
                columns = next(csv.reader([file.readline(1_000)], skipinitialspace=True), [])
            if len(columns) == len(CSV_HEADER) + 1:
                return [*CSV_HEADER, CELL_COLUMN]
    return CSV_HEADER


def _cell(text: str, cells: dict[str, int]) -> int:
    name = text.strip()
    if name not in cells:
        raise ValueError(unknown("cell", name, cells))
    return cells[name]


def _coordinate_m(key: str, text: str, side_m: float) -> float:
    return number_of(key, text, side_m, f"a number from 0 to {side_m:g}, inside the hall")


def _whole_pitches(side_m: float, pitch_m: float) -> int:
    """How many fit, 0.3 / 0.1 being 3; no more than anyone has sensors."""
    return math.floor(min(side_m / pitch_m, 1e12) * (1 + 1e-12))


def _folded(positions_m: Floats, size_m: Floats) -> Floats:
    """Reflected at the walls, as often as it takes."""
    return np.asarray(size_m - np.abs(np.mod(positions_m, 2 * size_m) - size_m))
