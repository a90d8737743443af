"""A bundle of chains trained together, step by step, and what is asked of where they end.

Gradients are written out here instead of left to autograd: the layers know the deltas of each step anyway, because
the history of a shared layer is made of them.
"""

from collections.abc import Callable, Sequence
from typing import NamedTuple

import torch
from torch import Tensor, nn
from torch.nn import functional

from hfedms_sim.learning.engine.base import Chain, Sgd
from hfedms_sim.learning.engine.convolutions import ChainedConvolutions, Convolution
from hfedms_sim.learning.engine.dense import ChainedDense, dense_numbers
from hfedms_sim.learning.engine.steps import Step, Steps, steps_of
from hfedms_sim.learning.networks import Network, Weights

MakeConvolutions = Callable[[Sequence[Convolution], int, Sgd], ChainedConvolutions]
MakeDense = Callable[[Tensor, Tensor, int, int, Sgd], ChainedDense]


class Stack(NamedTuple):
    """The names of a network's trained layers, in order; the last one gives the logits."""

    convolutions: tuple[str, ...]
    dense: tuple[str, ...]

    @classmethod
    def of(cls, network: Network) -> "Stack":
        named = list(network.named_modules())
        return cls(
            tuple(name for name, module in named if isinstance(module, nn.Conv2d)),
            tuple(name for name, module in named if isinstance(module, nn.Linear)),
        )

    def of_classifier(self) -> "Stack":
        return Stack((), self.dense[-1:])


class Forms(NamedTuple):
    """What layers are made of."""

    convolutions: MakeConvolutions
    dense: MakeDense


class Bundle:
    def __init__(self, stack: Stack, start: Weights, chains: Sequence[Chain], sgd: Sgd, forms: Forms) -> None:
        steps = Steps(chains, sgd.batch_size)
        self._stack, self._start = stack, start
        self._convolutions = (
            forms.convolutions(
                [Convolution(start[f"{name}.weight"], start[f"{name}.bias"]) for name in stack.convolutions],
                len(chains),
                sgd,
            )
            if stack.convolutions
            else None
        )
        self._dense = [
            forms.dense(start[f"{name}.weight"], start[f"{name}.bias"], len(chains), steps.rank, sgd)
            for name in stack.dense
        ]
        with torch.no_grad():
            for step in steps:
                self._train(step)

    def _train(self, step: Step) -> None:
        features = step.inputs.flatten(2) if self._convolutions is None else self._convolutions.forward(step.inputs)
        activations = [features]
        for layer in self._dense[:-1]:
            activations.append(layer.forward(activations[-1]).relu_())
        logits = self._dense[-1].forward(activations[-1])
        deltas = _loss_deltas(logits, step.labels).mul_(step.weights[:, :, None])
        for number, layer in reversed(list(enumerate(self._dense))):
            deltas = layer.backward(deltas)
            if number:
                deltas *= activations[number] > 0
        if self._convolutions is not None:
            self._convolutions.backward(deltas)

    def add_mean_update(self, total: Weights, shares: Sequence[float]) -> None:
        """Adds the sum of share x (end - start) to each parameter's total."""
        for name, layer in zip(self._stack.dense, self._dense, strict=True):
            layer.add_mean_update(total[f"{name}.weight"], shares)
        for name, stacked in self._stacked():
            total[name] += torch.tensordot(stacked.new_tensor(shares), stacked - self._start[name], dims=1)

    def model(self, chain: int) -> Weights:
        """Where a chain ends."""
        ends = {name: stacked[chain] for name, stacked in self._stacked()}
        for name, layer in zip(self._stack.dense, self._dense, strict=True):
            ends[f"{name}.weight"] = self._start[f"{name}.weight"] + layer.update_of(chain)
        return {name: ends[name] for name in self._start}  # in the start's order

    def squared_distances(self, update: Weights) -> Tensor:
        """Of each end from start + update."""
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
        return own


def _loss_deltas(logits: Tensor, labels: Tensor) -> Tensor:
    """The cross-entropy's gradient at each sample's logits."""
    deltas = functional.softmax(logits, dim=-1)
    return deltas.scatter_add_(2, labels[:, :, None], deltas.new_full((*labels.shape, 1), -1.0))


def bundle_bytes(stack: Stack, start: Weights, chain: Chain, sgd: Sgd) -> int:
    """What a chain takes in a bundle in which it is the longest; a rough figure, rather too high."""
    width = min(sgd.batch_size, max(len(order) for local in chain for order in local.epochs))
    rank = steps_of(chain, sgd.batch_size) * width
    numbers = sum(local.inputs.numel() for local in chain)
    side = chain[0].inputs.shape[-1]
    for name in stack.convolutions:
        outputs = len(start[f"{name}.bias"])
        numbers += 3 * start[f"{name}.weight"].numel() + 2 * width * outputs * side**2
        side //= 2
    for name in stack.dense:
        weight = start[f"{name}.weight"]
        numbers += dense_numbers(weight, rank) + 3 * width * sum(weight.shape)
    return numbers * start[f"{stack.dense[0]}.bias"].element_size()
