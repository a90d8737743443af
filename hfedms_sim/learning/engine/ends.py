"""Where the chains of a round end, for a server that needs more than their mean by known shares."""

from collections.abc import Callable, Iterator

import torch

from hfedms_sim.learning.merging import RunningMean
from hfedms_sim.learning.networks import Weights

KEPT_BYTES = 512 * 10**6


class ModelEnds:
    """Models, trained anew each time they are asked for, unless they all fit into a budget of memory."""

    def __init__(self, train: Callable[[], Iterator[Weights]], kept_bytes: int = KEPT_BYTES) -> None:
        self._train = train
        self._kept_bytes = kept_bytes
        self._kept: list[Weights] | None = None

    def each(self) -> Iterator[tuple[int, Weights]]:
        return enumerate(self._models())

    def mean_by_distance(self, share_of: Callable[[int, float], float]) -> Weights | None:
        plain, weighted = RunningMean(), RunningMean()
        for model in self._models():
            plain.add(model, 1.0)
        centre = plain.result()
        if centre is None:
            return None
        for number, model in self.each():
            weighted.add(model, share_of(number, distance(centre, model)))
        return weighted.result()

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


def distance(one: Weights, other: Weights) -> float:
    """Euclidean, over all parameters."""
    return float(torch.sqrt(sum((one[name].double() - other[name].double()).square().sum() for name in one)))  # type: ignore[arg-type]


def _bytes(weights: Weights) -> int:
    return sum(value.numel() * value.element_size() for value in weights.values())
