"""FedBuff's server: one step by the mean of the changes that it has collected, each scaled by how stale it is."""

from collections.abc import Sequence

from hfedms_sim.learning.learner import LearnerContext
from hfedms_sim.learning.merging import RunningMean
from hfedms_sim.learning.networks import Weights
from hfedms_sim.strategies.fedbuff import FedBuffSettings
from hfedms_sim.strategies.learners.windows import Arrival, WindowLearner, by_version


class BufferedLearner(WindowLearner):
    def __init__(self, settings: FedBuffSettings, context: LearnerContext) -> None:
        super().__init__(settings, context)
        self._rate = settings.server_learning_rate

    def _updated(self, arrivals: Sequence[Arrival]) -> Weights:
        """Step by the changes; buffers, which are no sums of steps, are averaged as they arrive."""
        total = sum(each.share for each in arrivals)
        if not total:
            return self.weights
        updated = {name: value.clone() for name, value in self.weights.items()}
        buffers = RunningMean()
        for started, same in by_version(arrivals).items():
            start, mean = self._versions[started], self._trained_mean(same)
            share = sum(each.share for each in same)
            factor = self._rate * self._law(same[0].staleness) * share / total
            for name in updated.keys() - self._buffers:
                updated[name].add_(mean[name] - start[name], alpha=factor)
            buffers.add({name: mean[name] for name in self._buffers}, share)
        return updated | (buffers.result() or {})
