"""Class counts to group: awkward ones for the solvers, factory-like ones for the statistics."""

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

CLASSES = 62


class Instance(NamedTuple):
    counts: NDArray[np.int64]
    centroid_sums: NDArray[np.int64]
    cluster_size: int


def awkward_instances(number: int) -> Iterator[Instance]:
    """Ties, skew, constant rows, empty rows, huge counts; 1 to 40 clusters."""
    for seed in range(number):
        rng = np.random.default_rng(seed)
        clusters = int(rng.integers(1, 41)) if seed % 4 == 0 else int(rng.integers(1, 9))
        size = int(rng.integers(1, 4 if clusters > 12 else 9))
        counts = _KINDS[seed % len(_KINDS)](rng, clusters * size)
        chosen = rng.choice(len(counts), clusters, replace=bool(seed % 3))
        factor = 1 if seed % 2 else size
        yield Instance(counts, counts[chosen] * factor, size)


def factory_counts(sensors: int, seed: int = 0, types: int = 10, samples: int = 50) -> NDArray[np.int64]:
    """Return the class counts of batches of sensors of a few types, each type with its own preference for classes."""
    rng = np.random.default_rng(seed)
    preferences = rng.dirichlet(np.full(CLASSES, 0.3), types)
    return rng.multinomial(samples, preferences[rng.integers(types, size=sensors)]).astype(np.int64)


def _typed(rng: np.random.Generator, sensors: int) -> NDArray[np.int64]:
    return factory_counts(sensors, seed=int(rng.integers(2**31)), types=4)


def _few_values(rng: np.random.Generator, sensors: int) -> NDArray[np.int64]:
    return rng.integers(0, 2, (sensors, 3))


def _repeated_rows(rng: np.random.Generator, sensors: int) -> NDArray[np.int64]:
    return rng.integers(0, 9, (3, 5))[rng.integers(3, size=sensors)]


def _constant_rows(rng: np.random.Generator, sensors: int) -> NDArray[np.int64]:
    return np.repeat(rng.integers(0, 6, (sensors, 1)), 7, axis=1)


def _skewed(rng: np.random.Generator, sensors: int) -> NDArray[np.int64]:
    return np.floor(rng.pareto(0.7, (sensors, 6))).clip(0, 5_000).astype(np.int64)


def _half_empty(rng: np.random.Generator, sensors: int) -> NDArray[np.int64]:
    return rng.integers(0, 4, (sensors, 8)) * rng.integers(0, 2, (sensors, 1))


def _all_empty(rng: np.random.Generator, sensors: int) -> NDArray[np.int64]:
    return np.zeros((sensors, 4), np.int64)


def _huge(rng: np.random.Generator, sensors: int) -> NDArray[np.int64]:
    return rng.integers(0, 40_000, (sensors, 4))


_KINDS = [_typed, _few_values, _repeated_rows, _constant_rows, _skewed, _half_empty, _typed, _all_empty, _huge]
