"""Prices at which nearly every cluster is wanted by as many sensors as it may take.

Every cluster l gets a price p_l, and a sensor wants the cluster with the largest utility V_k.S_l - p_l. The prices that
balance demand minimise the dual of the transportation problem,

    D(p) = sum_k max_l (V_k.S_l - p_l) + s sum_l p_l,

which is convex and piecewise linear. Replacing the maximum by T log sum exp(. / T) smooths it: sensor k wants cluster l
with probability P_kl (a softmax at temperature T), the gradient is s - sum_k P_kl, the Hessian (diag(P 1) - P P') / T.
Newton's method on these L numbers takes a few passes over the affinities. The temperature follows two figures: how many
places are *misplaced* at these prices, and how many sensors are *undecided*. More misplaced than undecided sensors: no
Newton step can be trusted, warm up. Fewer: step, and cool down until so few are undecided that repairing them one by
one is quicker than another pass.

Nothing here needs to be right, and float32 will do: `exact.py` repairs what is left and proves the result.
"""

import numpy as np
from numpy.typing import NDArray

from hfedms_sim.grouping.affinity import Floats

Prices = NDArray[np.float64]
Single = NDArray[np.float32]

_MOST_PASSES = 30
_COLDEST = 0.25  # affinities are integers: nothing changes below
_TRUSTED_MISPLACED = 1.5  # misplaced per undecided sensor, up to which a Newton step is taken
_COOLING = 0.25  # at most to this share, in one step
_WARMING = 64.0
_LONGEST_STEP = 10.0  # in temperatures
_SMALLEST_EXPONENT = -30.0  # beyond, float32 products would be denormal, which costs 2-3 times the time


def balancing_prices(
    affinities: Floats, cluster_size: int, prices: Prices, temperature: float
) -> tuple[Prices, float, float]:
    """Return improved prices, the temperature of the first step (to start from next time) and that of the last."""
    clusters, sensors = affinities.shape
    few = clusters + sensors / 1000
    first_temperature = None
    affinities = affinities.astype(np.float32, copy=False)
    hottest = float(np.ptp(affinities)) + 1.0  # at which a sensor without prices is undecided between all clusters
    demand = np.empty_like(affinities)
    for _ in range(_MOST_PASSES):
        overlap = _overlap(affinities, prices, temperature, demand)
        excess = overlap.sum(axis=1) - cluster_size
        misplaced = float(np.abs(excess).sum())
        undecided = sensors - float(np.trace(overlap)) + 1e-9
        if misplaced <= few and (undecided <= 2 * few or temperature <= _COLDEST):
            break
        if misplaced > _TRUSTED_MISPLACED * undecided:
            if temperature >= hottest:  # the prices given were hopeless
                prices = np.zeros(clusters)
            temperature = min(
                temperature * min(max(_TRUSTED_MISPLACED * misplaced / undecided, 2.0), _WARMING), hottest
            )
            continue
        first_temperature = first_temperature or temperature
        prices = prices + _newton_step(overlap, excess, undecided, temperature)
        left = max(few, _TRUSTED_MISPLACED * misplaced**2 / undecided)  # Newton's method squares the error
        temperature = max(temperature * min(max(left / undecided, _COOLING), 1.0), _COLDEST)
    return prices - prices.mean(), first_temperature or temperature, temperature


def _overlap(affinities: Single, prices: Prices, temperature: float, demand: Single) -> NDArray[np.float64]:
    """Return P P', clusters x clusters. A sensor's probabilities sum to one, so that row sums are the demands P 1."""
    np.subtract(affinities, prices[:, np.newaxis].astype(np.float32), out=demand)
    demand -= demand.max(axis=0)
    demand *= np.float32(1 / temperature)
    np.maximum(demand, _SMALLEST_EXPONENT, out=demand)
    np.exp(demand, out=demand)
    demand /= demand.sum(axis=0)
    return (demand @ demand.T).astype(np.float64)


def _newton_step(
    overlap: NDArray[np.float64], excess: NDArray[np.float64], undecided: float, temperature: float
) -> Prices:
    """Solve Hessian x step = excess. All prices moving alike changes nothing, so the Hessian needs a little on its
    diagonal to be invertible."""
    clusters = len(excess)
    hessian = -overlap
    hessian.flat[:: clusters + 1] += overlap.sum(axis=1) + 1e-6 * (undecided + 1) / clusters
    step = np.linalg.solve(hessian, excess) * temperature
    longest = float(np.abs(step).max())
    return np.asarray(step * min(1.0, _LONGEST_STEP * temperature / longest) if longest > 0 else step, np.float64)
