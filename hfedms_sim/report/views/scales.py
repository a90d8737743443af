"""The units in which an axis is read best, by the largest value on it."""

from collections.abc import Sequence
from typing import NamedTuple

from hfedms_sim.units import SECONDS_PER_DAY, SECONDS_PER_HOUR

_MINUTE_S, _MILLISECOND_S = 60.0, 1e-3
_LEAST_TIMES = 3  # of a unit of time: 100 minutes are read more easily than 1.67 hours


class Unit(NamedTuple):
    """What values are divided by, and what they are then."""

    size: float
    name: str

    def of(self, values: Sequence[float]) -> tuple[float, ...]:
        """Return the values in this unit."""
        return tuple(float(value) / self.size for value in values)


def time_unit(largest_s: float) -> Unit:
    units = (
        Unit(SECONDS_PER_DAY, "days"),
        Unit(SECONDS_PER_HOUR, "hours"),
        Unit(_MINUTE_S, "minutes"),
        Unit(1.0, "seconds"),
    )
    small = Unit(_MILLISECOND_S, "milliseconds") if 0 < largest_s < 1 else Unit(1.0, "seconds")
    return next((unit for unit in units if largest_s >= _LEAST_TIMES * unit.size), small)


def energy_unit(largest_j: float) -> Unit:
    units = (Unit(1e6, "MJ"), Unit(1e3, "kJ"), Unit(1.0, "J"))
    return next((unit for unit in units if largest_j >= 10 * unit.size), Unit(1.0, "J"))


def bytes_unit(largest_bytes: float) -> Unit:
    units = (Unit(1e12, "TB"), Unit(1e9, "GB"))
    return next((unit for unit in units if largest_bytes >= unit.size), Unit(1e6, "MB"))


def rate_unit(largest_bps: float) -> Unit:
    units = (Unit(1e9, "Gbit/s"), Unit(1e6, "Mbit/s"), Unit(1e3, "kbit/s"))
    return next((unit for unit in units if largest_bps >= unit.size), Unit(1.0, "bit/s"))


def count_unit(largest: float) -> Unit:
    return Unit(1e9, "billions") if largest >= 1e9 else Unit(1e6, "millions")
