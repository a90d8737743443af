"""Semantic vectors of many images under one set of weights: all layers but the last, forwards only.

Convolutions take few images at a time, so that what one layer makes is still in the cache when the next one reads it;
dense layers take many rows, so that their weights are read seldom.
"""

from collections.abc import Callable
from typing import NamedTuple, Protocol

import torch
from torch import Tensor
from torch.nn import functional

from hfedms_sim.learning.engine.convolutions import Convolution
from hfedms_sim.learning.engine.fusing import fuse
from hfedms_sim.learning.engine.layer_names import LayerNames
from hfedms_sim.learning.engine.pooling import max_pool
from hfedms_sim.learning.networks import Weights

_ROWS = 512
FEW_IMAGES = 64


class Dense(Protocol):
    """A dense layer with ReLU."""

    def __call__(self, inputs: Tensor, /) -> Tensor: ...


class TorchDense(NamedTuple):
    weight: Tensor
    bias: Tensor

    def __call__(self, inputs: Tensor) -> Tensor:
        return functional.linear(inputs, self.weight, self.bias).relu_()


MakeDense = Callable[[Tensor, Tensor], Dense]


class Extraction:
    def __init__(self, stack: LayerNames, weights: Weights, dense: MakeDense = TorchDense) -> None:
        self._convolutions = [Convolution(*_parameters(weights, name)) for name in stack.convolutions]
        self._fusion = [weights[name][None] for name in stack.fusion]
        self._dense = [dense(*_parameters(weights, name)) for name in stack.dense[:-1]]

    def __call__(self, images: Tensor) -> Tensor:
        with torch.no_grad():
            return torch.cat([self._vectors(rows) for rows in images.split(_ROWS)])

    def _vectors(self, images: Tensor) -> Tensor:
        vectors = self._features(images)
        if self._fusion:  # of two stacks that are one
            (vectors,) = fuse(self._fusion, vectors[None], vectors[None])
        for layer in self._dense:
            vectors = layer(vectors)
        return vectors

    def _features(self, images: Tensor) -> Tensor:
        return torch.cat([self._convolved(few) for few in images.split(FEW_IMAGES)])

    def _convolved(self, images: Tensor) -> Tensor:
        for weight, bias in self._convolutions:
            images = max_pool(functional.conv2d(images, weight, bias, padding=weight.shape[-1] // 2)).relu_()
        return images.flatten(1)


def _parameters(weights: Weights, layer: str) -> tuple[Tensor, Tensor]:
    return weights[f"{layer}.weight"], weights[f"{layer}.bias"]
