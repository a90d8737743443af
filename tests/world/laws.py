"""Do drawn counts follow a discrete law? Tests at the 99.9 % level, against the law itself: nothing is fitted."""

from collections.abc import Sequence

import numpy as np
from scipy import stats

ALPHA = 0.001  # 99.9 %


def assert_counts_follow(counts: Sequence[int] | np.ndarray, law: stats.distributions.rv_frozen) -> None:
    """Chi-square over some 40 bins, about equally likely."""
    edges = np.unique(law.ppf(np.linspace(0, 1, 41)[1:-1]))
    edges = edges[law.cdf(edges) < 1]
    expected = np.diff(np.concatenate(([0], law.cdf(edges), [1]))) * len(counts)
    observed = np.bincount(np.searchsorted(edges, counts), minlength=len(edges) + 1)
    assert stats.chisquare(observed, expected).pvalue > ALPHA


def assert_dispersed_like_poisson(counts: Sequence[int] | np.ndarray, mean: float) -> None:
    dispersion = np.sum((np.asarray(counts) - mean) ** 2) / mean
    assert ALPHA / 2 < stats.chi2(len(counts)).cdf(dispersion) < 1 - ALPHA / 2
