"""Equal-size clusters of many sensors: blocks of similar sensors first, then the clusters of each block.

Sorting K sensors into L clusters at once takes K L numbers, and time that grows with K L^2. Here the sensors are cut in
two, and the parts again, until a block is small enough for that. A part holds a whole number of clusters. So clusters
have their exact size, whatever L is, and the clusters of all blocks together are the clusters.

A cut is 2-means with a sort: along a direction D the sensors are ordered by V_k.D, and cut where the spread within both
parts is least. With S_1, S_2 the sums of parts of l_1 and l_2 clusters and D = l_2 S_1 - l_1 S_2, which is C_1 - C_2 up
to a factor, the cut takes |D|^2 / (2 s l_1 l_2 (l_1 + l_2)) from the spread. The first direction is the class whose
counts differ most. Then D is the next direction, while its cut takes more than the last; compared in exact integers.

Guaranteed: a part of a block is on the whole no farther from its own mean than from the block's, so that no cut and no
clustering of a block ever raises sum |V_k - C_l(k)|^2 / 2. Not guaranteed: a factor between that and what all sensors
at once would give, because a cut may go through a cluster of these. docs/grouping.md has it measured.
"""

from collections.abc import Callable, Iterator
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from hfedms_sim.grouping.affinity import Counts, Sums, check_counts
from hfedms_sim.grouping.balanced_clusters import Clustering

Rows = NDArray[np.int64]  # of counts
Direction = NDArray[np.int64]  # one number for each class

_LEAST_PART = 10  # a cut leaves a tenth on either side, so that many sensors need few cuts
_ROWS_AT_A_TIME = 8_192  # of counts: a few megabytes, which are quicker to fill again and again than a large array
_MOST_BITS = 62  # of a product, in signed 64-bit integers


def nested_clusters(
    counts: Counts,
    clusters: int,
    cluster_block: Callable[[Rows, int], Clustering],
    *,
    block_work: int,
    max_iterations: int = 50,
) -> Clustering:
    """Sort the sensors into blocks, and each block by `cluster_block` into its share of the clusters.

    `block_work` limits sensors x clusters x clusters of a block.
    """
    check_counts(counts)
    labels, found = np.empty(len(counts), np.int64), []
    done = 0
    for rows, share in blocks(counts, clusters, block_work, max_iterations):
        clustering = cluster_block(rows, share)
        labels[rows] = done + clustering.labels
        found.append(clustering)
        done += share
    return Clustering(labels, _summed([each.objectives for each in found]), all(each.settled for each in found))


def blocks(counts: Counts, clusters: int, block_work: int, max_iterations: int = 50) -> Iterator[tuple[Rows, int]]:
    """Yield the rows of each block, ascending, and how many clusters it holds."""
    cluster_size = len(counts) // clusters
    most_clusters = _most_clusters(block_work, cluster_size)
    waiting: list[tuple[Rows, int]] = [(np.arange(len(counts)), clusters)]
    while waiting:
        rows, share = waiting.pop()
        if share <= most_clusters or cluster_size == 1:
            yield rows, share
            continue
        is_first = _is_in_first_part(counts[rows], share, max_iterations)
        first, second = rows[is_first], rows[~is_first]
        waiting += [(second, len(second) // cluster_size), (first, len(first) // cluster_size)]


def _most_clusters(block_work: int, cluster_size: int) -> int:
    """Return the largest number l of clusters of a block, l s x l x l being its work; at least one."""
    nearest: int = round((block_work / cluster_size) ** (1 / 3))
    return max(1, nearest if cluster_size * nearest**3 <= block_work else nearest - 1)


def _is_in_first_part(counts: Counts, clusters: int, max_iterations: int) -> NDArray[np.bool_]:
    """Return whether each sensor comes before the best cut."""
    total, most_samples = counts.sum(axis=0), int(counts.sum(axis=1).max())
    direction, most_taken = _class_that_differs_most(counts, total), Fraction(-1)
    is_first = np.zeros(len(counts), bool)
    for _ in range(max_iterations):
        order = np.argsort(-(counts @ _safe(direction, most_samples)), kind="stable")
        share, direction = _best_cut(_sums_along(order, counts, len(counts) // clusters), total)
        taken = Fraction(sum(each * each for each in direction.tolist()), share * (clusters - share))
        if taken <= most_taken:
            break
        most_taken = taken
        is_first[:] = False
        is_first[order[: len(counts) // clusters * share]] = True
    return is_first


def _sums_along(order: Rows, counts: Counts, cluster_size: int) -> Sums:
    """Return the sums of the first `cluster_size` sensors in this order, of the next ones, and so on."""
    step = max(1, _ROWS_AT_A_TIME // cluster_size) * cluster_size
    parts = (counts[order[start : start + step]] for start in range(0, len(order), step))
    return np.concatenate([part.reshape(-1, cluster_size, counts.shape[1]).sum(axis=1) for part in parts])


def _best_cut(sums: Sums, total: NDArray[np.int64]) -> tuple[int, Direction]:
    """Return how many clusters come before the cut that takes most, and its D. Either part has a tenth at least."""
    clusters = len(sums)
    least = -(-clusters // _LEAST_PART)
    shares = np.arange(least, clusters - least + 1)
    directions = clusters * sums.cumsum(axis=0)[shares - 1] - shares[:, np.newaxis] * total
    taken = (directions.astype(np.float64) ** 2).sum(axis=1) / (shares * (clusters - shares))
    best = int(taken.argmax())
    return int(shares[best]), directions[best]


def _class_that_differs_most(counts: Counts, total: NDArray[np.int64]) -> Direction:
    means = total / len(counts)
    variances = np.einsum("kf,kf->f", counts, counts, dtype=np.float64) / len(counts) - means**2
    return np.asarray(np.arange(len(total)) == variances.argmax(), np.int64)


def _safe(direction: Direction, most_samples: int) -> Direction:
    """Return the direction with so few bits that products with the counts fit; in any real factory, as it is."""
    largest = int(np.abs(direction).max()) * most_samples
    return direction >> max(0, largest.bit_length() - _MOST_BITS)


def _summed(objectives: list[list[float]]) -> list[float]:
    """Return the objective of all blocks after each iteration; a block that is done keeps its last."""
    longest = max(map(len, objectives))
    return [sum(each[min(iteration, len(each) - 1)] for each in objectives) for iteration in range(longest)]
