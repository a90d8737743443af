"""FedProx's sensors: plain SGD that is pulled towards the model it was sent."""

from hfedms_sim.learning.learner import ChainLearner, LearnerContext
from hfedms_sim.strategies.fedprox import FedProxSettings


class ProximalLearner(ChainLearner):
    def __init__(self, settings: FedProxSettings, context: LearnerContext) -> None:
        super().__init__(settings, context)
        self._sgd = self._sgd._replace(proximal=settings.mu)
