"""IDA's server: models near the mean of the round's models count more.

alpha_k = 1 / (|mean - w_k| + eps), normalised; the mean is the plain one, the norm l2 or l1 over all parameters
"""

from collections.abc import Sequence

import torch

from hfedms_sim.learning.engine import LocalSet, Norm, TrainedChains
from hfedms_sim.learning.learner import ChainLearner, LearnerContext, shares
from hfedms_sim.learning.networks import Weights, network_of
from hfedms_sim.strategies.ida import IdaSettings

EPSILON = 1e-8


def inverse_distance_mean(ends: TrainedChains, shares: Sequence[float], norm: Norm = "l2") -> Weights | None:
    """`shares` multiply the inverse distances."""
    return ends.mean_by_distance(lambda number, distance: shares[number] / (distance + EPSILON), norm)


class InverseDistanceLearner(ChainLearner):
    def __init__(self, settings: IdaSettings, context: LearnerContext) -> None:
        super().__init__(settings, context)
        self._variant = settings.variant
        self._norm = settings.norm

    def _merged(self, chains: list[list[LocalSet]], _: list[float]) -> Weights:
        """Return the weighed mean. Who captured nothing has no say: its unchanged model would be nearest the mean."""
        heard = [chain for chain in chains if chain]
        ends = self._engine.train_chains(self.weights, heard, self._sgd, self._loss())
        if self._variant == "intrac":
            factors = self._inverse_accuracies(ends, heard)
        else:
            factors = shares(heard, "samples" if self._variant == "fedavg" else "uniform")
        mean = inverse_distance_mean(ends, factors, self._norm)
        return self.weights if mean is None else mean

    def _inverse_accuracies(self, ends: TrainedChains, chains: list[list[LocalSet]]) -> list[float]:
        """1 / max(1 / F, accuracy) of each sensor's model on what it was trained on."""
        network, inverse = network_of(self._model).eval(), [0.0] * len(chains)
        for number, model in ends.models():
            network.load(model)
            with torch.no_grad():
                right = [(network(local.inputs).argmax(dim=1) == local.labels).float() for local in chains[number]]
            inverse[number] = 1 / max(1 / self._model.classes, float(torch.cat(right).mean()))
        return inverse
