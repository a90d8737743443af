"""Block errors: how many blocks of a transfer have to be sent again.

A transfer of N blocks, each of which fails with probability p and is repeated until it arrives, needs F further
blocks, with F negative binomial: P(F = f) = C(N + f - 1, f) p^f (1 - p)^N, mean N p / (1 - p), variance N p / (1 -
p)^2. One uniform draw and the inverse of the distribution function give F exactly (to the 53 bits of the draw),
without an event per block. There are few different N in a run, so each distribution is tabulated once.

Left out: failures that come in bursts, and the round trip that a repetition waits for.
"""

from bisect import bisect_right
from functools import lru_cache
from math import sqrt

import numpy as np

_TAIL = 12.0  # standard deviations; beyond lies less than the resolution of a draw


def failed_blocks(blocks: int, error_rate: float, uniform: float) -> int:
    """F for a uniform draw in [0, 1)."""
    first, distribution = distribution_of_failures(blocks, error_rate)
    return first + bisect_right(distribution, uniform)


@lru_cache(maxsize=1024)
def distribution_of_failures(blocks: int, error_rate: float) -> tuple[int, list[float]]:
    """(f0, [P(F <= f0), P(F <= f0 + 1), ...]) over all f that matter.

    By the ratio P(f + 1) / P(f) = p (N + f) / (f + 1), normalised at the end: no factorials, no underflow.
    """
    if error_rate == 0:
        return 0, [1.0]
    mean = blocks * error_rate / (1 - error_rate)
    spread = _TAIL * sqrt(blocks * error_rate) / (1 - error_rate) + 40 / (1 - error_rate)
    first, last = max(0, int(mean - spread)), int(mean + spread)
    failures = np.arange(first, last)
    log_weight = np.concatenate([[0.0], np.cumsum(np.log(error_rate * (blocks + failures) / (failures + 1)))])
    distribution = np.cumsum(np.exp(log_weight - log_weight.max()))
    return first, (distribution / distribution[-1]).tolist()
