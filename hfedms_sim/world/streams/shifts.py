"""Shifts: the whole factory works for `on_s` seconds, rests for `off_s`, and so on, from the start of the run.

Arrivals are each sensor's own Poisson path of `rate_hz`, on a clock that runs while the factory works.
"""

import math
from dataclasses import dataclass
from functools import cached_property
from typing import Literal

from hfedms_sim.seeds import Draws
from hfedms_sim.world.streams.arrivals import TICKS_PER_S, ArrivalPath, PoissonPath, seconds, whole_ticks
from hfedms_sim.world.streams.bursts import OnAndOff


class Shifts(OnAndOff):
    arrival: Literal["shifts"]
    """shifts: samples arrive while the whole factory works."""

    def arrivals(self, sensors: int, draws: Draws) -> ArrivalPath:
        return ShiftsPath(self.rate_hz, self.on_s, self.off_s, draws)


@dataclass(frozen=True)
class ShiftsPath:
    """`rate_hz` is the rate while at work."""

    rate_hz: float
    on_s: float
    off_s: float
    draws: Draws

    def count(self, sensor: int, until_s: float) -> int:
        shifts, into_ticks = divmod(whole_ticks(until_s), self._on_ticks + self._off_ticks)
        return self._arrivals.count_ticks(sensor, shifts * self._on_ticks + min(into_ticks, self._on_ticks))

    def time_of(self, sensor: int, number: int) -> float:
        worked_ticks = self._arrivals.tick_of(sensor, number)
        if worked_ticks is None:
            return math.inf
        rests = (worked_ticks - 1) // self._on_ticks  # an arrival in the last tick of a shift is not after the rest
        return seconds(worked_ticks + rests * self._off_ticks)

    @cached_property
    def _arrivals(self) -> PoissonPath:
        return PoissonPath(self.rate_hz, self.draws)

    @cached_property
    def _on_ticks(self) -> int:
        return max(1, round(self.on_s * TICKS_PER_S))

    @cached_property
    def _off_ticks(self) -> int:
        return round(self.off_s * TICKS_PER_S)
