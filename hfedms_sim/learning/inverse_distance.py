"""IDA's average: models near the mean of the round's models count more.

alpha_k = 1 / (|mean - w_k| + eps), normalised; the mean is the plain one, the norm l2 or l1 over all parameters
"""

from collections.abc import Sequence

from hfedms_sim.learning.engine import Norm, TrainedChains
from hfedms_sim.learning.networks import Weights

EPSILON = 1e-8


def inverse_distance_mean(ends: TrainedChains, shares: Sequence[float], norm: Norm = "l2") -> Weights | None:
    """`shares` multiply the inverse distances."""
    return ends.mean_by_distance(lambda number, distance: shares[number] / (distance + EPSILON), norm)
