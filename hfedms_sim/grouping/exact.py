"""The exact assignment in vectorised NumPy: prices by Newton's method, a repair, and a proof.

1. `balancing_prices` finds prices at which all but a few sensors are in place; they are rounded to integers.
2. `even_out` moves the rest, looking only at sensors whose two best clusters are nearly tied.
3. The certificate: all clusters have size s, and no sensor of all K would rather be in another cluster at the final
   integer prices. By linear-programming duality such an assignment is optimal. If it fails, step 2 is repeated with
   more sensors; with all of them it cannot fail.

Prices are kept between calls. Nearest-centroid clustering without sizes has p_l = |S_l|^2 / 2s; what the sizes add to
that changes little from one k-means iteration to the next.
"""

import numpy as np
from numpy.typing import NDArray

from hfedms_sim.grouping.affinity import Counts, Floats, Labels, SensorCounts, Sums
from hfedms_sim.grouping.augmenting_paths import even_out
from hfedms_sim.grouping.dual_prices import Prices, balancing_prices

_NEAR_TIE = 6.0  # in temperatures
_RESTART = 0.3  # of the temperature at which the previous iteration took its first step


class ExactSolver:
    """Assigns the same sensors again and again, starting from the prices of the previous time."""

    def __init__(self, counts: Counts, cluster_size: int) -> None:
        self._sensors = SensorCounts(counts)
        self._cluster_size = cluster_size
        self._size_prices: Prices | float = 0.0
        self._temperature: float | None = None
        self._scale = 1.0

    def assign(self, centroid_sums: Sums) -> Labels:
        affinities = self._sensors.affinities(centroid_sums)
        scale = max(int(centroid_sums.sum()), 1) / max(self._sensors.samples, 1)  # seeds are one sensor, clusters are s
        rescale, self._scale = scale / self._scale, scale
        distance_prices = (centroid_sums.astype(np.float64) ** 2).sum(axis=1) / (2 * self._cluster_size * scale)
        temperature = _RESTART * self._temperature * rescale if self._temperature else _spread(affinities) / 2
        prices, self._temperature, coldest = balancing_prices(
            affinities, self._cluster_size, distance_prices + self._size_prices * rescale, temperature
        )
        labels, prices = assign_near_prices(affinities, self._cluster_size, prices, _NEAR_TIE * coldest)
        self._size_prices = prices - distance_prices
        return labels


def _spread(affinities: Floats) -> float:
    return max(float(affinities.std(dtype=np.float64)), 1.0)


def assign_near_prices(affinities: Floats, cluster_size: int, prices: Prices, near_tie: float) -> tuple[Labels, Prices]:
    """Return the optimal assignment and its integer prices, found from prices that are nearly right."""
    prices = _exact_prices(prices, affinities)
    utilities = affinities - prices[:, np.newaxis].astype(affinities.dtype)
    best = utilities.max(axis=0)
    wanted = _first_best(utilities, best)
    surplus = np.bincount(wanted, minlength=len(prices)) - cluster_size
    gaps = best - _second_best(utilities, wanted)
    while True:
        movable = np.flatnonzero(gaps <= near_tie)
        evened = even_out(utilities[:, movable].astype(np.float64), wanted[movable], surplus)
        if evened is not None:
            labels = wanted.copy()
            labels[movable], price_falls = evened
            final_prices = _exact_prices(prices - price_falls, affinities)
            if is_optimal(affinities, cluster_size, labels, final_prices):
                return labels, final_prices
        assert len(movable) < len(wanted), "successive shortest paths over all sensors are optimal"
        near_tie = 8 * near_tie + 1


def _exact_prices(prices: Prices, affinities: Floats) -> Prices:
    """Return the prices as integers around zero.

    Balancing prices differ by no more than two affinities do, so that a utility is exact in the affinities' own type
    (affinity.py leaves the headroom); a start from farther away is cut.
    """
    largest = 2 * max(float(affinities.max()), -float(affinities.min()))
    middle = (prices.max() + prices.min()) / 2
    return np.asarray(np.clip(np.rint(prices - np.rint(middle)), -largest, largest), np.float64)


def _first_best(utilities: Floats, best: Floats) -> Labels:
    """Return the argmax over the clusters, which NumPy does slowly along a short first axis."""
    labels = np.empty(len(best), np.int64)
    for cluster in reversed(range(len(utilities))):
        np.copyto(labels, cluster, where=utilities[cluster] == best)
    return labels


def _second_best(utilities: Floats, labels: Labels) -> Floats:
    """Return the largest utility outside the sensor's own cluster."""
    sensors = np.arange(len(labels))
    own = utilities[labels, sensors]
    utilities[labels, sensors] = -np.inf
    second: Floats = utilities.max(axis=0)
    utilities[labels, sensors] = own
    return second


def is_optimal(affinities: Floats, cluster_size: int, labels: Labels, prices: NDArray[np.float64]) -> bool:
    """Return whether clusters are full and nobody prefers another at these prices, compared in exact integers."""
    if (np.bincount(labels, minlength=len(prices)) != cluster_size).any():
        return False
    utilities = affinities - prices[:, np.newaxis].astype(affinities.dtype)
    own = utilities[labels, np.arange(len(labels))]
    return bool((own == utilities.max(axis=0)).all())
