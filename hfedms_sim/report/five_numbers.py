"""A box of a box plot in five numbers, which draw the same box as all the values behind them."""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

_REACH = 1.5  # of a whisker, in interquartile ranges


class FiveNumbers(NamedTuple):
    """The end of the lower whisker, the quartiles, and the end of the upper whisker."""

    low: float
    first_quartile: float
    median: float
    third_quartile: float
    high: float


def five_numbers(values: Sequence[float] | NDArray[np.float64]) -> FiveNumbers:
    """Return quartiles, and the outermost values within 1.5 interquartile ranges of them, never inside the box."""
    own = np.asarray(values, dtype=np.float64)
    first, median, third = np.percentile(own, (25, 50, 75))
    reach = _REACH * (third - first)
    inside = own[(own >= first - reach) & (own <= third + reach)]
    low, high = inside.min(initial=first), inside.max(initial=third)
    return FiveNumbers(float(low), float(first), float(median), float(third), float(high))
