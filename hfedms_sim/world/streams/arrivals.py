"""When a sensor's samples arrive: one path per sensor, fixed by the seed, whatever the radio does and whoever asks.

Nothing happens per sample: a path answers how many samples came up to a time (`count`) and when a sample comes
(`time_of`), in any order, and the answers never contradict each other. Here: periodic and Poisson; `bursts` has the
bursty path, `shifts` that of a factory which rests, `arrival_csv` the recorded one. Each has its settings beside it,
which make the path. All sensors have the same rate, and given it they are independent.

**Poisson.** Time is cut into slots of 2^b ticks (a tick is 2^-20 s, about a microsecond) that hold 4 to 8 arrivals
on average. Their counts are drawn coarse to fine (`bisection`): one Poisson count for each of the stretches of slots
0-1, 1-2, 2-4, 4-8, ..., and each count n is split between the halves of its stretch as Binomial(n, 1/2). That is the
exact law: the counts of disjoint stretches of time are independent, and each of n arrivals is as likely in one half
as in the other. Inside a slot the arrivals are independent and uniform. So a question about a time one day or one
year ahead costs O(log) draws; sums of keyed gaps would be simpler, but would have to be walked through every arrival
in between.

Whole ticks make every sum exact: `count(time_of(n)) >= n` holds to the last bit. Arrivals within one tick share its
end. Nothing that is drawn arrives after the horizon of 2^33 s (272 years).
"""

import math
from abc import abstractmethod
from array import array
from dataclasses import dataclass
from functools import cached_property, partial
from typing import Annotated, Literal, Protocol

from pydantic import Field

from hfedms_sim.scenario.base import LEAST
from hfedms_sim.scenario.data import Stream
from hfedms_sim.seeds import Draws
from hfedms_sim.world.streams.bisection import Bisection
from hfedms_sim.world.streams.keyed_laws import BLOCK_WORDS, KeyedBits, binomial_half, poisson

TICKS_PER_S = 2**20
HORIZON_TICKS = 2**53
HORIZON_S = HORIZON_TICKS / TICKS_PER_S
MAX_SLOT_ARRIVALS = 8  # on average: one block of words places them all, most often

RateHz = Annotated[float, Field(ge=LEAST, le=1e6)]


class ArrivalPath(Protocol):
    def count(self, sensor: int, until_s: float) -> int:
        """Return how many samples arrive in (0, until_s]."""

    def time_of(self, sensor: int, number: int) -> float:
        """Return when the sample with this number, from 1, arrives; infinity if it never does."""


class Arriving(Stream):
    """Settings of a stream that fills a buffer, by a law of arrivals."""

    @abstractmethod
    def arrivals(self, sensors: int, draws: Draws) -> ArrivalPath:
        """Return when the samples of each sensor arrive."""


class Periodic(Arriving):
    arrival: Literal["periodic"]
    """periodic: a sample every 1 / rate_hz seconds."""
    rate_hz: RateHz
    """Samples a second of each sensor."""

    def arrivals(self, sensors: int, draws: Draws) -> ArrivalPath:
        return PeriodicPath(self.rate_hz, draws)


class Poisson(Arriving):
    arrival: Literal["poisson"]
    """poisson: samples arrive independently of each other."""
    rate_hz: RateHz
    """Samples a second of each sensor, on average."""

    def arrivals(self, sensors: int, draws: Draws) -> ArrivalPath:
        return PoissonPath(self.rate_hz, draws)


@dataclass(frozen=True)
class PeriodicPath:
    """A sample every 1 / rate_hz seconds, the first after a uniform part of a period."""

    rate_hz: float
    draws: Draws

    def count(self, sensor: int, until_s: float) -> int:
        early, until_s = self._early(sensor), min(until_s, HORIZON_S)
        number = max(0, int(until_s * self.rate_hz) - 1)
        while (number + 1 - early) / self.rate_hz <= until_s:
            number += 1
        return number

    def time_of(self, sensor: int, number: int) -> float:
        time_s = (number - self._early(sensor)) / self.rate_hz
        return time_s if time_s <= HORIZON_S else math.inf

    def _early(self, sensor: int) -> float:
        """Return by which part of a period the samples come before the whole periods."""
        return self.draws.one_uniform("arrivals/phase", sensor)


@dataclass(frozen=True)
class PoissonPath:
    """Arrivals at random, `rate_hz` a second on average. Keeps some 600 bytes for each sensor asked."""

    rate_hz: float
    draws: Draws

    def count(self, sensor: int, until_s: float) -> int:
        return self.count_ticks(sensor, whole_ticks(until_s))

    def time_of(self, sensor: int, number: int) -> float:
        return seconds(self.tick_of(sensor, number))

    def count_ticks(self, sensor: int, until_ticks: int) -> int:
        if until_ticks <= 0:
            return 0
        slot = (until_ticks - 1) >> self._slot_log2
        found = self._counts.find(sensor, lambda position, _: position > slot)
        assert found is not None, "the slots go on to the horizon"
        _, before, after = found
        return before + len([tick for tick in self._ticks_in(sensor, slot, after - before) if tick <= until_ticks])

    def tick_of(self, sensor: int, number: int) -> int | None:
        found = self._counts.find(sensor, lambda _, count: count >= number)
        if found is None:
            return None
        slot, before, after = found
        return sorted(self._ticks_in(sensor, slot, after - before))[number - before - 1]

    def _ticks_in(self, sensor: int, slot: int, count: int) -> list[int]:
        """Return the arrivals of a slot, in no order. A slot begins after its first boundary and ends with its last."""
        first_tick, shift = (slot << self._slot_log2) + 1, 64 - self._slot_log2
        words: tuple[int, ...] = ()
        while len(words) < count:
            words += self._places.block(sensor, slot, len(words) // BLOCK_WORDS)
        return [first_tick + (word >> shift) for word in words[:count]]

    @cached_property
    def _slot_log2(self) -> int:
        widest_ticks = MAX_SLOT_ARRIVALS / self.rate_hz * TICKS_PER_S
        return math.frexp(min(widest_ticks, HORIZON_TICKS))[1] - 1

    @cached_property
    def _places(self) -> KeyedBits:
        return KeyedBits(self.draws, "arrivals/place")

    @cached_property
    def _counts(self) -> Bisection[int]:
        words = KeyedBits(self.draws, "arrivals/count")
        slot_arrivals = self.rate_hz * 2.0**self._slot_log2 / TICKS_PER_S

        def extend(sensor: int, end: int, start: int, low: int) -> int:
            return low + poisson(words, sensor, end, slot_arrivals * (end - start))

        def split(sensor: int, middle: int, _: int, low: int, high: int) -> int:
            return low + binomial_half(words, sensor, middle, high - low)

        return Bisection(0, HORIZON_TICKS >> self._slot_log2, extend, split, partial(array, "q"))


def whole_ticks(time_s: float) -> int:
    """Return the ticks of a time, rounded down; a time after the horizon is the horizon."""
    return int(min(time_s * TICKS_PER_S, HORIZON_TICKS))


def seconds(ticks: int | None) -> float:
    return math.inf if ticks is None or ticks > HORIZON_TICKS else ticks / TICKS_PER_S
