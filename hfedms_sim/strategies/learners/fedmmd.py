"""FedMMD's sensors: a loss of two streams."""

from hfedms_sim.learning.engine import Loss
from hfedms_sim.learning.learner import ChainLearner, LearnerContext
from hfedms_sim.learning.mmd import two_streams
from hfedms_sim.strategies.fedmmd import FedMMDSettings


class TwoStreamLearner(ChainLearner):
    def __init__(self, settings: FedMMDSettings, context: LearnerContext) -> None:
        super().__init__(settings, context)
        self._weight = settings.discrepancy_weight

    def _loss(self) -> Loss:
        return two_streams(self._weight) if self._weight else super()._loss()
