"""Where the chains of a round end, for a server that needs more than their mean by known shares."""

from collections.abc import Callable, Iterator
from math import sqrt

from hfedms_sim.learning.engine.base import Norm
from hfedms_sim.learning.merging import RunningMean
from hfedms_sim.learning.networks import Weights

KEPT_BYTES = 512 * 10**6


class ChainModels:
    """Models, trained anew each time they are asked for, unless they all fit into a budget of memory."""

    def __init__(self, train: Callable[[], Iterator[Weights]], kept_bytes: int = KEPT_BYTES) -> None:
        self._train = train
        self._kept_bytes = kept_bytes
        self._kept: list[Weights] | None = None

    def models(self) -> Iterator[tuple[int, Weights]]:
        return enumerate(self._models())

    def mean_by_distance(self, share_of: Callable[[int, float], float], norm: Norm = "l2") -> Weights | None:
        return mean_by_distance(self.models, share_of, norm)

    def _models(self) -> Iterator[Weights]:
        if self._kept is not None:
            yield from self._kept
            return
        kept: list[Weights] = []
        fits = True
        for model in self._train():
            fits = fits and (len(kept) + 1) * _bytes(model) <= self._kept_bytes
            if fits:
                kept.append({name: value.clone() for name, value in model.items()})
            else:
                kept.clear()
            yield model
        if fits:
            self._kept = kept


def mean_by_distance(
    each: Callable[[], Iterator[tuple[int, Weights]]], share_of: Callable[[int, float], float], norm: Norm
) -> Weights | None:
    """Return `TrainedChains.mean_by_distance` of whole models, which `each` gives twice, by number of the chain."""
    plain, weighted = RunningMean(), RunningMean()
    for _, model in each():
        plain.add(model, 1.0)
    centre = plain.result()
    if centre is None:
        return None
    for number, model in each():
        weighted.add(model, share_of(number, distance(centre, model, norm)))
    return weighted.result()


def distance(one: Weights, other: Weights, norm: Norm = "l2") -> float:
    """Euclidean, or the sum of absolute differences, over all parameters."""
    apart = [one[name].double() - other[name].double() for name in one]
    if norm == "l1":
        return sum(float(each.abs().sum()) for each in apart)
    return sqrt(sum(float(each.square().sum()) for each in apart))


def _bytes(weights: Weights) -> int:
    return sum(value.numel() * value.element_size() for value in weights.values())
