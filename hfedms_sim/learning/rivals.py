"""Learning rules that differ from FedAvg's in the sensors' loss or in the server's mean. Their papers: strategies/."""

import torch

from hfedms_sim.learning.engine import Ends, LocalSet, Loss
from hfedms_sim.learning.fusion import merged_gamma
from hfedms_sim.learning.inverse_distance import inverse_distance_mean
from hfedms_sim.learning.learner import ChainLearner, Parts, shares
from hfedms_sim.learning.mmd import two_streams
from hfedms_sim.learning.networks import Network, Weights
from hfedms_sim.learning.server_optimisers import Rule, ServerOptimiser
from hfedms_sim.lineage import State
from hfedms_sim.scenario import (
    CLASSES,
    FedFusionSettings,
    FedProxSettings,
    FedYogiSettings,
    IdaSettings,
    LocalTraining,
    MomentSettings,
    ServerOptimiserSettings,
)


class ProximalLearner(ChainLearner):
    def __init__(self, settings: FedProxSettings, parts: Parts) -> None:
        super().__init__(settings, parts)
        self._sgd = self._sgd._replace(pull=settings.mu)


class TwoStreamLearner(ChainLearner):
    def __init__(self, settings: LocalTraining, parts: Parts) -> None:
        super().__init__(settings, parts)
        self._weight = float(getattr(settings, "lambda"))

    def _loss(self) -> Loss:
        return two_streams(self._weight) if self._weight else super()._loss()


class FusionLearner(ChainLearner):
    def __init__(self, settings: FedFusionSettings, parts: Parts) -> None:
        super().__init__(settings, parts)
        self._operator = settings.operator

    def _merged(self, chains: list[list[LocalSet]], shares: list[float]) -> Weights:
        merged = super()._merged(chains, shares)
        if self._operator == "conv":
            return merged
        return merged | {"gamma": merged_gamma(self.weights["gamma"], merged["gamma"])}


class AdaptiveServerLearner(ChainLearner):
    def __init__(self, settings: ServerOptimiserSettings, parts: Parts) -> None:
        super().__init__(settings, parts)
        rate, tau = settings.server_learning_rate, settings.tau
        if isinstance(settings, MomentSettings):
            rule: Rule = "yogi" if isinstance(settings, FedYogiSettings) else "adam"
            self._optimiser = ServerOptimiser(rule, rate, tau, settings.beta1, settings.beta2)
        else:
            self._optimiser = ServerOptimiser("adagrad", rate, tau)

    def state(self) -> State:
        return super().state() | self._optimiser.state()

    def restore(self, state: State) -> None:
        super().restore(state)
        self._optimiser.restore(state)

    def _merged(self, chains: list[list[LocalSet]], shares: list[float]) -> Weights:
        mean = super()._merged(chains, shares)
        return self._optimiser.step(self.weights, mean)


class InverseDistanceLearner(ChainLearner):
    def __init__(self, settings: IdaSettings, parts: Parts) -> None:
        super().__init__(settings, parts)
        self._variant = settings.variant
        self._norm = settings.norm

    def _merged(self, chains: list[list[LocalSet]], _: list[float]) -> Weights:
        """Who captured nothing has no say: its unchanged model would be nearest the mean."""
        heard = [chain for chain in chains if chain]
        ends = self._engine.ends(self.weights, heard, self._sgd, self._loss())
        if self._variant == "intrac":
            factors = self._inverse_accuracies(ends, heard)
        else:
            factors = shares(heard, "samples" if self._variant == "fedavg" else "uniform")
        mean = inverse_distance_mean(ends, factors, self._norm)
        return self.weights if mean is None else mean

    def _inverse_accuracies(self, ends: Ends, chains: list[list[LocalSet]]) -> list[float]:
        """1 / max(1 / F, accuracy) of each sensor's model on what it was trained on."""
        network, inverse = Network(self._model), [0.0] * len(chains)
        for number, model in ends.each():
            network.load(model)
            with torch.no_grad():
                right = [(network(local.inputs).argmax(dim=1) == local.labels).float() for local in chains[number]]
            inverse[number] = 1 / max(1 / CLASSES, float(torch.cat(right).mean()))
        return inverse
