"""The plain engine: autograd, one network object for all chains, one after the other. The oracle of the fast ones."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import nullcontext
from copy import deepcopy

import torch
from torch import Tensor, nn
from torch.nn import functional

from hfedms_sim.learning.engine.base import Chain, LocalSet, Sgd, TrainedChains
from hfedms_sim.learning.engine.chain_models import ChainModels
from hfedms_sim.learning.engine.losses import CROSS_ENTROPY, Loss
from hfedms_sim.learning.merging import RunningMean
from hfedms_sim.learning.networks import ModuleNetwork, Network, Weights, seeded

_BATCH = 64


class GenericEngine:
    def __init__(self, network: Network) -> None:
        self._network = network

    def train_models(
        self, start: Weights, chains: Sequence[Chain], shares: Sequence[float], sgd: Sgd, loss: Loss = CROSS_ENTROPY
    ) -> Weights:
        return _mean(self._models(start, chains, sgd, loss), shares) or start

    def train_chains(
        self, start: Weights, chains: Sequence[Chain], sgd: Sgd, loss: Loss = CROSS_ENTROPY
    ) -> TrainedChains:
        return ChainModels(lambda: self._models(start, chains, sgd, loss))

    def train_classifiers(self, start: Weights, chains: Sequence[Chain], shares: Sequence[float], sgd: Sgd) -> Weights:
        classifier = self._network.head

        def loss(vectors: Tensor, labels: Tensor) -> Tensor:
            return functional.cross_entropy(classifier(vectors), labels)

        return _mean(self._trained(start, chains, sgd, loss), shares) or start

    def _models(self, start: Weights, chains: Sequence[Chain], sgd: Sgd, loss: Loss) -> Iterator[Weights]:
        network = self._network
        frozen = None if loss.discrepancy is None else frozen_copy(network, start)

        def value(images: Tensor, labels: Tensor) -> Tensor:
            return loss.value(network(images), labels, None if frozen is None else frozen(images))

        return self._trained(start, chains, sgd, value)

    def _trained(
        self, start: Weights, chains: Sequence[Chain], sgd: Sgd, loss: Callable[[Tensor, Tensor], Tensor]
    ) -> Iterator[Weights]:
        """Yield where each chain ends, of the part of the network that trains, whose weights `start` holds."""
        network = self._network
        ends = {name: value for name, value in network.numbers().items() if name in start}
        stepped = {
            name: value for name, value in ends.items() if isinstance(value, nn.Parameter) and value.requires_grad
        }
        anchors = [start[name] for name in stepped] if sgd.proximal else None
        for chain in chains:
            network.load(start)
            network.forget()
            network.train()
            for local in chain:
                with seeded(local.seed) if isinstance(network, ModuleNetwork) else nullcontext():
                    _descend(list(stepped.values()), local, sgd, loss, anchors)
            yield {name: value.detach() for name, value in ends.items()}

    def received(self, sent: Weights) -> Weights:
        return sent

    def extract(self, weights: Weights, images: Tensor) -> Tensor:
        self._network.load(weights)
        self._network.eval()
        with torch.no_grad():
            return torch.cat([self._network.extract(batch) for batch in images.split(_BATCH)])

    def logits(self, weights: Weights, images: Tensor) -> Tensor:
        self._network.load(weights)
        self._network.eval()
        with torch.no_grad():
            return torch.cat([self._network(batch) for batch in images.split(_BATCH)])


def frozen_copy(network: Network, start: Weights) -> Callable[[Tensor], Tensor]:
    """Return what takes images to the logits of the model that the round starts from."""
    anchor = deepcopy(network).requires_grad_(False).eval()
    anchor.load(start)
    return anchor


def _mean(ends: Iterable[Weights], shares: Sequence[float]) -> Weights | None:
    mean = RunningMean()
    for end, share in zip(ends, shares, strict=True):
        mean.add(end, share)
    return mean.result()


def _descend(
    parameters: Sequence[nn.Parameter],
    local: LocalSet,
    sgd: Sgd,
    loss: Callable[[Tensor, Tensor], Tensor],
    anchors: Sequence[Tensor] | None = None,
) -> None:
    """`anchors` are the values that the parameters are pulled to."""
    make = torch.optim.Adam if sgd.optimiser == "adam" else torch.optim.SGD
    optimiser = make(parameters, lr=sgd.learning_rate)  # anew: a sensor is sent weights, and no moments
    for order in local.epochs:
        for chosen in order.split(sgd.batch_size) if len(order) else ():
            optimiser.zero_grad()
            loss(local.inputs[chosen], local.labels[chosen]).backward()
            if anchors is not None:
                _pull(parameters, anchors, sgd.proximal)
            optimiser.step()


def _pull(parameters: Sequence[nn.Parameter], anchors: Sequence[Tensor], strength: float) -> None:
    for parameter, anchor in zip(parameters, anchors, strict=True):
        apart = parameter.detach() - anchor
        if parameter.grad is None:  # the loss does not depend on it
            parameter.grad = strength * apart
        else:
            parameter.grad.add_(apart, alpha=strength)
