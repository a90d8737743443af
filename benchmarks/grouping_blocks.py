"""What clustering in blocks loses, for class counts of three kinds; prints a table. docs/grouping.md quotes it.

    python -m benchmarks.grouping_blocks SENSORS:GROUPS ...

- glyphs: batches of the data set `glyphs` with eight types of machine, as `quickstart` has them.
- types: the factory of benchmarks.grouping, with ten types.
- unstructured: every sensor has the same preferences, so that clusters are chance.

`against exact` is nested's objective over that of all clusters at once, for three seeds, and that of blocks drawn at
random, as many and as large; left out where all at once takes too long. `against the bound` is over a number that no
equal-size clusters can be below: as a cluster's spread is that of its pairs, sum |V_k - C_l(k)|^2 / 2 is at least
1 / 4s of the sum of squared distances of every sensor from its s - 1 nearest ones (taken for 2,000 sensors, and
scaled).
"""

import sys
from collections.abc import Callable
from time import process_time

import numpy as np

from benchmarks.grouping_runs import CLASSES, SAMPLES, Counts, Size, factory, group_until_settled
from hfedms_sim.data import Batches
from hfedms_sim.data.glyphs.glyphs import Glyphs
from hfedms_sim.grouping.equal_clusters import BLOCK_WORK, MOST_WORK_AT_ONCE, equal_clusters
from hfedms_sim.grouping.nested import blocks
from hfedms_sim.seeds import Draws

CountsOf = Callable[[int, int], Counts]

SEEDS = 3
SAMPLED = 2_000


def main(sizes: list[Size]) -> None:
    for size in sizes:
        for kind, make in KINDS.items():
            print(f"{size.sensors:>9,} sensors, {size.groups} groups, {kind:<12}  {_line(size, make)}", flush=True)


def _line(size: Size, make: CountsOf) -> str:
    is_small = size.sensors * (size.sensors // size.groups) ** 2 <= MOST_WORK_AT_ONCE
    against_exact, at_random, against_bound, seconds = [], [], [], []
    for seed in range(SEEDS if is_small else 1):
        counts = make(size.sensors, seed)
        start = process_time()
        nested = group_until_settled(counts, size, "nested", Draws(seed)).objective
        seconds.append(process_time() - start)
        against_bound.append(nested / _bound(counts, size))
        if is_small:
            exact = group_until_settled(counts, size, "exact", Draws(seed)).objective
            against_exact.append(nested / exact)
            at_random.append(_in_random_blocks(counts, size, seed) / exact)
    losses = f"against exact {_range(against_exact)}, random blocks {_range(at_random)}, " if is_small else ""
    return f"{losses}against the bound {max(against_bound):.2f}, {np.mean(seconds):.1f} s of processor time"


def _range(ratios: list[float]) -> str:
    return f"{min(ratios):.3f} to {max(ratios):.3f}"


def _in_random_blocks(counts: Counts, size: Size, seed: int) -> float:
    clusters = size.sensors // size.groups
    cluster_size = size.sensors // clusters
    shares = [share for _, share in blocks(counts[: clusters * cluster_size], clusters, BLOCK_WORK)]
    order = np.random.default_rng(seed).permutation(clusters * cluster_size)
    drawn = np.split(order, np.cumsum(shares)[:-1] * cluster_size)
    clustered = (
        equal_clusters(rows, counts[rows], share, Draws(seed), cycle=1, solver="exact")
        for rows, share in zip(drawn, shares, strict=True)
    )
    return sum(each.objectives[-1] for each in clustered)


def _bound(counts: Counts, size: Size) -> float:
    cluster_size = size.sensors // (size.sensors // size.groups)
    floats = counts.astype(np.float32)
    squared_norms = (floats**2).sum(axis=1)
    sampled = np.random.default_rng(0).choice(len(counts), min(SAMPLED, len(counts)), replace=False)
    nearest = 0.0
    for rows in np.array_split(sampled, 40):  # bounds the memory of the distances
        distances = squared_norms[rows, np.newaxis] + squared_norms - 2 * floats[rows] @ floats.T
        # The nearest of all is the sensor itself, at no distance.
        nearest += float(np.maximum(np.partition(distances, cluster_size - 1)[:, :cluster_size], 0).sum())
    return nearest * len(counts) / len(sampled) / (4 * cluster_size)


def glyphs(sensors: int, seed: int) -> Counts:
    dataset = Glyphs(seed=seed, devices=sensors, types=8)
    return Batches(dataset, Draws(seed), SAMPLES).counts(dict.fromkeys(range(sensors), ((0, SAMPLES),)))


def unstructured(sensors: int, seed: int) -> Counts:
    rng = np.random.default_rng(seed)
    return rng.multinomial(SAMPLES, np.full(CLASSES, 1 / CLASSES), sensors).astype(np.int64)


KINDS = {"glyphs": glyphs, "types": factory, "unstructured": unstructured}

if __name__ == "__main__":
    main([Size(*map(int, each.split(":"))) for each in sys.argv[1:]])
