"""Which cell a sensor uses, and at which rates.

Sensors that stand nowhere are spread round-robin, or in the order of their numbers where the cells count theirs, and
have their profile's full rates. Placed sensors take the cell that can carry most for them (coverage.py), and have the
rate that their signal or their coverage class allows (link_rates.py). A sensor that no cell reaches takes no part.

A module speaks one technology, which is a profile's name. Where a count or a column of the positions' file gives a
placed sensor a cell, it has that cell's technology: it chooses among the cells that share it. Otherwise it may use all.
"""

from bisect import bisect_right
from collections.abc import Sequence
from itertools import accumulate
from pathlib import Path
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from hfedms_sim.errors import InputError
from hfedms_sim.rounds import Direction
from hfedms_sim.scenario import Cell, NetworkProfile, Scenario
from hfedms_sim.scenario.placement import InHall, PlacedByCsv
from hfedms_sim.seeds import Draws
from hfedms_sim.world.site import placement as places
from hfedms_sim.world.site.coverage import RadioBudget, attach
from hfedms_sim.world.site.link_rates import classes_of, rate_share


class Attachment(Protocol):
    def cell(self, sensor: int) -> int: ...

    def cells(self, sensors: NDArray[np.int64]) -> NDArray[np.int64]:
        """The cell of each."""

    def factor(self, direction: Direction, sensor: int) -> float:
        """The sensor's rate as a share of its profile's."""

    def coverage_class(self, sensor: int) -> int:
        """Return the sensor's place in its profile's `repetitions`; 0 where it stands nowhere, or there are none."""

    def attached(self, cell: int) -> int:
        """How many sensors use the cell."""

    @property
    def covered(self) -> NDArray[np.int64]:
        """The sensors that some cell reaches."""


class RoundRobin:
    def __init__(self, sensors: int, cells: int) -> None:
        self._sensors = sensors
        self._cells = cells

    def cell(self, sensor: int) -> int:
        return sensor % self._cells

    def cells(self, sensors: NDArray[np.int64]) -> NDArray[np.int64]:
        return sensors % self._cells

    def factor(self, direction: Direction, sensor: int) -> float:
        return 1.0

    def coverage_class(self, sensor: int) -> int:
        return 0

    def attached(self, cell: int) -> int:
        return len(range(cell, self._sensors, self._cells))

    @property
    def covered(self) -> NDArray[np.int64]:
        return np.arange(self._sensors)


class Counted:
    """The first sensors use the first cell, as many as it counts, the next ones the second cell, and so on."""

    def __init__(self, counts: Sequence[int]) -> None:
        self._counts = counts
        self._ends = list(accumulate(counts))

    def cell(self, sensor: int) -> int:
        return bisect_right(self._ends, sensor)

    def cells(self, sensors: NDArray[np.int64]) -> NDArray[np.int64]:
        return np.searchsorted(self._ends, sensors, side="right")

    def factor(self, direction: Direction, sensor: int) -> float:
        return 1.0

    def coverage_class(self, sensor: int) -> int:
        return 0

    def attached(self, cell: int) -> int:
        return self._counts[cell]

    @property
    def covered(self) -> NDArray[np.int64]:
        return np.arange(self._ends[-1])


