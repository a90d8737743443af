"""FedMMD: Yao, Huang, Wu, Zhang, Sun, "Two-Stream Federated Learning: Reduce the Communication Costs", VCIP 2018.

A sensor has two streams: the model it trains and the one it was sent, frozen. Its loss is the cross-entropy of the
first and lambda times the squared maximum mean discrepancy between the outputs of both on the same mini-batch
(learning/mmd.py). Only the trained model is sent back, and averaged as in FedAvg. One more forward pass a sample.
"""

from typing import TYPE_CHECKING

from hfedms_sim.scenario import Scenario
from hfedms_sim.strategies.base import Algorithm
from hfedms_sim.strategies.fedavg import FedAvg

if TYPE_CHECKING:
    from hfedms_sim.learning.learner import Learner
    from hfedms_sim.learning.samples import SampleSource


def _learner(scenario: Scenario, source: "SampleSource") -> "Learner":
    from hfedms_sim.learning.rivals import TwoStreamLearner
    from hfedms_sim.strategies.parts import learner_parts

    return TwoStreamLearner(scenario.strategy, learner_parts(scenario, source))


ALGORITHM = Algorithm(
    paper="Yao et al., Two-Stream Federated Learning: Reduce the Communication Costs, VCIP 2018",
    rule="loss_k + lambda MMD^2(logits of w, logits of w_k);  w <- sum_k (n_k / n) w_k",
    planner=FedAvg,
    learner=_learner,
)
