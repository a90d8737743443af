"""How alike are groups? The paper's box plot of class probability distances, for four ways to form groups.

For every pair of groups the distance between their class distributions (CPD, grouping/distances.py):

    sensors   each sensor by itself, as FedAvg has it
    random    groups of a seeded random split, the paper's benchmark
    icg       inter-cluster grouping
    matched   inter-cluster grouping with matched instead of random members (ours)

Groups hold the class counts of one captured batch of each sensor, as at a full synchronisation. Several seeds are
pooled: each captures other batches and splits anew.
"""

from collections.abc import Iterable
from typing import Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from hfedms_sim.data import Batches, Dataset
from hfedms_sim.grouping import (
    CpdKind,
    class_probability_distances,
    group_sums,
    inter_cluster_grouping,
    pairwise_objective,
    random_groups,
)
from hfedms_sim.seeds import Draws

GROUPS = (10, 52, 100)
SEEDS = 6
BATCH = 50
WAYS = ("sensors", "random", "icg", "matched")


class Spread(NamedTuple):
    """The distances of one way to group at one number of groups, over all seeds."""

    way: str
    groups: int
    distances: dict[CpdKind, NDArray[np.float64]]
    """Those of all pairs, seed after seed."""
    seeds: int
    objective: float
    """z, the mean over seeds."""

    def median(self, kind: CpdKind) -> float:
        return float(np.median(self.distances[kind]))

    def seed_medians(self, kind: CpdKind) -> list[float]:
        return [float(np.median(each)) for each in np.split(self.distances[kind], self.seeds)]


def spreads_of(dataset: Dataset, groups: Iterable[int] = GROUPS, seeds: int = SEEDS) -> list[Spread]:
    """Return the spreads, in the order of `groups`, then of WAYS."""
    sensors = np.arange(dataset.devices)
    counts = {seed: _class_counts(dataset, seed) for seed in range(seeds)}
    spreads = []
    for number in groups:
        for way in WAYS:
            formed = {seed: _groups(way, sensors, counts[seed], number, seed) for seed in counts}
            spreads.append(_spread(way, number, [group_sums(counts[seed], formed[seed]) for seed in counts]))
    return spreads


def _class_counts(dataset: Dataset, seed: int) -> NDArray[np.int64]:
    """Return the class counts of the first batch that each sensor captures."""
    sizes = dataset.train_sizes(np.arange(dataset.devices)).tolist()
    batches = Batches(dataset, Draws(seed), BATCH)
    return batches.counts({device: ((0, min(BATCH, size)),) for device, size in enumerate(sizes)})


def _groups(
    way: str, sensors: NDArray[np.int64], counts: NDArray[np.int64], groups: int, seed: int
) -> list[NDArray[np.int64]]:
    if way == "sensors":
        return [sensors[[row]] for row in range(len(sensors))]
    if way == "random":
        return random_groups(sensors, groups, Draws(seed), cycle=1)
    draw: Literal["matched", "random"] = "matched" if way == "matched" else "random"
    return inter_cluster_grouping(sensors, counts, groups, Draws(seed), cycle=1, solver="exact", draw=draw).groups


def _spread(way: str, groups: int, sums: list[NDArray[np.int64]]) -> Spread:
    kinds: tuple[CpdKind, ...] = ("onehot", "entries")
    distances = {kind: np.concatenate([class_probability_distances(each, kind) for each in sums]) for kind in kinds}
    return Spread(way, groups, distances, len(sums), float(np.mean([pairwise_objective(each) for each in sums])))
