"""Inter-cluster grouping (ICG): groups of sensors whose data together look like everybody's.

From the HFedMS paper (Zeng et al.). K sensors report their class counts V. With M groups, L = floor(K / M) is a group's
length and s = floor(K / L) >= M a cluster's size:

1. L s sensors are sampled; the rest sits out the cycle.
2. Equal-size k-means sorts them into L clusters of s sensors with similar counts (`balanced_clusters.py`;
   many sensors in blocks, `nested.py`).
3. Each group takes one sensor from each cluster, at random (`random`, the paper) or so that the groups become alike
   (`matched`), in shuffled order. Cluster members that no group takes sit out as well.

A group's mean is then the global mean in expectation, with only the spread within clusters left (proposition 1). Every
draw is keyed by the sensor: the same seed, cycle, sensors and counts give the same groups.
"""

from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from hfedms_sim.errors import InputError
from hfedms_sim.grouping.affinity import Counts
from hfedms_sim.grouping.equal_clusters import ClusteringName, equal_clusters
from hfedms_sim.grouping.matched import matched_members
from hfedms_sim.seeds import Draws

Sensors = NDArray[np.int64]


@dataclass(frozen=True)
class Grouping:
    groups: list[Sensors]
    """M disjoint groups, each in the order of its chain."""
    clusters: list[Sensors]
    """L clusters of s sensors."""
    objective: float
    """sum |V_k - C_l(k)|^2 / 2 over the sampled sensors."""
    settled: bool


def inter_cluster_grouping(  # noqa: PLR0913  keyword-only options, each with a default
    sensors: Sensors,
    counts: Counts,
    groups: int,
    draws: Draws,
    *,
    cycle: int,
    solver: ClusteringName = "auto",
    max_iterations: int = 50,
    leftover: Literal["drop", "spread"] = "drop",
    draw: Literal["random", "matched"] = "random",
) -> Grouping:
    """Form M groups of L = floor(K / M) sensors; row k of `counts` belongs to `sensors[k]`.

    The K - M L sensors left over sit out the cycle, or with `spread` join the groups one each.
    """
    _check(sensors, counts, groups, max_iterations)
    clusters = len(sensors) // groups
    size = len(sensors) // clusters
    sampled = _sample(sensors, clusters * size, draws, cycle)
    clustering = equal_clusters(
        sensors[sampled],
        counts[sampled],
        clusters,
        draws,
        cycle=cycle,
        solver=solver,
        max_iterations=max_iterations,
    )
    shuffled = np.lexsort((draws.bits("grouping/draw", sensors[sampled], cycle), clustering.labels))
    members = sampled[shuffled].reshape(clusters, size)
    taken = matched_members(members, counts, groups) if draw == "matched" else members[:, :groups]
    chains = _chains(sensors, taken, leftover, draws, cycle)
    by_cluster = list(sensors[np.sort(members, axis=1)])
    return Grouping(chains, by_cluster, clustering.objectives[-1], clustering.settled)


def _check(sensors: Sensors, counts: Counts, groups: int, max_iterations: int) -> None:
    if counts.ndim != 2 or len(counts) != len(sensors) or not np.issubdtype(counts.dtype, np.integer):
        raise InputError(f"class counts of shape {counts.shape}, {counts.dtype}: must be integers, a row per sensor")
    if counts.size and counts.min() < 0:
        raise InputError(f"class counts: {counts.min()}; must be at least 0")
    if not 1 <= groups <= len(sensors):
        raise InputError(f"groups = {groups}: must be from 1 to the number of sensors, {len(sensors)}")
    if max_iterations < 1:
        raise InputError(f"max_iterations = {max_iterations}: must be at least 1")


def _sample(sensors: Sensors, size: int, draws: Draws, cycle: int) -> NDArray[np.int64]:
    """Return the rows of the sampled sensors, in the order of their numbers, so that the rows' order plays no part."""
    order = np.argsort(draws.bits("grouping/sample", sensors, cycle), kind="stable")[:size]
    return order[np.argsort(sensors[order])]


def _chains(sensors: Sensors, taken: NDArray[np.int64], leftover: str, draws: Draws, cycle: int) -> list[Sensors]:
    """Return the groups (columns of `taken`), left-over sensors added if wanted, each shuffled."""
    groups = taken.shape[1]
    group_of = np.full(len(sensors), -1)
    group_of[taken] = np.arange(groups)
    if leftover == "spread":
        left = np.flatnonzero(group_of < 0)
        left = left[np.argsort(draws.bits("grouping/leftover", sensors[left], cycle), kind="stable")]
        group_of[left] = np.arange(len(left))
    rows = np.flatnonzero(group_of >= 0)
    chained = sensors[rows[np.lexsort((draws.bits("grouping/chain", sensors[rows], cycle), group_of[rows]))]]
    if len(rows) == taken.size:
        return list(chained.reshape(groups, -1))
    return np.split(chained, np.cumsum(np.bincount(group_of[rows], minlength=groups))[:-1])
