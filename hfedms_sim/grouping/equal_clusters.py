"""L clusters of s sensors with similar class counts: all at once where that is practical, else block by block."""

from typing import Literal, get_args

import numpy as np
from numpy.typing import NDArray

from hfedms_sim.errors import InputError
from hfedms_sim.grouping.affinity import Counts
from hfedms_sim.grouping.assignment import SolverName, make_solver
from hfedms_sim.grouping.balanced_clusters import Clustering, balanced_clusters, seed_sums
from hfedms_sim.grouping.nested import Rows, nested_clusters
from hfedms_sim.seeds import Draws

ClusteringName = SolverName | Literal["nested"]

_KNOWN = (*get_args(SolverName), "nested")

MOST_PAIRS_AT_ONCE = 20_000_000  # sensors x clusters, about a gigabyte
MOST_WORK_AT_ONCE = 4_000_000_000  # sensors x clusters x clusters, which the time goes with: about half a minute
BLOCK_WORK = 100_000_000  # the same of a block: 2,150 sensors in clusters of 10, about half a second


def equal_clusters(
    sensors: NDArray[np.int64],
    counts: Counts,
    clusters: int,
    draws: Draws,
    *,
    cycle: int,
    solver: ClusteringName = "auto",
    max_iterations: int = 50,
) -> Clustering:
    """Sort the sensors into clusters of equal size; row k of `counts` belongs to `sensors[k]`."""
    if solver not in _KNOWN:
        raise InputError(f"solver = {solver}: unknown; known: {', '.join(_KNOWN)}")
    counts = counts.astype(np.int64, copy=False)
    if solver == "auto" and is_large(len(sensors), clusters):
        solver = "nested"
    if solver == "nested":

        def cluster_block(rows: Rows, share: int) -> Clustering:
            return _at_once(sensors[rows], counts[rows], share, draws, cycle, "exact", max_iterations)

        return nested_clusters(counts, clusters, cluster_block, block_work=BLOCK_WORK, max_iterations=max_iterations)
    return _at_once(sensors, counts, clusters, draws, cycle, solver, max_iterations)


def is_large(sensors: int, clusters: int) -> bool:
    """Return whether `auto` clusters this many sensors block by block."""
    pairs = sensors * clusters
    return pairs > MOST_PAIRS_AT_ONCE or pairs * clusters > MOST_WORK_AT_ONCE


def _at_once(
    sensors: NDArray[np.int64],
    counts: Counts,
    clusters: int,
    draws: Draws,
    cycle: int,
    solver: SolverName,
    max_iterations: int,
) -> Clustering:
    if clusters == len(sensors):  # one group: every sensor is a cluster of its own
        return Clustering(np.arange(clusters), [0.0], settled=True)
    if clusters == 1:  # more than K / 2 groups: everybody in one cluster
        objective = float(counts.var(axis=0).sum()) * len(counts) / 2
        return Clustering(np.zeros(len(counts), np.int64), [objective], settled=True)
    made = make_solver(solver, counts, len(sensors) // clusters)  # first: it refuses what is too large
    start_sums = seed_sums(counts, clusters, draws, cycle=cycle, sensors=sensors)
    return balanced_clusters(counts, start_sums, made, max_iterations=max_iterations)
