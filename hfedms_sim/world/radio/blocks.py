"""Block errors: how many blocks of a transfer have to be sent again.

A transfer of N blocks, each of which fails with probability p and is repeated until it arrives, needs F further
blocks, with F negative binomial: P(F = f) = C(N + f - 1, f) p^f (1 - p)^N, mean N p / (1 - p), variance N p / (1 -
p)^2. One uniform draw and the inverse of the distribution function give F exactly (to the 53 bits of the draw),
without an event per block. There are few different N in a run, so each distribution is tabulated once. Where its table
would be long, F is found by bisection in P(F <= f) = I_(1 - p)(N, f + 1), the regularised incomplete beta function,
which needs no memory.

A broadcast repeats a block until all of its n listeners have it (broadcasts.py).

Left out: failures that come in bursts or hit all listeners at once, the round trip that a repetition waits for, and
that the listeners of a real broadcast cannot all say what they miss.
"""

from functools import lru_cache
from math import sqrt
from typing import NamedTuple

import numpy as np

from hfedms_sim.world.radio.broadcasts import BroadcastLaw, broadcast_law
from hfedms_sim.world.radio.tabulated import RARE, TAIL, Tabulated

_LONGEST_TABLE = 2**12  # many are kept, because a load of frames is rarely met twice


class NegativeBinomial(NamedTuple):
    """The law of F without a table."""

    blocks: int
    error_rate: float

    def failed(self, uniform: float) -> int:
        """Return F for a uniform draw in [0, 1)."""
        from scipy.special import betainc  # here: scipy takes a while to import, and this is rare

        blocks, arriving = self.blocks, 1 - self.error_rate
        deviation = sqrt(blocks * self.error_rate) / arriving
        low, high = 0, int(blocks * self.error_rate / arriving + RARE * (deviation + 1 / arriving))
        while low < high:
            middle = (low + high) // 2
            if betainc(blocks, middle + 1, arriving) <= uniform:
                low = middle + 1
            else:
                high = middle
        return low


Law = Tabulated | NegativeBinomial | BroadcastLaw


def failed_blocks(blocks: int, error_rate: float, uniform: float, listeners: int = 1) -> int:
    """Return F for a uniform draw in [0, 1)."""
    return law_of_failures(blocks, error_rate, listeners).failed(uniform)


def law_of_failures(blocks: int, error_rate: float, listeners: int = 1) -> Law:
    """Return the law of F, as a table unless that would be long."""
    if error_rate == 0:
        return Tabulated(0, [1.0])
    if listeners > 1:
        return broadcast_law(blocks, error_rate, listeners)
    if 2 * _spread(blocks, error_rate) < _LONGEST_TABLE:
        return negative_binomial_table(blocks, error_rate)
    return NegativeBinomial(blocks, error_rate)


@lru_cache(maxsize=1024)
def negative_binomial_table(blocks: int, error_rate: float) -> Tabulated:
    """Return the table by P(f + 1) / P(f) = p (N + f) / (f + 1), normalised at the end: no factorials, no underflow."""
    mean, spread = blocks * error_rate / (1 - error_rate), _spread(blocks, error_rate)
    first, last = max(0, int(mean - spread)), int(mean + spread)
    failures = np.arange(first, last)
    log_weight = np.concatenate([[0.0], np.cumsum(np.log(error_rate * (blocks + failures) / (failures + 1)))])
    distribution = np.cumsum(np.exp(log_weight - log_weight.max()))
    return Tabulated(first, (distribution / distribution[-1]).tolist())


def _spread(blocks: int, error_rate: float) -> float:
    """Return how far from its mean F can be, as far as that matters."""
    return TAIL * sqrt(blocks * error_rate) / (1 - error_rate) + RARE / (1 - error_rate)
