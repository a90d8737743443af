"""HFedMS-Plus's learning rule: HFedMS-D's without its memory, and with a server that goes by the length of chains. When
a cycle ends is the plan's matter alone.

In full rounds, Delta being the change of the mean:

    long chains     m <- b m + Delta,   w <- w + m;   m, the server's last step, starts at 0
    short chains    FedAdam's step (fedopt.py)

The sensors' rate is r / (1 + n / N), n being the sensors that the model has gone through one after the other in the
full rounds before: the sum of the mean lengths of the chains that arrived. That, and how long chains are, goes by the
sensors that have handed over, so that it is a matter of the record, not of the radio.
"""

from statistics import fmean

import numpy as np

from hfedms_sim.learning.learner import LearnerContext, arrived_chains
from hfedms_sim.learning.networks import Weights
from hfedms_sim.learning.state import arrays_of, weights_under
from hfedms_sim.lineage import State
from hfedms_sim.rounds import RoundRecord
from hfedms_sim.strategies.fedopt import FedAdamSettings
from hfedms_sim.strategies.hfedms_plus import (
    HFedMSPlusSettings,
    Rule,
    dynamic_settings,
    has_adaptive_server,
    momentum_of,
    rate_after,
)
from hfedms_sim.strategies.learners.fedopt import ServerOptimiser
from hfedms_sim.strategies.learners.hfedms import CalibratingLearner

_STEP, _PASSED = "step", "passed"


class PlusLearner(CalibratingLearner):
    def __init__(self, settings: HFedMSPlusSettings, context: LearnerContext) -> None:
        super().__init__(dynamic_settings(settings, Rule(groups=1, interval=2, scatter="unicast")), context)
        self._plus = settings
        adam = FedAdamSettings()
        self._adam = ServerOptimiser("adam", settings.server_learning_rate, adam.tau, adam.beta1, adam.beta2)
        self._arrived: list[int] = []  # how long the chains are that have arrived in this round
        self._passed = 0.0  # sensors that the model has gone through one after the other
        self._step: Weights = {}  # the server's last one

    def learn(self, record: RoundRecord) -> None:
        self._arrived = [len(chain) for chain in arrived_chains(record)]
        self._sgd = self._sgd._replace(learning_rate=rate_after(self._plus, self._passed))
        super().learn(record)
        if record.phase == "full" and self._arrived:
            self._passed += fmean(self._arrived)

    def state(self) -> State:
        own = arrays_of(_STEP, self._step) | self._adam.state()
        return super().state() | own | {_PASSED: np.array([self._passed])}

    def restore(self, state: State) -> None:
        super().restore(state)
        self._passed = state[_PASSED].item()
        self._step = weights_under(_STEP, state)
        self._adam.restore(state)

    def _server_step(self, mean: Weights) -> Weights:
        if has_adaptive_server(self._plus, fmean(self._arrived)):
            new = self._adam.step(self.weights, mean)
        else:
            new = self._with_momentum(mean)
        self._step = {name: value - self.weights[name] for name, value in new.items()}
        return new

    def _with_momentum(self, mean: Weights) -> Weights:
        momentum = momentum_of(self._plus, len(self._arrived))
        return {
            name: value + momentum * self._step[name] if name in self._step else value for name, value in mean.items()
        }
