"""The low-rank engine on compiled kernels (kernels.c): convolutions, history corrections and classifiers of all chains.

What is left to torch are the products with the shared weights, which its GEMM computes near the machine's peak.
"""

from collections.abc import Sequence
from functools import partial
from itertools import zip_longest
from typing import NamedTuple

import torch
from torch import Tensor

from hfedms_sim.learning.engine import kernels
from hfedms_sim.learning.engine.base import Chain, Sgd
from hfedms_sim.learning.engine.chain_bundle import LayerFactories
from hfedms_sim.learning.engine.convolutions import Convolution
from hfedms_sim.learning.engine.dense import SharedDense, make_dense
from hfedms_sim.learning.engine.extraction import FEW_IMAGES, Extraction, MakeDense, TorchDense
from hfedms_sim.learning.engine.kernels import PackedDense, Pooled
from hfedms_sim.learning.engine.layer_names import LayerNames
from hfedms_sim.learning.engine.lowrank import LowRankEngine
from hfedms_sim.learning.engine.steps import SgdStep
from hfedms_sim.learning.merging import RunningMean
from hfedms_sim.learning.networks import Network, Weights

_MANY_IMAGES = 256  # for which it pays to lay out the weights of dense layers


class NativeEngine(LowRankEngine):
    def __init__(self, network: Network, threads: int = 1) -> None:
        super().__init__(network, threads)
        self._forms = LayerFactories(NativeConvolutions, partial(make_dense, shared=NativeSharedDense))

    def train_classifiers(self, start: Weights, chains: Sequence[Chain], shares: Sequence[float], sgd: Sgd) -> Weights:
        order = [number for number, share in enumerate(shares) if share > 0]
        if sgd.proximal or sgd.optimiser != "sgd" or not order:
            return super().train_classifiers(start, chains, shares, sgd)
        parts = self._parts(order)
        name = self._stack.dense[-1]
        ends = self._threads.map(
            lambda numbers: _classifiers(name, start, [chains[each] for each in numbers], sgd), parts
        )
        mean = RunningMean()
        for numbers, stacked in zip(parts, ends, strict=True):
            for row, number in enumerate(numbers):
                mean.add({name: values[row] for name, values in stacked.items()}, shares[number])
        return mean.result() or start

    def _extraction(self, weights: Weights, images: int) -> Extraction:
        return NativeExtraction(self._stack, weights, PackedDense if images >= _MANY_IMAGES else TorchDense)


