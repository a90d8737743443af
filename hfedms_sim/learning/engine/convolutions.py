"""The convolutions at the beginning of a network, of which every chain trains its own small copies.

The convolutions of several chains are one grouped convolution. Only a few at a time, so that what one layer makes is
still in the cache when the next one reads it. Pooling before the ReLU gives the same values and gradients as after it,
on a quarter of the numbers.
"""

from collections.abc import Sequence
from typing import NamedTuple, Protocol

import torch
from torch import Tensor
from torch.nn import functional

from hfedms_sim.learning.engine.base import Sgd
from hfedms_sim.learning.engine.pooling import max_pool
from hfedms_sim.learning.engine.steps import SgdStep

_CHAINS_TOGETHER = 8


class Convolution(NamedTuple):
    """A convolution with 'same' padding, ReLU and a 2x2 max-pool."""

    weight: Tensor
    bias: Tensor


class ChainedConvolutions(Protocol):
    @property
    def parameters(self) -> Sequence[Convolution]:
        """Return those of all chains, stacked."""

    def forward(self, images: Tensor) -> Tensor:
        """(chains still going, samples, 1, side, side) to (chains, samples, features)."""

    def backward(self, deltas: Tensor) -> None:
        """A step of the weights."""


class GroupedConvolutions:
    def __init__(self, start: Sequence[Convolution], chains: int, sgd: Sgd) -> None:
        self.parameters = [
            Convolution(*(each.expand(chains, *each.shape).clone() for each in layer)) for layer in start
        ]
        self._start = start
        self._sgd_step = SgdStep(sgd)
        self._blocks: list[tuple[Tensor, list[Tensor]]] = []

    def forward(self, images: Tensor) -> Tensor:
        self._blocks = []
        for first in range(0, len(images), _CHAINS_TOGETHER):
            block = images[first : first + _CHAINS_TOGETHER]
            chains = slice(first, first + len(block))
            trained = [value[chains].detach().requires_grad_() for layer in self.parameters for value in layer]
            with torch.enable_grad():
                self._blocks.append((_features(block, trained), trained))
        return torch.cat([features.detach() for features, _ in self._blocks])

    def backward(self, deltas: Tensor) -> None:
        gradients = [  # all, before the first step changes what they are computed from
            torch.autograd.grad(features, trained, block)
            for (features, trained), block in zip(self._blocks, deltas.split(_CHAINS_TOGETHER), strict=True)
        ]
        own = [value for layer in self.parameters for value in layer]
        start = [value for layer in self._start for value in layer]
        for value, origin, *blocks in zip(own, start, *gradients, strict=True):
            self._sgd_step.step(value[: len(deltas)], torch.cat(blocks), origin)
        self._blocks = []


def _features(images: Tensor, parameters: Sequence[Tensor]) -> Tensor:
    chains, samples = images.shape[:2]
    layer = images.transpose(0, 1).flatten(1, 2)
    for weight, bias in zip(parameters[::2], parameters[1::2], strict=True):
        layer = functional.conv2d(
            layer, weight.flatten(0, 1), bias.flatten(), padding=weight.shape[-1] // 2, groups=chains
        )
        layer = max_pool(layer).relu_()
    return layer.reshape(samples, chains, -1).transpose(0, 1)
