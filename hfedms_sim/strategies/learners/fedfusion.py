"""FedFusion: a network with a fusion of its own, and a server that moves gamma slowly."""

from hfedms_sim.learning.engine import LocalSet
from hfedms_sim.learning.fusion import FusionNetwork, fusion_weights, merged_gamma
from hfedms_sim.learning.learner import ChainLearner, LearnerContext
from hfedms_sim.learning.networks import Network, Weights
from hfedms_sim.scenario import LocalTraining, ModelSpec
from hfedms_sim.seeds import Draws
from hfedms_sim.strategies.fedfusion import FedFusionSettings


class FusionLearner(ChainLearner):
    def __init__(self, settings: FedFusionSettings, context: LearnerContext) -> None:
        super().__init__(settings, context)
        self._operator = settings.operator

    @classmethod
    def network(cls, settings: LocalTraining, model: ModelSpec) -> Network:
        assert isinstance(settings, FedFusionSettings)
        return FusionNetwork(model, settings.operator)

    @classmethod
    def start(cls, settings: LocalTraining, model: ModelSpec, draws: Draws) -> Weights:
        assert isinstance(settings, FedFusionSettings)
        return super().start(settings, model, draws) | fusion_weights(model, settings.operator, draws)

    def _merged(self, chains: list[list[LocalSet]], shares: list[float]) -> Weights:
        merged = super()._merged(chains, shares)
        if self._operator == "conv":
            return merged
        return merged | {"gamma": merged_gamma(self.weights["gamma"], merged["gamma"])}
