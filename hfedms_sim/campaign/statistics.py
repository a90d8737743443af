"""Mean and 95 % interval over seeds.

With n values of mean m and sample standard deviation s the interval is m +- t s / sqrt(n), t being the 97.5 % quantile
of Student's distribution with n - 1 degrees of freedom. It assumes that the seeds' values are independent and about
normal; with three seeds it is wide. Paired differences have the same interval, of the differences; a ratio has that of
its logarithms.

What is read off a grid, such as the first of every fifth round that was good enough, is known to half a step only: no
interval is narrower than that `resolution`, also where all seeds fell on one step.
"""

from collections.abc import Sequence
from math import exp, sqrt
from statistics import fmean, stdev
from typing import NamedTuple

LEVEL = 0.95


class Estimate(NamedTuple):
    mean: float
    half_width: float | None
    """Half the width of the interval; None with a single value."""


class Ratio(NamedTuple):
    """How many times as much one takes as another: the geometric mean over seeds, and its interval."""

    mean: float
    low: float | None
    """Where the interval begins; None with a single seed."""
    high: float | None

    @property
    def is_more(self) -> bool:
        """Return whether all of the interval is above one."""
        return self.low is not None and self.low > 1.0

    @property
    def words(self) -> str:
        return f"{self.mean:.2f}" if self.low is None else f"{self.mean:.2f} ({self.low:.2f} to {self.high:.2f})"


def ratio(logarithms: Sequence[float], resolution: float = 0.0) -> Ratio | None:
    """Return the ratio whose logarithm each seed has measured; None if there is no seed."""
    found = estimate(logarithms, resolution)
    if found is None:
        return None
    if found.half_width is None:
        return Ratio(exp(found.mean), None, None)
    return Ratio(exp(found.mean), exp(found.mean - found.half_width), exp(found.mean + found.half_width))


def estimate(values: Sequence[float], resolution: float = 0.0) -> Estimate | None:
    """Return mean and interval of some values; None if there are none."""
    if not values:
        return None
    if len(values) == 1:
        return Estimate(float(values[0]), None)
    spread = stdev(values) / sqrt(len(values))
    return Estimate(fmean(values), max(resolution, spread * _quantile(len(values) - 1)))


def _quantile(degrees: int) -> float:
    from scipy.special import stdtrit  # here: scipy takes a while to import

    return float(stdtrit(degrees, (1 + LEVEL) / 2))
