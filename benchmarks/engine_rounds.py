"""Rounds of the paper's size: random images, the paper's network, the plain loop and our engines on them."""

from typing import NamedTuple

import torch
from torch.nn import functional

from hfedms_sim.learning.engine import ENGINES, LocalSet, Sgd
from hfedms_sim.learning.networks import StackNetwork, Weights, initial_weights, is_classifier
from hfedms_sim.models import spec_of
from hfedms_sim.seeds import Draws

LEARNING_RATE, BATCH, SAMPLES = 0.01, 5, 50
MODEL = spec_of("cnn")


class Column(NamedTuple):
    chains: int
    clients: int
    """In a chain."""
    is_full: bool = True


COLUMNS = {
    "G=3 x 36": Column(3, 36),
    "G=10 x 11": Column(10, 11),
    "G=30 x 4": Column(30, 4),
    "FedAvg 110 x 1": Column(110, 1),
    "calibration": Column(3, 36, is_full=False),
}


class PaperRound:
    def __init__(self, column: Column) -> None:
        random = torch.Generator().manual_seed(1)
        self._is_full = column.is_full
        self._chains = [[client(random) for _ in range(column.clients)] for _ in range(column.chains)]
        self._start = initial_weights(MODEL, Draws(1))
        self._sgd = Sgd(LEARNING_RATE, BATCH)
        self._plain_clients = [client for chain in self._chains for client in chain][:12]
        self._network = StackNetwork(MODEL)
        self._trained: torch.nn.Module = self._network if column.is_full else self._network.classifier
        self._optimiser = torch.optim.SGD(self._trained.parameters(), lr=LEARNING_RATE)

    @property
    def samples(self) -> int:
        return _samples(self._chains)

    @property
    def plain_samples(self) -> int:
        """How many the plain loop goes over."""
        return _samples([self._plain_clients])

    def plain_loop(self) -> None:
        mean: Weights = {}
        for number, client in enumerate(self._plain_clients, start=1):
            self._network.load(self._start)
            self._train(client)
            with torch.no_grad():
                for name, value in self._trained.named_parameters():
                    before = mean.setdefault(name, torch.zeros_like(value))
                    before.add_(value - before, alpha=1 / number)

    def _train(self, client: LocalSet) -> None:
        inputs = client.inputs
        if not self._is_full:
            with torch.no_grad():
                inputs = self._network.extractor(inputs)
        for order in client.epochs:
            for chosen in order.split(BATCH):
                self._optimiser.zero_grad()
                functional.cross_entropy(self._trained(inputs[chosen]), client.labels[chosen]).backward()
                self._optimiser.step()

    def by_engine(self, name: str, threads: int = 1) -> None:
        engine = ENGINES[name](self._network, threads)
        shares = [1.0] * len(self._chains)
        if self._is_full:
            engine.train_models(self._start, self._chains, shares, self._sgd)
            return
        everything = torch.cat([client.inputs for chain in self._chains for client in chain])
        vectors = iter(engine.extract(self._start, everything).split(SAMPLES))
        chains = [[client._replace(inputs=next(vectors)) for client in chain] for chain in self._chains]
        classifier = {name: value for name, value in self._start.items() if is_classifier(name)}
        engine.train_classifiers(classifier, chains, shares, self._sgd)


def client(random: torch.Generator) -> LocalSet:
    images = torch.rand((SAMPLES, 1, 28, 28), generator=random)
    labels = torch.randint(0, MODEL.classes, (SAMPLES,), generator=random)
    return LocalSet(images, labels, (torch.randperm(SAMPLES, generator=random),))


def _samples(chains: list[list[LocalSet]]) -> int:
    return sum(len(client.labels) for chain in chains for client in chain)
