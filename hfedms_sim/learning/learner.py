"""The learning rule most strategies share: chains of local training from one model, and the mean of their ends.

It takes the round as it happened, a RoundRecord, and nothing else of the world.
"""

from collections.abc import Sequence
from typing import Literal, NamedTuple, Protocol

import torch
from torch import Tensor

from hfedms_sim.learning.engine import CROSS_ENTROPY, Chain, Engine, LocalSet, Loss, Sgd
from hfedms_sim.learning.networks import Network, Weights, initial_weights, is_classifier, network_of
from hfedms_sim.learning.samples import SampleSource, Shuffles, captured_samples
from hfedms_sim.learning.state import arrays_of, weights_under
from hfedms_sim.lineage import WEIGHTS, State
from hfedms_sim.rounds import Participation, RoundRecord
from hfedms_sim.scenario import LocalTraining, ModelSpec
from hfedms_sim.seeds import Draws


class Learner(Protocol):
    @property
    def weights(self) -> Weights:
        """The global model."""

    def learn(self, record: RoundRecord) -> None: ...

    def logits(self, weights: Weights, images: Tensor) -> Tensor:
        """What a model of this rule answers."""

    def state(self) -> State:
        """All that `learn` has made and will need again. Valid until the next `learn`."""

    def restore(self, state: State) -> None:
        """Go on as if this learner had learnt what led to `state`, bit for bit."""


class LearnerContext(NamedTuple):
    """What learners are made of."""

    model: ModelSpec
    start: Weights
    engine: Engine
    source: SampleSource
    shuffles: Shuffles
    buffers: frozenset[str] = frozenset()
    """Names of the weights that no gradient changes: they are averaged, and no server's rule steps them."""


class ChainLearner:
    def __init__(self, settings: LocalTraining, context: LearnerContext) -> None:
        model, start, engine, source, shuffles, buffers = context
        self.weights = start
        self._model = model
        self._settings = settings
        self._engine = engine
        self._source = source
        self._shuffles = shuffles
        self._buffers = buffers
        self._sgd = Sgd(settings.learning_rate, settings.batch_size, optimiser=settings.local_optimiser)

    @classmethod
    def network(cls, settings: LocalTraining, model: ModelSpec) -> Network:
        """Return the network that sensors train."""
        return network_of(model)

    @classmethod
    def start(cls, settings: LocalTraining, model: ModelSpec, draws: Draws) -> Weights:
        """Return its weights before the first round."""
        return initial_weights(model, draws)

    def logits(self, weights: Weights, images: Tensor) -> Tensor:
        return self._engine.logits(weights, images)

    def state(self) -> State:
        return arrays_of(WEIGHTS, self.weights)

    def restore(self, state: State) -> None:
        self.weights = weights_under(WEIGHTS, state)

    def learn(self, record: RoundRecord) -> None:
        arrived = arrived_chains(record)
        chains = [[self.local_set(p, record.round) for p in chain if p.trained and p.captured] for chain in arrived]
        if any(chains):  # else nobody had anything to learn from
            self.weights = self._merged(chains, self._shares(arrived, chains))

    def _shares(self, chains: Sequence[Sequence[Participation]], trained_on: Sequence[Chain]) -> list[float]:
        """Return how much each chain counts in the server's mean."""
        if self._settings.weights == "local-set":
            return [float(sum(self._source.local_size(each.sensor) for each in chain)) for chain in chains]
        return shares(trained_on, self._settings.weights)

    def _merged(self, chains: list[list[LocalSet]], shares: list[float]) -> Weights:
        """Return the new global model: what the server makes of the mean, and the mean of the buffers."""
        mean = self._engine.train_models(self.weights, chains, shares, self._sgd, self._loss())
        return mean | self._server_step({name: value for name, value in mean.items() if name not in self._buffers})

    def _server_step(self, mean: Weights) -> Weights:
        """Return the trained parameters of the new model, given their mean over what arrived."""
        return mean

    def _loss(self) -> Loss:
        """Return the loss of local training in a full round."""
        return CROSS_ENTROPY

    def local_set(self, participation: Participation, round_number: int) -> LocalSet:
        inputs, labels = captured_samples(self._source, participation)
        sensor = participation.sensor
        epochs = self._shuffles.of(sensor, round_number, len(labels), self._settings.epochs)
        return LocalSet(inputs, labels, epochs, self._shuffles.seed(sensor, round_number), sensor)

    def _is_classifier(self, name: str) -> bool:
        """Return whether the parameter of this name belongs to the classifier."""
        return is_classifier(name, self._model.classifier_name)


def shares(chains: Sequence[Chain], weights: Literal["uniform", "samples"]) -> list[float]:
    """Return the chains' shares in the server's mean: all the same, or by the samples or vectors they trained on."""
    if weights == "uniform":
        return [1.0] * len(chains)
    return [float(sum(len(local.labels) for local in chain)) for chain in chains]


def arrived_chains(record: RoundRecord) -> list[tuple[Participation, ...]]:
    return [chain for chain, arrived in zip(record.chains, record.arrived, strict=True) if arrived]


def is_finite(weights: Weights) -> bool:
    return all(bool(torch.isfinite(value).all()) for value in weights.values())
