"""The sensors' buffers: bounded, drop-oldest, read newest first, over fixed arrival paths.

A sample is known by its arrival index from 0. A buffer holds the newest `buffer` samples that arrived and were not
captured; a capture takes the newest `batch` of them and leaves the older ones waiting. Between captures only
arrivals happen, so what the buffer holds follows from the arrival count and from what the last capture left: there
is no event per sample, and nothing is kept for a sensor before its first capture. For each sensor, at any time,

    arrived = captured + overflowed + waiting.

A capture takes no time, and a sample's age is nobody's concern: a buffer never drops a sample for being old.
"""

import math
from typing import NamedTuple

from hfedms_sim.rounds import Samples
from hfedms_sim.world.streams.arrivals import ArrivalPath


class Capture(NamedTuple):
    """What a sensor took from its buffer. `arrived` and `overflowed` count since its last capture."""

    first_arrival: int
    """The index of the oldest sample taken; if none was, that of the next sample to arrive."""
    arrived: int
    overflowed: int
    captured: int
    ranges: Samples


class _Left(NamedTuple):
    """What a capture leaves behind: how many samples had arrived, and which of them still wait."""

    arrivals: int
    waiting: int
    ranges: Samples


_UNTOUCHED = _Left(0, 0, ())


class Buffers:
    def __init__(self, path: ArrivalPath, batch: int, buffer: int) -> None:
        if not 1 <= batch <= buffer:
            raise ValueError(f"batch = {batch}, buffer = {buffer}: must be 1 <= batch <= buffer")
        self._path = path
        self._batch = batch
        self._buffer = buffer
        self._left: dict[int, _Left] = {}

    def capture(self, sensor: int, now_s: float) -> Capture:
        """Take the newest `batch` samples, fewer if fewer are there."""
        left = self._left.get(sensor, _UNTOUCHED)
        arrivals = self._path.count(sensor, now_s)
        if arrivals < left.arrivals:
            raise ValueError(f"sensor {sensor}, {now_s} s: time runs back, a capture came later")
        arrived = arrivals - left.arrivals
        waiting = min(left.waiting + arrived, self._buffer)
        captured = min(waiting, self._batch)
        held = newest((*left.ranges, (left.arrivals, arrived)) if arrived else left.ranges, waiting)
        taken = newest(held, captured)
        self._left[sensor] = _Left(arrivals, waiting - captured, oldest(held, waiting - captured))
        first_arrival = taken[0][0] if taken else arrivals
        return Capture(first_arrival, arrived, left.waiting + arrived - waiting, captured, taken)

    def ready_s(self, sensor: int, now_s: float, samples: int) -> float:
        """Return the first time from now on at which the buffer holds this many samples; infinity if never."""
        left = self._left.get(sensor, _UNTOUCHED)
        if samples > self._buffer:
            return math.inf
        if samples <= left.waiting:
            return now_s
        return max(now_s, self._path.time_of(sensor, left.arrivals + samples - left.waiting))


def newest(ranges: Samples, samples: int) -> Samples:
    kept: list[tuple[int, int]] = []
    for first, length in reversed(ranges):
        taken = min(length, samples)
        if not taken:
            break
        kept.append((first + length - taken, taken))
        samples -= taken
    return tuple(reversed(kept))


def oldest(ranges: Samples, samples: int) -> Samples:
    kept: list[tuple[int, int]] = []
    for first, length in ranges:
        taken = min(length, samples)
        if not taken:
            break
        kept.append((first, taken))
        samples -= taken
    return tuple(kept)
