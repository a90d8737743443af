"""FedProx's sensors: plain SGD that is pulled towards the model it was sent."""

from hfedms_sim.learning.learner import ChainLearner, Parts
from hfedms_sim.strategies.fedprox import FedProxSettings


class ProximalLearner(ChainLearner):
    def __init__(self, settings: FedProxSettings, parts: Parts) -> None:
        super().__init__(settings, parts)
        self._sgd = self._sgd._replace(pull=settings.mu)
