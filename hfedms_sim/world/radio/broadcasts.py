"""Block errors of a broadcast: how many blocks have to be sent again until every listener has each of them.

Each of n listeners misses each transmission with probability p, independently, so a block takes the largest of n
geometric numbers: at most k further transmissions with probability (1 - p^(k + 1))^n. F is the sum of N of these. Its
law is the N-th power of the discrete Fourier transform of one block's, over a range of L numbers around the mean: the
sum is found modulo L, and what lies outside the range has a probability below the resolution of a draw. Right to about
1e-11, for any N and n whose range is not too long.

    many failures    Where p is near 1, transmissions are counted in bundles of h, so many that a bundle fails with
                     p^h, well below 1. Of the largest of n geometric numbers the whole bundles are the largest of n
                     geometric numbers too, with p^h for p: this is exact. Within its last bundle a block ends anywhere,
                     so N blocks take N (h - 1) / 2 more; how far that varies is a millionth of the deviation
    many blocks      Where the range would be long, F is nearly normal: by its first four cumulants, which are N times
                     one block's (the expansion of Cornish and Fisher, 1938). Of a thousand blocks it is right to about
                     a thousandth of a standard deviation
"""

from array import array
from functools import lru_cache
from math import ceil, exp, log, sqrt
from statistics import NormalDist
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from hfedms_sim.world.radio.tabulated import RARE, TAIL, Tabulated

_LONGEST_BLOCK = 2**13
_LONGEST_RANGE = 2**17
_LEAST_UNIFORM = 2**-54  # half the resolution of a draw: 0 would be infinitely far out


class ManyBlocks(NamedTuple):
    """The law of a sum that is nearly normal, by its mean, deviation, skewness and excess of kurtosis."""

    mean: float
    deviation: float
    skewness: float
    excess: float

    def failed(self, uniform: float) -> int:
        """Return the number for a uniform draw in [0, 1)."""
        z = NormalDist().inv_cdf(max(uniform, _LEAST_UNIFORM))
        shift = (z**2 - 1) * self.skewness / 6 + (z**3 - 3 * z) * self.excess / 24
        shift -= (2 * z**3 - 5 * z) * self.skewness**2 / 36
        return max(0, round(self.mean + self.deviation * (z + shift)))


class Bundled(NamedTuple):
    """A law in bundles of transmissions, of which the last one of each block ends anywhere."""

    bundles: Tabulated | ManyBlocks
    size: int
    blocks: int

    def failed(self, uniform: float) -> int:
        """Return the number for a uniform draw in [0, 1)."""
        return self.size * self.bundles.failed(uniform) + self.blocks * (self.size - 1) // 2


BroadcastLaw = Tabulated | ManyBlocks | Bundled


@lru_cache(maxsize=64)
def broadcast_law(blocks: int, error_rate: float, listeners: int) -> BroadcastLaw:
    """Return the law of F."""
    size = ceil(_most_failures(error_rate, listeners) / _LONGEST_BLOCK)
    if size == 1:
        return sum_of_blocks(blocks, error_rate, listeners)
    return Bundled(sum_of_blocks(blocks, exp(size * log(error_rate)), listeners), size, blocks)


def sum_of_blocks(blocks: int, error_rate: float, listeners: int) -> Tabulated | ManyBlocks:
    """Return the N-th power of the transform of one block's law, modulo a range around the mean; or nearly normal."""
    one = largest_geometric(error_rate, listeners)
    numbers = np.arange(len(one))
    mean = float(one @ numbers)
    deviation = sqrt(max(0.0, float(one @ (numbers - mean) ** 2)))
    spread = TAIL * deviation * sqrt(blocks) + len(one)
    first, size = max(0, int(blocks * mean - spread)), 2 ** ceil(log(2 * spread + 2, 2))
    if size > _LONGEST_RANGE:
        third, fourth = (float(one @ ((numbers - mean) / deviation) ** power) for power in (3, 4))
        return ManyBlocks(blocks * mean, deviation * sqrt(blocks), third / sqrt(blocks), (fourth - 3) / blocks)
    folded = np.bincount(numbers % size, weights=one, minlength=size)
    mass = np.fft.irfft(np.fft.rfft(folded) ** blocks, size)
    distribution = np.cumsum(np.maximum(0.0, np.roll(mass, -(first % size))))
    return Tabulated(first, array("d", (distribution / distribution[-1]).tobytes()))


def largest_geometric(error_rate: float, listeners: int) -> NDArray[np.float64]:
    """Return the probabilities of 0, 1, ... further transmissions of one block, as far as they matter."""
    most = _most_failures(error_rate, listeners)
    at_most = np.exp(listeners * np.log1p(-(error_rate ** np.arange(1.0, most + 2))))
    return np.diff(at_most, prepend=0.0)


def _most_failures(error_rate: float, listeners: int) -> int:
    """Return how many further transmissions of one block matter."""
    return ceil((RARE + log(listeners)) / -log(error_rate))
