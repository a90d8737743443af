"""A cell that is good or bad by turns: how much of its airtime is left for us.

The two-state model of Gilbert and Elliott in continuous time. Sojourns in the good state are exponential with mean
g, in the bad state with mean b, where only a share s of the airtime is left: other traffic has priority, or
interference blocks the channel. Whatever is under way slows down together, so sharing stays exact. The state at
time zero is drawn from the stationary law (good with probability g / (g + b)).

The path is a function of the seed and the cell alone: it is the same on every radio, and however it is asked. The
k-th sojourn is drawn when the clock gets there, a block at a time, and forgotten when it has passed.
"""

from bisect import bisect_right

import numpy as np

from hfedms_sim.scenario.profile import Fluctuation
from hfedms_sim.seeds import Draws

_BLOCK = 512


class Availability:
    """The airtime a cell has had by some time: the integral over its state. Asked in the order of time."""

    def __init__(self, fluctuation: Fluctuation, draws: Draws, cell: int) -> None:
        self._draws = draws
        self._cell = cell
        good_s, bad_s = fluctuation.good_s, fluctuation.bad_s
        starts_good = draws.one_uniform("fluctuation/start", cell) < good_s / (good_s + bad_s)
        self._mean_s = (good_s, bad_s) if starts_good else (bad_s, good_s)
        self._share = (1.0, fluctuation.bad_share) if starts_good else (fluctuation.bad_share, 1.0)
        self._drawn = 0
        self._times_s = [0.0]  # when the state changes
        self._airtimes_s = [0.0]  # had by then

    def airtime_s(self, from_s: float, to_s: float) -> float:
        """Between two times."""
        while self._times_s[-1] <= to_s:
            self._draw(forget_before_s=from_s)
        return self._at(to_s) - self._at(from_s)

    def when_s(self, from_s: float, airtime_s: float) -> float:
        """The time at which there will have been so much more of it."""
        while self._times_s[-1] <= from_s:
            self._draw(forget_before_s=from_s)
        target_s = self._at(from_s) + airtime_s
        while self._airtimes_s[-1] <= target_s:
            self._draw()
        sojourn = bisect_right(self._airtimes_s, target_s) - 1
        return self._times_s[sojourn] + (target_s - self._airtimes_s[sojourn]) / self._share_in(sojourn)

    def _at(self, time_s: float) -> float:
        sojourn = bisect_right(self._times_s, time_s) - 1
        return self._airtimes_s[sojourn] + (time_s - self._times_s[sojourn]) * self._share_in(sojourn)

    def _share_in(self, sojourn: int) -> float:
        return self._share[(self._drawn - len(self._times_s) + 1 + sojourn) % 2]

    def _draw(self, forget_before_s: float | None = None) -> None:
        """The next sojourns."""
        if forget_before_s is not None:
            passed = bisect_right(self._times_s, forget_before_s) - 1
            del self._times_s[:passed], self._airtimes_s[:passed]
        sojourns = np.arange(self._drawn, self._drawn + _BLOCK)
        lengths_s = -np.log1p(-self._draws.uniform("fluctuation", self._cell, sojourns))
        lengths_s *= np.where(sojourns % 2 == 0, *self._mean_s)
        shares = np.where(sojourns % 2 == 0, *self._share)
        self._times_s += np.cumsum(np.concatenate([self._times_s[-1:], lengths_s]))[1:].tolist()
        self._airtimes_s += np.cumsum(np.concatenate([self._airtimes_s[-1:], lengths_s * shares]))[1:].tolist()
        self._drawn += _BLOCK
