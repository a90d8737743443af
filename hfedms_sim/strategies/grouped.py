"""Groups by inter-cluster grouping, as the strategies that use it need them."""

import numpy as np

from hfedms_sim.grouping import group_sums, inter_cluster_grouping, pairwise_objective
from hfedms_sim.scenario import ChainSettings, StaticICGSettings
from hfedms_sim.seeds import Draws
from hfedms_sim.strategies.base import ClassCounts, SensorIds


def grouped(
    settings: ChainSettings | StaticICGSettings,
    sensors: SensorIds,
    counts: ClassCounts | None,
    groups: int,
    draws: Draws,
    cycle: int,
) -> tuple[list[tuple[int, ...]], int]:
    """All groups, each in its chain's order, and how unlike they are."""
    assert counts is not None, "the sensors have reported"
    formed = inter_cluster_grouping(
        sensors,
        counts,
        groups,
        draws,
        cycle=cycle,
        solver=settings.solver,
        leftover=settings.leftover,
        draw=settings.draw,
    ).groups
    rows = [np.searchsorted(sensors, group) for group in formed]
    return [tuple(group.tolist()) for group in formed], pairwise_objective(group_sums(counts, rows))
