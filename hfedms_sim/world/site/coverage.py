"""Which base station each sensor uses, and how well it hears it.

Coupling loss = path loss + shadowing (path_loss.py, outdoors.py), antenna gains 0 dB: what a site's antennas gain or
its cables lose goes into the powers. SNR = power - coupling loss - noise, noise = -174 dBm/Hz + 10 lg B + noise
figure. Line of sight and shadowing are drawn once per (sensor, cell), so they are the same in both directions, for
ever, and on every radio: another radio scales the same normals by its own sigma.

Attachment. Among the cells it may use, a sensor takes the one that can carry most in its weaker direction:
n B log2(1 + min(snr_up, snr_down)) with n streams, no gain above 20 dB, and nothing out of coverage; equals go by
coupling loss.
- Cells of one radio: the smallest coupling loss wins, which is how real radios rank cells (by received power).
- Cells of different radios: coupling loss would always choose the lower carrier, and SNR the narrower band, which
  hears less noise exactly because it carries less. Capacity is what they have in common: the fast radio where it
  reaches, the robust one where only that does.
- The weaker direction, because a federated round sends the model both ways.
- A sensor with one modem cannot choose between radios at all: `allowed` says which cells it can use.
Left out: load balancing, handover, hysteresis, interference between cells.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass, fields
from typing import NamedTuple, Protocol

import numpy as np
from numpy.typing import ArrayLike, NDArray

from hfedms_sim.errors import InputError
from hfedms_sim.scenario.placement import Environment
from hfedms_sim.seeds import Draws
from hfedms_sim.world.site import path_loss
from hfedms_sim.world.site.outdoors import RuralMacro, UrbanMacro
from hfedms_sim.world.site.path_loss import CLUTTER, MIN_SNR_DB, SENSOR_HEIGHT_M, Floats, IndoorFactory

Flags = NDArray[np.bool_]

THERMAL_NOISE_DBM_PER_HZ = -174.0
MAX_COORDINATE_M = 1e7
_CHUNK = 16_384  # sensors at a time, so that their arrays stay in the processor's cache


_OUTDOORS: dict[str, type[RuralMacro] | type[UrbanMacro]] = {"RMa": RuralMacro, "UMa": UrbanMacro}


class PropagationLaw(Protocol):
    @property
    def base_height_m(self) -> float: ...

    def los_probability(self, distance_2d_m: Floats) -> Floats:
        """Return how likely each link is to have line of sight, by its distance on the ground."""

    def loss_db(self, distance_2d_m: Floats, distance_m: Floats, los: Flags) -> Floats:
        """Return the path loss of each link, by its distances on the ground and slanted, and its state."""

    def sigma_db(self, distance_2d_m: Floats, los: Flags) -> Floats:
        """Return the standard deviation of each link's shadowing."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RadioBudget:
    """A cell's link budget. Powers are those within `bandwidth_hz`; None stands for the environment's usual value."""

    carrier_ghz: float
    bandwidth_hz: float
    uplink_power_dbm: float
    downlink_power_dbm: float
    base_noise_figure_db: float = 5.0
    device_noise_figure_db: float = 9.0
    streams: int = 1
    environment: Environment = "SH"
    clutter_density: float | None = None
    clutter_height_m: float | None = None
    base_height_m: float | None = None
    sensor_height_m: float = SENSOR_HEIGHT_M
    max_coupling_loss_db: float | None = None
    """For a radio that repeats itself below -10 dB (NB-IoT: 164): covered up to here, rates by `coverage_class`."""

    def __post_init__(self) -> None:
        _check_budget(self)

    @property
    def law(self) -> "PropagationLaw":
        """How the signal weakens on the way, in this environment and at this carrier."""
        if self.environment in CLUTTER:
            return IndoorFactory(self.environment, self.surroundings, self.carrier_ghz, self.sensor_height_m)
        terrain = _OUTDOORS[self.environment]
        if self.base_height_m is None:
            return terrain(self.carrier_ghz, self.sensor_height_m)
        return terrain(self.carrier_ghz, self.sensor_height_m, self.base_height_m)

    @property
    def surroundings(self) -> path_loss.Clutter:
        """The environment's usual clutter and base station height, with what this budget says of its own."""
        usual = CLUTTER[self.environment]
        return path_loss.Clutter(
            size_m=usual.size_m,
            density=usual.density if self.clutter_density is None else self.clutter_density,
            height_m=usual.height_m if self.clutter_height_m is None else self.clutter_height_m,
            base_height_m=usual.base_height_m if self.base_height_m is None else self.base_height_m,
        )

    @property
    def uplink_budget_db(self) -> float:
        """The coupling loss at which the base station hears with an SNR of 0 dB."""
        return self.uplink_power_dbm - noise_dbm(self.bandwidth_hz, self.base_noise_figure_db)

    @property
    def downlink_budget_db(self) -> float:
        """The coupling loss at which the sensor hears with an SNR of 0 dB."""
        return self.downlink_power_dbm - noise_dbm(self.bandwidth_hz, self.device_noise_figure_db)


