"""Bursty arrivals: a sensor that is on and off in turn, and delivers at random while on.

On and off sojourns alternate, exponential with means `on_s` and `off_s`. At time 0 the sensor is on with
probability on_s / (on_s + off_s), and what is left of the first sojourn is exponential too, so the path is
stationary. Arrivals are a Poisson path of `rate_hz` on a clock that runs while on: an interrupted Poisson process
(Kuczura 1973, Bell Syst. Tech. J. 52:437-448). With p = on_s / (on_s + off_s) and c = 1 / on_s + 1 / off_s, the
count N over t seconds has

    E N = rate_hz p t,    Var N = E N + 2 rate_hz^2 p (1 - p) (t / c - (1 - exp(-c t)) / c^2).

The ticks on and off after k cycles are drawn coarse to fine over k (`bisection`): the sum of k sojourns is
Gamma(k), and its first half's share is Beta(k/2, k/2), independent of the sum. That is exact up to whole ticks, and
a question about a time a year ahead costs O(log) draws. Sensors are on and off independently of each other; common
shifts are in `shifts`.
"""

import math
from dataclasses import dataclass
from functools import cached_property
from typing import Annotated, Literal

from pydantic import Field

from hfedms_sim.seeds import Draws
from hfedms_sim.world.streams.arrivals import (
    HORIZON_TICKS,
    TICKS_PER_S,
    ArrivalPath,
    Arriving,
    PoissonPath,
    RateHz,
    seconds,
    whole_ticks,
)
from hfedms_sim.world.streams.bisection import Bisection
from hfedms_sim.world.streams.keyed_laws import KeyedBits, gamma, symmetric_beta

SojournSeconds = Annotated[float, Field(ge=1e-6, le=1e9)]
_Ticks = tuple[int, int]  # on, off


class OnAndOff(Arriving):
    """Settings of a stream that is on and off in turn, and delivers while it is on."""

    rate_hz: RateHz
    """Samples a second of a sensor that is on, on average."""
    on_s: SojournSeconds
    """How long it is on: a shift, or a burst on average."""
    off_s: SojournSeconds
    """How long it is off: the rest between shifts, or the silence between bursts on average."""


class Bursty(OnAndOff):
    arrival: Literal["bursty"]
    """bursty: each sensor is on and off by its own clock."""

    def arrivals(self, sensors: int, draws: Draws) -> ArrivalPath:
        return BurstyPath(self.rate_hz, self.on_s, self.off_s, draws)


@dataclass(frozen=True)
class BurstyPath:
    """`rate_hz` is the rate while on. Keeps some 3 kB for each sensor asked."""

    rate_hz: float
    on_s: float
    off_s: float
    draws: Draws

    def count(self, sensor: int, until_s: float) -> int:
        return self._arrivals.count_ticks(sensor, self.on_ticks(sensor, whole_ticks(until_s)))

    def time_of(self, sensor: int, number: int) -> float:
        on_ticks = self._arrivals.tick_of(sensor, number)
        if on_ticks is None:
            return math.inf
        found = self._cycles.find(sensor, lambda _, ticks: ticks[0] >= on_ticks)
        if found is None:
            return math.inf
        _, (_, off_before), (_, off_after) = found
        return seconds(on_ticks + (off_before if self._starts_on(sensor) else off_after))

    def on_ticks(self, sensor: int, until_ticks: int) -> int:
        """How long the sensor has been on."""
        if until_ticks <= 0:
            return 0
        found = self._cycles.find(sensor, lambda _, ticks: ticks[0] + ticks[1] >= until_ticks)
        assert found is not None, "the cycles go on beyond the horizon"
        _, (on_before, off_before), (on_after, off_after) = found
        if self._starts_on(sensor):
            return min(until_ticks - off_before, on_after)
        return max(until_ticks - off_after, on_before)

    def _starts_on(self, sensor: int) -> bool:
        return next(self._first_state.uniforms(sensor, 0)) < self.on_s / (self.on_s + self.off_s)

    @cached_property
    def _first_state(self) -> KeyedBits:
        return KeyedBits(self.draws, "arrivals/first-state")

    @cached_property
    def _arrivals(self) -> PoissonPath:
        return PoissonPath(self.rate_hz, self.draws)

    @cached_property
    def _cycles(self) -> Bisection[_Ticks]:
        on, off = KeyedBits(self.draws, "arrivals/on"), KeyedBits(self.draws, "arrivals/off")
        mean_on, mean_off = self.on_s * TICKS_PER_S, self.off_s * TICKS_PER_S

        def extend(sensor: int, end: int, start: int, low: _Ticks) -> _Ticks:
            on_sum = mean_on * gamma(on, sensor, end, end - start)
            off_sum = mean_off * gamma(off, sensor, end, end - start)
            return low[0] + round(on_sum), low[1] + round(off_sum)

        def split(sensor: int, middle: int, half_width: int, low: _Ticks, high: _Ticks) -> _Ticks:
            on_share = symmetric_beta(on, sensor, middle, half_width)
            off_share = symmetric_beta(off, sensor, middle, half_width)
            return low[0] + round((high[0] - low[0]) * on_share), low[1] + round((high[1] - low[1]) * off_share)

        return Bisection((0, 0), HORIZON_TICKS, extend, split)
