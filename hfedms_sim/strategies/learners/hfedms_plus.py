"""HFedMS-Plus's learning rule: HFedMS-D's without its memory, and with momentum at the server. When a cycle ends is the
plan's matter alone.

In full rounds, Delta being the change of the mean:

    m <- b m + Delta,   w <- w + m;   m starts at 0
"""

from hfedms_sim.learning.learner import LearnerContext, arrived_chains
from hfedms_sim.learning.networks import Weights
from hfedms_sim.learning.state import arrays_of, weights_under
from hfedms_sim.lineage import State
from hfedms_sim.rounds import RoundRecord
from hfedms_sim.strategies.hfedms_plus import HFedMSPlusSettings, Rule, dynamic_settings, momentum_of
from hfedms_sim.strategies.learners.hfedms import CalibratingLearner

_STEP = "step"


class PlusLearner(CalibratingLearner):
    def __init__(self, settings: HFedMSPlusSettings, context: LearnerContext) -> None:
        super().__init__(dynamic_settings(settings, Rule(groups=1, interval=2, scatter="unicast")), context)
        self._plus = settings
        self._momentum = 0.0  # of this round
        self._step: Weights = {}  # the server's last one

    def learn(self, record: RoundRecord) -> None:
        self._momentum = momentum_of(self._plus, len(arrived_chains(record)))
        super().learn(record)

    def state(self) -> State:
        return super().state() | arrays_of(_STEP, self._step)

    def restore(self, state: State) -> None:
        super().restore(state)
        self._step = weights_under(_STEP, state)

    def _server_step(self, mean: Weights) -> Weights:
        again = {name: self._momentum * step for name, step in self._step.items()}
        new = {name: value + again[name] if again else value for name, value in mean.items()}
        self._step = {name: value - self.weights[name] for name, value in new.items()}
        return new
