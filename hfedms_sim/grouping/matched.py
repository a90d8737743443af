"""Groups drawn to be alike: one member of every cluster each, matched instead of random. Ours, not the paper's.

Cluster after cluster, each group m gets the member k that keeps its running sum G_m nearest to j times the global mean
(j: clusters dealt so far), all groups together: a linear assignment with costs |G_m + V_k - j mean|^2.

Where clusters have more members than there are groups, those that fit nowhere well sit out: unusual sensors more often
than others. The plain draw leaves everybody out equally often.
"""

import numpy as np
from numpy.typing import NDArray

from hfedms_sim.grouping.affinity import Counts
from hfedms_sim.grouping.optional_packages import optional_package

_LARGEST_MATCHING = 1024  # groups; more are matched in blocks, as the time of a matching grows with the cube

Members = NDArray[np.int64]  # rows of counts


def matched_members(clusters: Members, counts: Counts, groups: int) -> Members:
    """Return clusters x groups, where a column is a group, of clusters x members in random order."""
    blocks = -(-groups // _LARGEST_MATCHING)
    group_blocks = np.array_split(np.arange(groups), blocks)
    member_blocks = np.array_split(clusters, blocks, axis=1)  # never fewer members than groups in a block
    global_mean = counts[clusters.ravel()].mean(axis=0)
    matched = [
        _match(members, counts, len(block), global_mean)
        for block, members in zip(group_blocks, member_blocks, strict=True)
    ]
    return np.concatenate(matched, axis=1)


def _match(clusters: Members, counts: Counts, groups: int, global_mean: NDArray[np.float64]) -> Members:
    sums = np.zeros((groups, counts.shape[1]))
    dealt = np.empty((len(clusters), groups), np.int64)
    for number, members in enumerate(clusters):
        dealt[number] = deal(members, counts, sums - (number + 1) * global_mean)
        sums += counts[dealt[number]]
    return dealt


def deal(members: Members, counts: Counts, deviations: NDArray[np.float64]) -> Members:
    """Return one member for each group, so that the deviations |d_m + V_k|^2 are least in total."""
    optimize = optional_package("scipy.optimize", "draw = matched")
    offered = counts[members].astype(np.float64)
    costs = 2 * deviations @ offered.T + np.einsum("kf,kf->k", offered, offered)
    return np.asarray(members[optimize.linear_sum_assignment(costs)[1]], np.int64)
