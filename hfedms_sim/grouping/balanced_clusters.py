"""Equal-size k-means: L clusters of exactly s sensors, each near its mean.

Minimises sum_k |V_k - C_l(k)|^2 / 2. Starts from L sensors drawn by k-means++ (Arthur and Vassilvitskii 2007: each next
one with probability proportional to its squared distance from the nearest so far), then alternates an exact assignment
for fixed centroids and new centroids for fixed clusters. With S_l the sum of cluster l, the objective is
(s sum |V_k|^2 - sum |S_l|^2) / 2s, so progress is an integer comparison: the clusters are settled when no assignment
has a larger affinity to the sums than the clusters' own, sum |S_l|^2. Otherwise sum |S_l|^2 grows by at least one, so
that the alternation ends. One start, as in the reference settings; the result is a local optimum.
"""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from hfedms_sim.grouping.affinity import Counts, Labels, SensorCounts, Sums
from hfedms_sim.grouping.assignment import AssignmentSolver
from hfedms_sim.seeds import Draws

_DRAWS_AT_A_TIME = 1_000_000  # 8 MB; enough that NumPy's own calls do not count


@dataclass(frozen=True)
class Clustering:
    labels: Labels
    objectives: list[float]
    """sum_k |V_k - C_l(k)|^2 / 2 after each iteration; never rises."""
    settled: bool
    """No assignment is better for these centroids; else the iterations ran out."""


def seed_sums(
    counts: Counts, clusters: int, draws: Draws, *, cycle: int, sensors: NDArray[np.int64] | None = None
) -> Sums:
    """Return the counts of L sensors drawn by k-means++; row k of `counts` belongs to `sensors[k]`.

    Every sensor holds one exponential draw per seed, keyed by its number; the least draw / weight wins, which happens
    with probability proportional to the weight.
    """
    sensors = np.arange(len(counts)) if sensors is None else sensors
    floats = counts.astype(np.float32)  # plenty for a probability
    squared_norms = np.einsum("kf,kf->k", floats, floats)
    weights = np.ones(len(counts), np.float32)
    free = np.ones(len(counts), bool)
    chosen: list[int] = []
    for wait in _waits(sensors, clusters, draws, cycle):
        if not weights.any():  # fewer different sensors than clusters: any other sensor will do
            weights = free.astype(np.float32)
        with np.errstate(divide="ignore", invalid="ignore"):
            seed = int(np.argmin(np.where(weights > 0, wait / weights, np.inf)))
        free[seed] = False
        distances = np.maximum(squared_norms + squared_norms[seed] - 2 * (floats @ floats[seed]), 0)
        weights = np.minimum(weights, distances) if chosen else distances
        chosen.append(seed)
    return counts[chosen]


def _waits(sensors: NDArray[np.int64], clusters: int, draws: Draws, cycle: int) -> Iterator[NDArray[np.float64]]:
    """Yield every sensor's exponential draw for one seed after the other; they are drawn for many seeds at a time."""
    at_a_time = max(1, _DRAWS_AT_A_TIME // len(sensors))
    for start in range(0, clusters, at_a_time):
        seeds = np.arange(start, min(start + at_a_time, clusters))[:, np.newaxis]
        yield from -np.log1p(-draws.uniform("grouping/start", sensors, (cycle << 32) + seeds))


def balanced_clusters(
    counts: Counts, start_sums: Sums, solver: AssignmentSolver, *, max_iterations: int = 50
) -> Clustering:
    """Return the clusters that started from the given centroids (or sums, up to a common factor)."""
    sensors, clusters = SensorCounts(counts), len(start_sums)
    size = len(counts) // clusters
    scaled_norms = size * int((counts * counts).sum())
    labels = solver.assign(start_sums)
    sums = sensors.sums(labels, clusters)
    own_affinity = int((sums * sums).sum())
    objectives = [(scaled_norms - own_affinity) / (2 * size)]
    settled = False
    while len(objectives) < max_iterations and not settled:
        better = solver.assign(sums)
        better_sums = sensors.moved(sums, labels, better)
        settled = int((better_sums * sums).sum()) == own_affinity
        if not settled:
            labels, sums = better, better_sums
            own_affinity = int((sums * sums).sum())
        objectives.append((scaled_norms - own_affinity) / (2 * size))
    return Clustering(labels, objectives, settled)
