"""Moves the last few sensors so that every cluster has its size, along shortest paths.

At given prices every sensor is in a cluster it likes best; some clusters have too many sensors, some too few. On a
graph of the L clusters, the edge a -> b costs what the least reluctant sensor of a loses by moving to b. Prices are
lowered by the distances from the clusters with too many (Dijkstra's potentials). Then every edge of a shortest path
has a sensor that likes both ends equally, and moving it leaves everybody in a cluster they like best: the result is
optimal (successive shortest paths; Ahuja, Magnanti and Orlin, Network Flows, chapter 9). One search serves all
clusters with room, and sensors tied on an edge move together, so that equal sensors cost nothing extra.
"""

from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from hfedms_sim.grouping.affinity import Labels

Utilities = NDArray[np.float64]  # clusters x sensors, exact integers
Surplus = NDArray[np.int64]  # sensors too many in each cluster; negative: room


def even_out(utilities: Utilities, labels: Labels, surplus: Surplus) -> tuple[Labels, NDArray[np.float64]] | None:
    """Return labels without surplus, and how far each price fell; None if these sensors cannot fill the clusters."""
    utilities, labels, surplus = utilities.copy(), labels.copy(), surplus.copy()
    price_falls = np.zeros(len(surplus))
    while surplus.any():
        losses = utilities.max(axis=0) - utilities
        distances, parents = _shortest_paths(_least_losses(losses, labels), surplus > 0)
        short = np.flatnonzero((surplus < 0) & np.isfinite(distances))
        if not short.size:
            return None
        falls = np.minimum(distances, distances[short].max())
        price_falls += falls
        utilities += falls[:, np.newaxis]
        tied = utilities == utilities.max(axis=0)
        for target in short[np.argsort(distances[short], kind="stable")]:
            _move(_path(parents, target), tied, labels, surplus)
    return labels, price_falls


def _least_losses(losses: Utilities, labels: Labels) -> NDArray[np.float64]:
    """Return at [a, b] what the sensor of a that moves to b most easily loses; infinite if a has no sensor here."""
    clusters = len(losses)
    least = np.full((clusters, clusters), np.inf)
    order = np.argsort(labels, kind="stable")
    present, starts = np.unique(labels[order], return_index=True)
    if present.size:
        least[present] = np.minimum.reduceat(losses[:, order], starts, axis=1).T
    return least


def _shortest_paths(
    lengths: NDArray[np.float64], sources: NDArray[np.bool_]
) -> tuple[NDArray[np.float64], NDArray[np.int64]]:
    """Bellman and Ford, all edges at once. A parent changes only for a shorter path, so that ties make no circles."""
    everyone = np.arange(len(lengths))
    distances = np.where(sources, 0.0, np.inf)
    parents = np.full(len(lengths), -1)
    while True:
        through = distances[:, np.newaxis] + lengths
        nearest = through.argmin(axis=0)
        reached = through[nearest, everyone]
        shorter = reached < distances
        if not shorter.any():
            return distances, parents
        distances[shorter], parents[shorter] = reached[shorter], nearest[shorter]


def _path(parents: NDArray[np.int64], target: int) -> list[int]:
    """Return the path from a full cluster to the target."""
    path = [int(target)]
    while parents[path[-1]] >= 0:
        path.append(int(parents[path[-1]]))
    return path[::-1]


def _move(path: list[int], tied: NDArray[np.bool_], labels: Labels, surplus: Surplus) -> None:
    """Hand sensors on along the path: as many as are too many, as there is room for, as every edge has."""
    full, target = path[0], path[-1]
    movable = [np.flatnonzero((labels == a) & tied[b]) for a, b in pairwise(path)]
    count = min(surplus[full], -surplus[target], *(len(sensors) for sensors in movable))
    if count <= 0:
        return
    for sensors, cluster in zip(movable, path[1:], strict=True):
        labels[sensors[:count]] = cluster
    surplus[full] -= count
    surplus[target] += count
