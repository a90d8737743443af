"""Where chains end that were trained in bundles. Euclidean distances come from the factors, without any
chain's weights; others need the models, one at a time.
"""

from collections.abc import Callable, Iterator, Sequence
from math import sqrt

import torch

from hfedms_sim.learning.engine.base import Norm
from hfedms_sim.learning.engine.chain_bundle import ChainBundle
from hfedms_sim.learning.engine.chain_models import mean_by_distance
from hfedms_sim.learning.networks import Weights

Numbered = tuple[Sequence[int], ChainBundle]
"""The numbers of the chains in a bundle, and the bundle."""


class ChainBundles:
    def __init__(self, bundles: Callable[[], Iterator[Numbered]], start: Weights, idle: Sequence[int]) -> None:
        """`bundles` may train anew at each call; `idle` chains had no sample and end where they started."""
        self._bundles = bundles
        self._start = start
        self._idle = idle

    def models(self) -> Iterator[tuple[int, Weights]]:
        yield from ((number, self._start) for number in self._idle)
        for numbers, bundle in self._bundles():
            yield from ((number, bundle.model(row)) for row, number in enumerate(numbers))

    def mean_by_distance(self, share_of: Callable[[int, float], float], norm: Norm = "l2") -> Weights | None:
        if norm != "l2":
            return mean_by_distance(self.models, share_of, norm)
        centre = self._mean_update(lambda number: 1.0)
        if centre is None:
            return None
        shares = {number: share_of(number, sqrt(squared)) for number, squared in self._squared_distances(centre)}
        update = self._mean_update(shares.__getitem__)
        return None if update is None else {name: self._start[name] + value for name, value in update.items()}

    def _mean_update(self, share_of: Callable[[int], float]) -> Weights | None:
        """Return the mean of end - start; None if nothing counts."""
        total = {name: torch.zeros_like(value) for name, value in self._start.items()}
        whole = sum(share_of(number) for number in self._idle)
        for numbers, bundle in self._bundles():
            shares = [share_of(number) for number in numbers]
            bundle.add_mean_update(total, shares)
            whole += sum(shares)
        return {name: value / whole for name, value in total.items()} if whole > 0 else None

    def _squared_distances(self, centre: Weights) -> Iterator[tuple[int, float]]:
        """Yield each chain's squared distance from start + centre."""
        still = sum(float(value.double().square().sum()) for value in centre.values())
        yield from ((number, still) for number in self._idle)
        for numbers, bundle in self._bundles():
            yield from zip(numbers, bundle.squared_distances(centre).tolist(), strict=True)