class Placed:
    def __init__(self, scenario: Scenario, placement: InHall, draws: Draws) -> None:
        self.positions_m, radio_of = _placed(scenario, placement, draws)
        self.cell_positions_m = np.array(
            [_cell_position_m(index, cell, placement) for index, cell in enumerate(scenario.cells)]
        )
        budgets = [_budget(cell.profile, placement) for cell in scenario.cells]
        self.coverage = attach(self.positions_m, self.cell_positions_m, budgets, draws, _allowed(scenario, radio_of))
        if not self.coverage.covered.any():
            raise InputError("no sensor is in coverage: more cells, or another radio")
        self._cell: list[int] = self.coverage.cell.tolist()
        self.coupling_loss_db = self.coverage.coupling_loss_db + placement.extra_loss_db
        self.coverage_classes = np.zeros(len(self.positions_m), dtype=np.int64)
        self.rate_shares: dict[Direction, places.Floats] = {
            "up": np.zeros(len(self.positions_m)),
            "down": np.zeros(len(self.positions_m)),
        }
        snr_db: dict[Direction, places.Floats] = {"up": self.coverage.snr_up_db, "down": self.coverage.snr_down_db}
        for index, cell in enumerate(scenario.cells):
            own = self.coverage.cell == index
            self.coverage_classes[own] = classes = classes_of(cell.profile, self.coupling_loss_db[own])
            for direction, share in self.rate_shares.items():
                share[own] = rate_share(cell.profile, direction, classes, snr_db[direction][own])
        self._factor: dict[Direction, list[float]] = {
            direction: share.tolist() for direction, share in self.rate_shares.items()
        }
        self._class: list[int] = self.coverage_classes.tolist()
        self._attached = np.bincount(self.coverage.cell, minlength=len(scenario.cells)).tolist()

    def cell(self, sensor: int) -> int:
        return self._cell[sensor]

    def cells(self, sensors: NDArray[np.int64]) -> NDArray[np.int64]:
        return self.coverage.cell[sensors]

    def factor(self, direction: Direction, sensor: int) -> float:
        return self._factor[direction][sensor]

    def coverage_class(self, sensor: int) -> int:
        return self._class[sensor]

    def attached(self, cell: int) -> int:
        return int(self._attached[cell])

    @property
    def covered(self) -> NDArray[np.int64]:
        return np.flatnonzero(self.coverage.covered)


def make_attachment(scenario: Scenario, draws: Draws) -> Attachment:
    placement = scenario.sensors.placement
    if isinstance(placement, InHall):
        return Placed(scenario, placement, draws)
    counts = scenario.sensors_of_cells
    return RoundRobin(scenario.sensors.count, len(scenario.cells)) if counts is None else Counted(counts)


def _placed(scenario: Scenario, placement: InHall, draws: Draws) -> tuple[places.Floats, NDArray[np.int64] | None]:
    """Return where the sensors stand, and the index of the cell whose radio each has; None: any."""
    count, counts = scenario.sensors.count, scenario.sensors_of_cells
    counted = None if counts is None else np.repeat(np.arange(len(counts)), counts)
    if not isinstance(placement, PlacedByCsv):
        return places.positions_m(placement, count, draws), counted
    positions_m, listed = places.from_csv(
        count, places.Hall.of(placement), Path(placement.path), [cell.name for cell in scenario.cells]
    )
    if listed is not None and counted is not None:
        raise InputError(
            f"{placement.path}: its column cell and cells.N.sensors both say which radio a sensor has; leave one out"
        )
    return positions_m, counted if listed is None else listed


def _allowed(scenario: Scenario, radio_of: NDArray[np.int64] | None) -> NDArray[np.bool_] | None:
    """Return sensors x cells, true where the cell has the sensor's technology; None where all may use all."""
    _, technology = np.unique([cell.profile.name for cell in scenario.cells], return_inverse=True)
    if radio_of is None or not technology.any():
        return None
    return np.asarray(technology[radio_of][:, None] == technology)


def _cell_position_m(index: int, cell: Cell, placement: InHall) -> tuple[float, float]:
    if cell.x_m is None or cell.y_m is None:
        raise InputError(f"cells.{index}: needs x_m and y_m, because the sensors are placed")
    if not (0 <= cell.x_m <= placement.width_m and 0 <= cell.y_m <= placement.length_m):
        raise InputError(f"cells.{index}: stands at {cell.x_m:g}, {cell.y_m:g}, outside the hall")
    return cell.x_m, cell.y_m


def _budget(profile: NetworkProfile, placement: InHall) -> RadioBudget:
    if profile.budget is None:
        raise InputError(f"profile {profile.name} has no budget, so sensors on it cannot be placed")
    extra_db = placement.extra_loss_db
    return RadioBudget(
        carrier_ghz=profile.budget.carrier_ghz,
        bandwidth_hz=profile.budget.bandwidth_hz,
        uplink_power_dbm=profile.budget.device_power_dbm - extra_db,
        downlink_power_dbm=profile.budget.base_power_dbm - extra_db,
        base_noise_figure_db=profile.budget.base_noise_figure_db,
        device_noise_figure_db=profile.budget.device_noise_figure_db,
        streams=profile.budget.streams,
        environment=placement.environment,
        max_coupling_loss_db=profile.repetitions[-1].coupling_loss_db - extra_db if profile.repetitions else None,
    )
