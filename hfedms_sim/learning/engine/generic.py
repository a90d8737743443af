"""The plain engine: autograd, one network object for all chains, one after the other. The oracle of the fast ones."""

from collections.abc import Callable, Iterable, Sequence

import torch
from torch import Tensor, nn
from torch.nn import functional

from hfedms_sim.learning.engine.base import Chain, LocalSet, Loss, Sgd, cross_entropy
from hfedms_sim.learning.merging import RunningMean
from hfedms_sim.learning.networks import Network, Weights, is_classifier
from hfedms_sim.scenario import ModelSpec

_EXTRACTION_BATCH = 64


class GenericEngine:
    def __init__(self, spec: ModelSpec) -> None:
        self._network = Network(spec)

    def train_models(
        self,
        start: Weights,
        chains: Sequence[Chain],
        shares: Sequence[float],
        sgd: Sgd,
        loss: Loss = cross_entropy,
    ) -> Weights:
        network, mean = self._network, RunningMean()
        for chain, share in zip(chains, shares, strict=True):
            network.load(start)
            _descend(network.parameters(), chain, sgd, lambda inputs, labels: loss(network, inputs, labels))
            mean.add(dict(network.named_parameters()), share)
        return mean.result() or start

    def train_classifiers(self, start: Weights, chains: Sequence[Chain], shares: Sequence[float], sgd: Sgd) -> Weights:
        network, mean = self._network, RunningMean()

        def loss(vectors: Tensor, labels: Tensor) -> Tensor:
            return functional.cross_entropy(network.classifier(vectors), labels)

        for chain, share in zip(chains, shares, strict=True):
            network.load(start)
            _descend(network.classifier.parameters(), chain, sgd, loss)
            mean.add({name: value for name, value in network.named_parameters() if is_classifier(name)}, share)
        return mean.result() or start

    def extract(self, weights: Weights, images: Tensor) -> Tensor:
        self._network.load({name: value for name, value in weights.items() if not is_classifier(name)})
        with torch.no_grad():
            return torch.cat([self._network.extractor(batch) for batch in images.split(_EXTRACTION_BATCH)])


def _descend(
    parameters: Iterable[nn.Parameter], chain: Iterable[LocalSet], sgd: Sgd, loss: Callable[[Tensor, Tensor], Tensor]
) -> None:
    optimiser = torch.optim.SGD(parameters, lr=sgd.learning_rate)
    for local in chain:
        for order in local.epochs:
            for chosen in order.split(sgd.batch_size):
                optimiser.zero_grad()
                loss(local.inputs[chosen], local.labels[chosen]).backward()
                optimiser.step()
