"""How unlike groups are: the paper's objective z and the class probability distance (CPD), over all pairs.

- z = sum over pairs of |V_a - V_b|^2 with V_m the summed class counts of group m: an exact integer.
- CPD is the squared maximum mean discrepancy (MMD) with a Gaussian kernel, exp(-|x - y|^2 / 2 sigma^2), between the
  normalised class distributions p and q of two groups (or sensors). The paper leaves open what the samples are:
  `onehot`: classes, as corners of the unit cube. Then MMD^2 = (1 - exp(-1 / sigma^2)) |p - q|^2; sigma = 1.
  `entries`: the 62 probabilities themselves, as 62 numbers; sigma^2 = 1e-4. Nearest to the paper's figure, but blind to
  which class a probability belongs to.

A group without samples counts as the zero vector.
"""

from collections.abc import Sequence
from typing import Literal

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Pairs = NDArray[np.float64]  # (a, b) for a < b, row by row
CpdKind = Literal["onehot", "entries"]

_ONEHOT_VARIANCE = 1.0
_ENTRIES_VARIANCE = 1e-4
_BLOCK = 2048


def group_sums(counts: NDArray[np.int64], groups: Sequence[NDArray[np.int64]]) -> NDArray[np.int64]:
    """Return the class counts of each group, given as rows of `counts`."""
    return np.array([counts[group].sum(axis=0) for group in groups])


def pairwise_objective(sums: NDArray[np.int64]) -> int:
    """Return z. With M groups, it is M sum |V_m|^2 - |sum V_m|^2."""
    total = sums.sum(axis=0)
    return len(sums) * int((sums * sums).sum()) - int((total * total).sum())


def distributions(sums: NDArray[np.int64]) -> Floats:
    """Return the class counts, normalised to one in each row."""
    totals: NDArray[np.int64] = sums.sum(axis=1, keepdims=True)
    return np.asarray(sums / np.maximum(totals, 1), np.float64)


def squared_distances(points: Floats) -> Pairs:
    """Return |p - q|^2 of every two rows."""
    return _of_inner_products(points @ points.T)


def class_probability_distances(sums: NDArray[np.int64], kind: CpdKind = "onehot") -> Pairs:
    """Return the CPD of every two groups."""
    if kind == "onehot":
        return float(-np.expm1(-1 / _ONEHOT_VARIANCE)) * squared_distances(distributions(sums))
    return _entry_discrepancies(distributions(sums))


def _entry_discrepancies(probabilities: Floats) -> Pairs:
    """Many entries are equal (they are fractions of few samples), so the kernel is taken between distinct values only,
    and a distribution becomes the histogram h of its entries: MMD^2 = (h - h')' kernel (h - h')."""
    values, which = np.unique(probabilities, return_inverse=True)
    rows = np.arange(len(probabilities))[:, np.newaxis]
    histograms = np.zeros((len(probabilities), len(values)))
    np.add.at(histograms, (rows, which.reshape(probabilities.shape)), 1 / probabilities.shape[1])
    inner = np.zeros((len(probabilities), len(probabilities)))
    for start in range(0, len(values), _BLOCK):  # bounds the kernel's memory
        block = slice(start, start + _BLOCK)
        kernel = np.exp(-((values[block, np.newaxis] - values) ** 2) / (2 * _ENTRIES_VARIANCE))
        inner += histograms[:, block] @ (kernel @ histograms.T)
    return _of_inner_products(inner)


def _of_inner_products(inner: Floats) -> Pairs:
    squared_norms = np.diag(inner)
    first, second = np.triu_indices(len(inner), 1)
    return np.maximum(squared_norms[first] + squared_norms[second] - 2 * inner[first, second], 0.0)
