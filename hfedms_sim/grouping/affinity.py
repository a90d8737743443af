"""What every assignment solver maximises, in exact integers.

Equal-size k-means charges a sensor k in cluster l half the squared distance |V_k - S_l / s|^2 / 2, with V_k its class
counts, S_l the cluster's integer sum and s the size all clusters have. As every sensor goes to one cluster and every
cluster takes s sensors, the terms |V_k|^2 and |S_l|^2 are the same for every assignment. What is left is -V_k.S_l / s:
maximise the sum of the **affinities** V_k.S_l, which are integers. A vector subtracted from all S_l moves all of a
sensor's affinities alike and changes no assignment either, so the sums are taken relative to their rounded mean,
which keeps the integers small.

BLAS multiplies floats, float32 twice as quickly as float64. That is exact while every partial sum stays under 2^24, so
large sums are written in signed digits small enough for it, one product per digit (usually one or two).
"""

import numpy as np
from numpy.typing import NDArray

from hfedms_sim.errors import InputError

Counts = NDArray[np.int64]  # sensors x classes
Sums = NDArray[np.int64]  # clusters x classes
Labels = NDArray[np.int64]  # the cluster of each sensor
Floats = NDArray[np.floating]

_EXACT_FLOAT32 = 2**24
_HEADROOM = 4  # prices, and differences of two affinities, must be exact in the same type
_MOST_SAMPLES_OF_ONE, _MOST_SAMPLES_OF_ALL = 2**20, 2**31  # 4 x 2^20 x 2^31 = 2^53, and (2^31)^2 fits 64 bits


def check_counts(counts: Counts) -> tuple[int, int]:
    """Return the most samples of one sensor and those of all; refuse what the integers here have no room for."""
    most, samples = int(counts.sum(axis=1).max(initial=1)), int(counts.sum())
    if most >= _MOST_SAMPLES_OF_ONE or samples >= _MOST_SAMPLES_OF_ALL:
        raise InputError(
            f"class counts of {samples} samples, {most} of one sensor: too large to be grouped in exact integers "
            f"(allowed: under {_MOST_SAMPLES_OF_ALL} and {_MOST_SAMPLES_OF_ONE})"
        )
    return most, samples


class SensorCounts:
    """The class counts of one set of sensors, ready to be multiplied."""

    def __init__(self, counts: Counts) -> None:
        most, samples = check_counts(counts)
        self.samples = samples
        self._most = most
        self._counts = counts.astype(np.float32)
        self._digit = 2 * _EXACT_FLOAT32 // most

    def affinities(self, centroid_sums: Sums) -> Floats:
        """Return V_k.S_l up to a constant per sensor: clusters x sensors, exact in the type they come in."""
        sums = centroid_sums - np.rint(centroid_sums.mean(axis=0)).astype(np.int64)
        # Sensors first: BLAS is twice as quick with the long side in front.
        product = np.ascontiguousarray(self._product(sums.T).T)
        largest = self._most * int(np.abs(sums).max(initial=0))
        return product if _HEADROOM * largest < _EXACT_FLOAT32 else product.astype(np.float64, copy=False)

    def _product(self, sums: Sums) -> Floats:
        upper = (sums + self._digit // 2) // self._digit
        if not upper.any():
            return self._counts @ sums.astype(np.float32)
        lower = self._counts @ (sums - upper * self._digit).astype(np.float32)
        return self._product(upper) * np.float64(self._digit) + lower

    def moved(self, sums: Sums, before: Labels, after: Labels) -> Sums:
        """Return the cluster sums once sensors have moved from `before` (-1: from nowhere) to `after`."""
        moving = np.flatnonzero(before != after)
        clusters = np.arange(len(sums))[:, np.newaxis]
        exact = np.float32 if self.samples < _EXACT_FLOAT32 else np.float64
        moves = (after[moving] == clusters).astype(exact) - (before[moving] == clusters)
        changes: Sums = (moves @ self._counts[moving]).astype(np.int64)
        return sums + changes

    def sums(self, labels: Labels, clusters: int) -> Sums:
        """Return the sum of the counts of each cluster's sensors."""
        empty = np.zeros((clusters, self._counts.shape[1]), np.int64)
        return self.moved(empty, np.full(len(labels), -1), labels)
