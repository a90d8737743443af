"""IDA's average: models near the mean of the round's models count more.

    alpha_k = 1 / (|mean - w_k| + eps), normalised; the mean is the plain one, the norm Euclidean over all parameters

The distances need the mean of all models, and the new model needs the distances. Models are kept while they fit into
a budget of memory; beyond it they are trained a second time, which gives the same bits.
"""

from collections.abc import Callable, Iterator, Sequence

import torch

from hfedms_sim.learning.merging import RunningMean
from hfedms_sim.learning.networks import Weights

EPSILON = 1e-8
KEPT_BYTES = 512 * 10**6


def inverse_distance_mean(
    models: Callable[[], Iterator[Weights]], shares: Sequence[float], kept_bytes: int = KEPT_BYTES
) -> Weights | None:
    """`models` gives the round's models, anew at each call; `shares` multiply the inverse distances."""
    plain, is_kept = RunningMean(), True
    kept: list[Weights] = []
    for model in models():
        plain.add(model, 1.0)
        is_kept = is_kept and (len(kept) + 1) * _bytes(model) <= kept_bytes
        if is_kept:
            kept.append({name: value.clone() for name, value in model.items()})
        else:
            kept.clear()
    centre = plain.result()
    if centre is None:
        return None
    weighted = RunningMean()
    for model, share in zip(kept if is_kept else models(), shares, strict=True):
        weighted.add(model, share / (distance(centre, model) + EPSILON))
    return weighted.result()


def distance(one: Weights, other: Weights) -> float:
    return float(torch.sqrt(sum((one[name].double() - other[name].double()).square().sum() for name in one)))  # type: ignore[arg-type]


def _bytes(weights: Weights) -> int:
    return sum(value.numel() * value.element_size() for value in weights.values())