@dataclass(frozen=True, slots=True, eq=False)
class Coverage:
    """One value a sensor in every array. A sensor without coverage has the cell with the smallest coupling loss."""

    cell: NDArray[np.int64]
    coupling_loss_db: Floats
    los: Flags
    snr_up_db: Floats
    snr_down_db: Floats
    covered: Flags


class _Links(NamedTuple):
    """Some sensors' links, one each."""

    cell: NDArray[np.int64]
    coupling_loss_db: Floats
    los: Flags
    capacity_bps: Floats  # 0 out of coverage, -1 where the sensor may not use the cell


def noise_dbm(bandwidth_hz: float, noise_figure_db: float) -> float:
    """Thermal noise within a band, as a receiver with this noise figure hears it."""
    return THERMAL_NOISE_DBM_PER_HZ + 10.0 * math.log10(bandwidth_hz) + noise_figure_db


def attach(
    positions_m: Floats,
    cell_positions_m: Floats,
    budgets: Sequence[RadioBudget],
    draws: Draws,
    allowed: Flags | None = None,
) -> Coverage:
    """Every sensor at its best cell. Positions are rows of x, y; `allowed` is sensors x cells, by default all."""
    _check_arrays(positions_m, cell_positions_m, budgets, allowed)
    parts = []
    for start in range(0, max(len(positions_m), 1), _CHUNK):
        part = slice(start, start + _CHUNK)
        usable = None if allowed is None else allowed[part]
        parts.append(_best_links(start, positions_m[part], cell_positions_m, budgets, draws, usable))
    cell, loss_db, los, capacity_bps = (np.concatenate(arrays) for arrays in zip(*parts, strict=True))
    snr_up_db = np.array([budget.uplink_budget_db for budget in budgets])[cell] - loss_db
    snr_down_db = np.array([budget.downlink_budget_db for budget in budgets])[cell] - loss_db
    return Coverage(
        cell=cell,
        coupling_loss_db=loss_db,
        los=los,
        snr_up_db=snr_up_db,
        snr_down_db=snr_down_db,
        covered=capacity_bps > 0,
    )


def coverage_class(
    coupling_loss_db: ArrayLike, limits_db: Sequence[float] = (144.0, 154.0, 164.0)
) -> NDArray[np.int64]:
    """Class 0 up to and with the first limit, 1 up to the second, and so on; -1 beyond the last.

    The limits are NB-IoT's, assumed. Which repetitions, and so which rate, a class stands for is the caller's.
    """
    number = np.searchsorted(np.asarray(limits_db), coupling_loss_db, side="left")
    return np.where(number == len(limits_db), -1, number)


def _best_links(
    first_sensor: int,
    positions_m: Floats,
    cell_positions_m: Floats,
    budgets: Sequence[RadioBudget],
    draws: Draws,
    allowed: Flags | None,
) -> _Links:
    """Cell by cell, keeping the best: no array of sensors x cells."""
    sensors = np.arange(first_sensor, first_sensor + len(positions_m))
    best: _Links | None = None
    for cell, (cell_position_m, budget) in enumerate(zip(cell_positions_m, budgets, strict=True)):
        offered = _links(sensors, cell, positions_m - cell_position_m, budget, draws)
        if allowed is not None:
            offered = offered._replace(capacity_bps=np.where(allowed[:, cell], offered.capacity_bps, -1.0))
        best = offered if best is None else _better(best, offered)
    assert best is not None
    return best


def _better(best: _Links, offered: _Links) -> _Links:
    lost_less = offered.coupling_loss_db < best.coupling_loss_db
    taken = (offered.capacity_bps > best.capacity_bps) | ((offered.capacity_bps == best.capacity_bps) & lost_less)
    return _Links(*(np.where(taken, new, old) for new, old in zip(offered, best, strict=True)))


