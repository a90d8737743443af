"""A law of whole numbers as a table of its distribution function."""

from bisect import bisect_right
from collections.abc import Sequence
from typing import NamedTuple

TAIL = 12.0
"""Standard deviations; beyond lies less than the resolution of a draw."""
RARE = 40.0
"""A probability of exp(-40) too."""


class Tabulated(NamedTuple):
    """[P(F <= first), P(F <= first + 1), ...] over all numbers that matter."""

    first: int
    distribution: Sequence[float]

    def failed(self, uniform: float) -> int:
        """Return the number for a uniform draw in [0, 1)."""
        return self.first + bisect_right(self.distribution, uniform)
