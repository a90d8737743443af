"""Block errors: how many blocks of a transfer have to be sent again.

A transfer of N blocks, each of which fails with probability p and is repeated until it arrives, needs F further
blocks, with F negative binomial: P(F = f) = C(N + f - 1, f) p^f (1 - p)^N, mean N p / (1 - p), variance N p / (1 -
p)^2. One uniform draw and the inverse of the distribution function give F exactly (to the 53 bits of the draw),
without an event per block. There are few different N in a run, so each distribution is tabulated once.

A broadcast repeats a block until all of its n listeners have it. Each of them misses each transmission with probability
p, independently, so a block takes the largest of n geometric numbers: at most k further transmissions with probability
(1 - p^(k + 1))^n. F is the sum of N of these. Its law is the N-th power of the discrete Fourier transform of one
block's, over a window of L numbers around the mean: the sum is found modulo L, and what lies outside the window has a
probability below the resolution of a draw. Right to about 1e-11, for any N and n.

Left out: failures that come in bursts or hit all listeners at once, the round trip that a repetition waits for, and
that the listeners of a real broadcast cannot all say what they miss.
"""

from bisect import bisect_right
from functools import lru_cache
from math import ceil, log, sqrt

import numpy as np
from numpy.typing import NDArray

_TAIL = 12.0  # standard deviations; beyond lies less than the resolution of a draw
_RARE = 40.0  # a probability of exp(-40) too


def failed_blocks(blocks: int, error_rate: float, uniform: float, listeners: int = 1) -> int:
    """F for a uniform draw in [0, 1)."""
    first, distribution = distribution_of_failures(blocks, error_rate, listeners)
    return first + bisect_right(distribution, uniform)


def distribution_of_failures(blocks: int, error_rate: float, listeners: int = 1) -> tuple[int, list[float]]:
    """Return f0 and [P(F <= f0), P(F <= f0 + 1), ...] over all f that matter."""
    if error_rate == 0:
        return 0, [1.0]
    return _negative_binomial(blocks, error_rate) if listeners == 1 else _until_all(blocks, error_rate, listeners)


@lru_cache(maxsize=1024)
def _negative_binomial(blocks: int, error_rate: float) -> tuple[int, list[float]]:
    """By the ratio P(f + 1) / P(f) = p (N + f) / (f + 1), normalised at the end: no factorials, no underflow."""
    mean = blocks * error_rate / (1 - error_rate)
    spread = _TAIL * sqrt(blocks * error_rate) / (1 - error_rate) + _RARE / (1 - error_rate)
    first, last = max(0, int(mean - spread)), int(mean + spread)
    failures = np.arange(first, last)
    log_weight = np.concatenate([[0.0], np.cumsum(np.log(error_rate * (blocks + failures) / (failures + 1)))])
    distribution = np.cumsum(np.exp(log_weight - log_weight.max()))
    return first, (distribution / distribution[-1]).tolist()


@lru_cache(maxsize=128)
def _until_all(blocks: int, error_rate: float, listeners: int) -> tuple[int, list[float]]:
    """By the N-th power of the transform of one block's law, modulo a window around the mean."""
    one = _largest_geometric(error_rate, listeners)
    numbers = np.arange(len(one))
    mean = float(one @ numbers)
    deviation = sqrt(max(0.0, float(one @ (numbers - mean) ** 2)))
    spread = _TAIL * deviation * sqrt(blocks) + len(one)
    first, size = max(0, int(blocks * mean - spread)), 2 ** ceil(log(2 * spread + 2, 2))
    folded = np.bincount(numbers % size, weights=one, minlength=size)
    mass = np.fft.irfft(np.fft.rfft(folded) ** blocks, size)
    distribution = np.cumsum(np.maximum(0.0, np.roll(mass, -(first % size))))
    return first, (distribution / distribution[-1]).tolist()


def _largest_geometric(error_rate: float, listeners: int) -> NDArray[np.float64]:
    """Return the probabilities of 0, 1, ... further transmissions of one block, as far as they matter."""
    most = ceil((_RARE + log(listeners)) / -log(error_rate))
    at_most = np.exp(listeners * np.log1p(-(error_rate ** np.arange(1.0, most + 2))))
    return np.diff(at_most, prepend=0.0)
