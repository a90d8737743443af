"""A bundle of chains trained together, step by step, and what is asked of where they end.

Gradients are written out here instead of left to autograd: the layers know the deltas of each step anyway, because
the history of a shared layer is made of them.

What the frozen model of FedMMD, FedFusion and distillation makes of the samples is asked of the very same layers before
their first step. Nothing else is sure to give the same bits, and FedMMD makes much of the smallest difference.
"""

from collections.abc import Callable, Sequence
from math import prod
from typing import NamedTuple

import torch
from torch import Tensor

from hfedms_sim.learning.engine.base import Chain, Sgd
from hfedms_sim.learning.engine.convolutions import ChainedConvolutions, Convolution
from hfedms_sim.learning.engine.dense import ChainedDense, dense_numbers
from hfedms_sim.learning.engine.fusing import ChainedFusion
from hfedms_sim.learning.engine.layer_names import LayerNames
from hfedms_sim.learning.engine.losses import Loss
from hfedms_sim.learning.engine.steps import Step, Steps, steps_of
from hfedms_sim.learning.networks import Weights

MakeConvolutions = Callable[[Sequence[Convolution], int, Sgd], ChainedConvolutions]
MakeDense = Callable[[Tensor, Tensor, int, int, Sgd], ChainedDense]


class LayerFactories(NamedTuple):
    """What layers are made of."""

    convolutions: MakeConvolutions
    dense: MakeDense


class _Frozen(NamedTuple):
    """What the model that the round started from makes of a step's samples, as far as fusion and loss ask for it."""

    features: Tensor | None
    logits: Tensor | None


class ChainBundle:
    def __init__(
        self, stack: LayerNames, start: Weights, chains: Sequence[Chain], sgd: Sgd, loss: Loss, forms: LayerFactories
    ) -> None:
        steps = Steps(chains, sgd.batch_size)
        self._stack, self._start, self._loss = stack, start, loss
        self._convolutions = (
            forms.convolutions(
                [Convolution(start[f"{name}.weight"], start[f"{name}.bias"]) for name in stack.convolutions],
                len(chains),
                sgd,
            )
            if stack.convolutions
            else None
        )
        self._fusion = ChainedFusion([start[name] for name in stack.fusion], len(chains), sgd) if stack.fusion else None
        self._dense = [
            forms.dense(start[f"{name}.weight"], start[f"{name}.bias"], len(chains), steps.rank, sgd)
            for name in stack.dense
        ]
        with torch.no_grad():
            asks = self._fusion is not None or loss.discrepancy is not None
            frozen = [self._rehearse(step) for step in steps] if asks else [_Frozen(None, None)] * len(steps.widths)
            for step, known in zip(steps, frozen, strict=True):
                self._train(step, known)

    def _rehearse(self, step: Step) -> _Frozen:
        """Return what layers make of a step's samples of which none has made a step yet."""
        features = None if self._fusion is None else self._features(step.inputs)
        logits = None if self._loss.discrepancy is None else self._forward(step.inputs, features)[-1]
        return _Frozen(features, logits)

    def _train(self, step: Step, frozen: _Frozen) -> None:
        *activations, logits = self._forward(step.inputs, frozen.features)
        deltas = self._loss.deltas(logits, step.labels, step.weights, frozen.logits)
        for number, layer in reversed(list(enumerate(self._dense))):
            deltas = layer.backward(deltas)
            if number:
                deltas *= activations[number] > 0
        if self._fusion is not None:
            deltas = self._fusion.backward(deltas)
        if self._convolutions is not None:
            self._convolutions.backward(deltas)

    def _forward(self, inputs: Tensor, frozen_features: Tensor | None) -> list[Tensor]:
        """Return what goes into each dense layer, and the logits."""
        features = self._features(inputs)
        if self._fusion is not None and frozen_features is not None:
            features = self._fusion.forward(features, frozen_features)
        passed = [features]
        for layer in self._dense[:-1]:
            passed.append(layer.forward(passed[-1]).relu_())
        return [*passed, self._dense[-1].forward(passed[-1])]

    def _features(self, inputs: Tensor) -> Tensor:
        return inputs.flatten(2) if self._convolutions is None else self._convolutions.forward(inputs)

    def add_mean_update(self, total: Weights, shares: Sequence[float]) -> None:
        """Adds the sum of share x (end - start) to each parameter's total."""
        for name, layer in zip(self._stack.dense, self._dense, strict=True):
            layer.add_mean_update(total[f"{name}.weight"], shares)
        for name, stacked in self._stacked():
            total[name] += torch.tensordot(stacked.new_tensor(shares), stacked - self._start[name], dims=1)

    def model(self, chain: int) -> Weights:
        """Return the model that a chain ends with."""
        ends = {name: stacked[chain] for name, stacked in self._stacked()}
        for name, layer in zip(self._stack.dense, self._dense, strict=True):
            ends[f"{name}.weight"] = self._start[f"{name}.weight"] + layer.update_of(chain)
        return {name: ends[name] for name in self._start}  # in the start's order

    def squared_distances(self, update: Weights) -> Tensor:
        """Return the squared distance of each end from start + update."""
        layers = zip(self._stack.dense, self._dense, strict=True)
        shared = [layer.squared_distances(update[f"{name}.weight"]) for name, layer in layers]
        own = [
            (stacked - self._start[name] - update[name]).double().square().flatten(1).sum(dim=1)
            for name, stacked in self._stacked()
        ]
        return torch.stack(shared + own).sum(dim=0)

    def _stacked(self) -> list[tuple[str, Tensor]]:
        """Parameters that every chain has its own copy of."""
        own = [(f"{name}.bias", layer.bias) for name, layer in zip(self._stack.dense, self._dense, strict=True)]
        if self._convolutions is not None:
            for name, (weight, bias) in zip(self._stack.convolutions, self._convolutions.parameters, strict=True):
                own += [(f"{name}.weight", weight), (f"{name}.bias", bias)]
        if self._fusion is not None:
            own += zip(self._stack.fusion, self._fusion.parameters, strict=True)
        return own


def bundle_bytes(stack: LayerNames, start: Weights, chain: Chain, sgd: Sgd) -> int:
    """What a chain takes in a bundle in which it is the longest; a rough figure, rather too high."""
    width = min(sgd.batch_size, max(len(order) for local in chain for order in local.epochs))
    rank = steps_of(chain, sgd.batch_size) * width
    numbers = sum(local.inputs.numel() for local in chain)
    pixels = prod(chain[0].inputs.shape[-2:])
    for name in stack.convolutions:
        outputs = len(start[f"{name}.bias"])
        numbers += 3 * start[f"{name}.weight"].numel() + 2 * width * outputs * pixels
        pixels //= 4
    for name in stack.dense:
        weight = start[f"{name}.weight"]
        numbers += dense_numbers(weight, rank) + 3 * width * sum(weight.shape)
    if stack.fusion:
        features = start[f"{stack.dense[0]}.weight"].shape[1]
        numbers += (rank + 6 * width) * features + 3 * sum(start[name].numel() for name in stack.fusion)
    numbers += rank * len(start[f"{stack.dense[-1]}.bias"])
    return numbers * start[f"{stack.dense[0]}.bias"].element_size()
