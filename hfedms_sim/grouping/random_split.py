"""A seeded random split into equal groups: what inter-cluster grouping is measured against."""

from typing import Literal

import numpy as np
from numpy.typing import NDArray

from hfedms_sim.seeds import Draws


def random_groups(
    sensors: NDArray[np.int64], groups: int, draws: Draws, *, cycle: int, leftover: Literal["drop", "spread"] = "drop"
) -> list[NDArray[np.int64]]:
    """Form M groups of L = floor(K / M) sensors, each in random order.

    The K - M L sensors left over sit out the cycle, or with `spread` join the groups one each.
    """
    order = draws.order("grouping", sensors, cycle)
    size = len(sensors) // groups
    split = list(order[: groups * size].reshape(groups, size))
    if leftover == "spread":
        for group, sensor in enumerate(order[groups * size :]):
            split[group] = np.append(split[group], sensor)
    return split
