"""FedAsync's server: every arrival is mixed into the model at once, the less the staler it is."""

from collections.abc import Sequence

from hfedms_sim.learning.learner import LearnerContext
from hfedms_sim.learning.networks import Weights
from hfedms_sim.strategies.fedasync import MixingSettings
from hfedms_sim.strategies.learners.windows import Arrival, WindowLearner


class MixingLearner(WindowLearner):
    def __init__(self, settings: MixingSettings, context: LearnerContext) -> None:
        super().__init__(settings, context)
        self._mixing = settings.mixing

    def _updated(self, arrivals: Sequence[Arrival]) -> Weights:
        """Mix in what was trained: an older model that came back as it was says nothing."""
        weights = self.weights
        for arrival in (each for each in arrivals if each.chain):
            share = self._mixing * self._law(arrival.staleness)
            end = self._trained_mean([arrival._replace(share=1.0)])
            weights = {name: value + share * (end[name] - value) for name, value in weights.items()}
        return weights
