"""The server of FedAdagrad, FedAdam and FedYogi: an adaptive optimiser whose moments are part of the state."""

from hfedms_sim.learning.learner import ChainLearner, LearnerContext
from hfedms_sim.learning.networks import Weights
from hfedms_sim.learning.server_optimisers import Rule, ServerOptimiser
from hfedms_sim.lineage import State
from hfedms_sim.strategies.fedopt import FedAdagradSettings, FedAdamSettings, FedYogiSettings


class AdaptiveServerLearner(ChainLearner):
    def __init__(
        self, settings: FedAdagradSettings | FedAdamSettings | FedYogiSettings, context: LearnerContext
    ) -> None:
        super().__init__(settings, context)
        rate, tau = settings.server_learning_rate, settings.tau
        if settings.name == "fedadagrad":
            self._optimiser = ServerOptimiser("adagrad", rate, tau)
        else:
            rule: Rule = "yogi" if settings.name == "fedyogi" else "adam"
            self._optimiser = ServerOptimiser(rule, rate, tau, settings.beta1, settings.beta2)

    def state(self) -> State:
        return super().state() | self._optimiser.state()

    def restore(self, state: State) -> None:
        super().restore(state)
        self._optimiser.restore(state)

    def _server_step(self, mean: Weights) -> Weights:
        return self._optimiser.step(self.weights, mean)