class NativeExtraction(Extraction):
    def __init__(self, stack: LayerNames, weights: Weights, dense: MakeDense = TorchDense) -> None:
        super().__init__(stack, weights, dense)
        self._layers = [
            _Layer(weight.permute(0, 2, 3, 1).contiguous()[None], bias[None]) for weight, bias in self._convolutions
        ]

    def _features(self, images: Tensor) -> Tensor:
        """The last convolution writes where the dense layer reads: channel by channel, all images in one piece."""
        if not self._layers:
            return images.flatten(1)
        *inner, (weights, bias) = self._layers
        shrunk = 2 ** len(self._layers)
        rows, columns = (length // shrunk for length in images.shape[-2:])
        features = images.new_empty((len(images), len(bias[0]), rows, columns))
        for few, out in zip(images.split(FEW_IMAGES), features.split(FEW_IMAGES), strict=True):
            counts = torch.tensor([len(few)])
            values = few.movedim(1, -1).contiguous()
            for layer in inner:
                values = kernels.conv_pool_values(values, counts, *layer)
            kernels.conv_pool_values(values, counts, weights, bias, channel_first=True, out=out)
        return features.flatten(1)


def _classifiers(classifier: str, start: Weights, chains: Sequence[Chain], sgd: Sgd) -> Weights:
    """Return the classifiers of every chain's end, stacked. The n-th pass of each over a set of its own is one call."""
    stacked = {name: value.repeat(len(chains), *(1 for _ in value.shape)) for name, value in start.items()}
    weight, bias = (stacked[f"{classifier}.{name}"] for name in ("weight", "bias"))
    passes = [[(local, order) for local in chain for order in local.epochs] for chain in chains]
    for turn in zip_longest(*passes):
        chosen = [None if each is None else (each[0].inputs[each[1]], each[0].labels[each[1]]) for each in turn]
        vectors = torch.cat([each[0] for each in chosen if each is not None])
        labels = torch.cat([each[1] for each in chosen if each is not None])
        counts = torch.tensor([0 if each is None else len(each[1]) for each in chosen])
        kernels.classifier_steps(vectors, counts, labels, (weight, bias), sgd.learning_rate, batch_size=sgd.batch_size)
    return stacked


class _Layer(NamedTuple):
    """Weights are (chains, outputs, k, k, inputs)."""

    weights: Tensor
    bias: Tensor


class _Passed(NamedTuple):
    inputs: Tensor
    pooled: Pooled


class NativeConvolutions:
    def __init__(self, start: Sequence[Convolution], chains: int, sgd: Sgd) -> None:
        self._start = [_Layer(layer.weight.permute(0, 2, 3, 1), layer.bias) for layer in start]
        self._layers = [
            _Layer(weights.repeat(chains, 1, 1, 1, 1), bias.repeat(chains, 1)) for weights, bias in self._start
        ]
        self._sgd_step = SgdStep(sgd)
        self._passed: list[_Passed] = []

    @property
    def parameters(self) -> list[Convolution]:
        return [Convolution(weights.permute(0, 1, 4, 2, 3), bias) for weights, bias in self._layers]

    def forward(self, images: Tensor) -> Tensor:
        going, width = images.shape[:2]
        counts = torch.full((going,), width)
        values = images.flatten(0, 1).movedim(1, -1).contiguous()
        self._passed = []
        for number, (weights, bias) in enumerate(self._layers, start=1):
            is_last = number == len(self._layers)  # a dense layer follows, which flattens channel by channel
            pooled = kernels.conv_pool_forward(values, counts, weights[:going], bias[:going], channel_first=is_last)
            self._passed.append(_Passed(values, pooled))
            values = pooled.values
        return values.reshape(going, width, -1)

    def backward(self, deltas: Tensor) -> None:
        going, width = deltas.shape[:2]
        counts = torch.full((going,), width)
        above = deltas.flatten(0, 1)
        for number in reversed(range(len(self._layers))):
            inputs, pooled = self._passed[number]
            below = torch.empty_like(inputs) if number else None
            self._step(number, counts, above.reshape(pooled.values.shape), below)
            if below is not None:
                above = below
        self._passed = []

    def _step(self, number: int, counts: Tensor, deltas: Tensor, below: Tensor | None) -> None:
        inputs, pooled = self._passed[number]
        going = len(counts)
        weights, bias = (value[:going] for value in self._layers[number])
        passed = (inputs, counts, (weights, bias), pooled, deltas)
        if not self._sgd_step.is_pulled:
            kernels.conv_pool_backward(*passed, rate=self._sgd_step.rate, dx=below)
            return
        gradients = (torch.zeros_like(weights), torch.zeros_like(bias))
        kernels.conv_pool_backward(*passed, dx=below, gradients=gradients)
        for value, gradient, start in zip((weights, bias), gradients, self._start[number], strict=True):
            self._sgd_step.step(value, gradient, start)


class NativeSharedDense(SharedDense):
    def _correct(self, target: Tensor, rows: Tensor, across: Tensor, along: Tensor) -> None:
        if not self._rank:
            return
        going, width = rows.shape[:2]
        counts, ranks = torch.full((going,), width), torch.full((going,), self._rank)
        flat, into = rows.flatten(0, 1), target.flatten(0, 1)
        scale = -self._sgd_step.rate
        if not self._sgd_step.is_pulled:
            kernels.history_correct(flat, counts, across[:going], along[:going], ranks, scale, into)
            return
        products = flat.new_empty((len(flat), across.shape[1]))
        kernels.history_dots(flat, counts, across[:going], ranks, products)
        products *= self._counts[:going].repeat_interleave(width, dim=0)
        kernels.history_add(products, counts, along[:going], ranks, scale, into)