def _links(sensors: NDArray[np.int64], cell: int, offset_m: Floats, budget: RadioBudget, draws: Draws) -> _Links:
    law = budget.law
    distance_2d_m = np.sqrt(offset_m[:, 0] ** 2 + offset_m[:, 1] ** 2)
    distance_m = np.sqrt(distance_2d_m**2 + (law.base_height_m - budget.sensor_height_m) ** 2)
    los = draws.uniform("line-of-sight", sensors, cell) < law.los_probability(distance_2d_m)
    loss_db = law.loss_db(distance_2d_m, distance_m, los)
    loss_db += law.sigma_db(distance_2d_m, los) * draws.normal("shadowing", sensors, cell)
    return _Links(np.full(len(sensors), cell), loss_db, los, _capacity_bps(budget, loss_db))


def _capacity_bps(budget: RadioBudget, coupling_loss_db: Floats) -> Floats:
    """What the weaker direction can carry; 0 out of coverage."""
    snr_db = min(budget.uplink_budget_db, budget.downlink_budget_db) - coupling_loss_db
    if budget.max_coupling_loss_db is None:
        covered = snr_db >= MIN_SNR_DB
    else:
        covered = coupling_loss_db <= budget.max_coupling_loss_db
    return np.where(covered, budget.streams * budget.bandwidth_hz * path_loss.spectral_efficiency(snr_db), 0.0)


def _check_budget(budget: RadioBudget) -> None:
    if budget.environment not in (*CLUTTER, *_OUTDOORS):
        raise InputError(f"environment = {budget.environment!r}: must be one of {', '.join((*CLUTTER, *_OUTDOORS))}")
    for field in fields(budget):
        value = getattr(budget, field.name)
        if field.name != "environment" and value is not None and not math.isfinite(value):
            raise InputError(f"{field.name} = {value}: must be a finite number")
        if field.name in ("carrier_ghz", "bandwidth_hz") and value <= 0:
            raise InputError(f"{field.name} = {value}: must be greater than 0")
        if field.name.endswith("_height_m") and value is not None and value < 0:
            raise InputError(f"{field.name} = {value}: must be at least 0")
    if budget.environment in _OUTDOORS:
        base_m = budget.law.base_height_m
        if not 1 < budget.sensor_height_m < base_m:
            raise InputError(
                f"environment = {budget.environment!r}: needs sensors above 1 m and below the base station's "
                f"{base_m:g} m, not at {budget.sensor_height_m:g} m"
            )
        return
    around, sensor_m = budget.surroundings, budget.sensor_height_m
    if not 0 < around.density < 1:
        raise InputError(f"clutter_density = {around.density}: must be greater than 0 and less than 1")
    if budget.environment in ("SH", "DH") and not sensor_m < around.height_m < around.base_height_m:
        heights = f"sensor {sensor_m:g} m, clutter {around.height_m:g} m, base station {around.base_height_m:g} m"
        raise InputError(f"environment = {budget.environment!r}: needs heights in ascending order, not {heights}")


def _check_arrays(
    positions_m: Floats, cell_positions_m: Floats, budgets: Sequence[RadioBudget], allowed: Flags | None
) -> None:
    if not 0 < len(cell_positions_m) == len(budgets):
        raise ValueError(f"{len(cell_positions_m)} cells with {len(budgets)} budgets: one each, and at least one")
    for kind, places_m in (("sensor", positions_m), ("cell", cell_positions_m)):
        if places_m.ndim != 2 or places_m.shape[1] != 2:
            raise ValueError(f"{kind} positions of shape {places_m.shape}: must be rows of x, y")
        wrong = ~(np.abs(places_m) <= MAX_COORDINATE_M).all(axis=1)
        if wrong.any():
            at = int(wrong.argmax())
            raise InputError(f"{kind} {at} at {places_m[at].tolist()}: must be within {MAX_COORDINATE_M:g} m of 0, 0")
    if allowed is not None and allowed.shape != (len(positions_m), len(budgets)):
        raise ValueError(f"allowed of shape {allowed.shape}: must be sensors x cells")
    if allowed is not None and not allowed.any(axis=1).all():
        raise InputError(f"sensor {int(allowed.any(axis=1).argmin())}: there is no cell that it may use")
