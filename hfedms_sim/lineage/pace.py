"""How often a checkpoint is written: as often as a twentieth of the wall time allows.

A checkpoint is due when the time spent on checkpoints so far, and what the next one will take by the last one's
measure, is at most 5 % of the time since the start. The number of rounds between two follows: one where rounds are long
and models small, hundreds the other way round.
"""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from time import perf_counter

SHARE = 0.05
_GROWTH = 1.25  # memories and backup extractors make the next state larger than the last
_LEAST_S, _BYTES_PER_S = 0.01, 100e6  # before the first one was measured


class Pace:
    def __init__(self, model_bytes: int, clock: Callable[[], float] = perf_counter) -> None:
        self.spent_s = 0.0
        self._clock = clock
        self._started_s = clock()
        self._expected_s = _LEAST_S + model_bytes / _BYTES_PER_S

    def is_due(self) -> bool:
        return self.spent_s + self._expected_s <= SHARE * (self._clock() - self._started_s)

    @contextmanager
    def timed(self) -> Iterator[None]:
        """Around the writing of a checkpoint."""
        started_s = self._clock()
        yield
        took_s = self._clock() - started_s
        self.spent_s += took_s
        self._expected_s = _GROWTH * took_s
