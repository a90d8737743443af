"""Mean and 95 % interval over seeds.

With n values of mean m and sample standard deviation s the interval is m +- t s / sqrt(n), t being the 97.5 % quantile
of Student's distribution with n - 1 degrees of freedom. It assumes that the seeds' values are independent and about
normal; with three seeds it is wide. Paired differences have the same interval, of the differences.
"""

from collections.abc import Sequence
from math import sqrt
from statistics import fmean, stdev
from typing import NamedTuple

LEVEL = 0.95


class Estimate(NamedTuple):
    mean: float
    half_width: float | None
    """Half the width of the interval; None with a single value."""


def estimate(values: Sequence[float]) -> Estimate | None:
    """Return mean and interval of some values; None if there are none."""
    if not values:
        return None
    if len(values) == 1:
        return Estimate(float(values[0]), None)
    spread = stdev(values) / sqrt(len(values))
    return Estimate(fmean(values), spread * _quantile(len(values) - 1))


def _quantile(degrees: int) -> float:
    from scipy.special import stdtrit  # here: scipy takes a while to import

    return float(stdtrit(degrees, (1 + LEVEL) / 2))
