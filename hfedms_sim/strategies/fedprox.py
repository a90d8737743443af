"""FedProx: Li, Sahu, Zaheer, Sanjabi, Talwalkar, Smith, "Federated Optimization in Heterogeneous Networks", MLSys 2020.

FedAvg with a proximal term in the sensors' loss, (mu / 2) |w - w_start|^2, which keeps them near the model they were
sent. A step is w <- w - rate (gradient + mu (w - w_start)).
"""

from typing import TYPE_CHECKING

from hfedms_sim.scenario import FedProxSettings, Scenario
from hfedms_sim.strategies.base import Algorithm
from hfedms_sim.strategies.fedavg import FedAvg

if TYPE_CHECKING:
    from hfedms_sim.learning.learner import Learner
    from hfedms_sim.learning.samples import SampleSource


def _learner(scenario: Scenario, source: "SampleSource") -> "Learner":
    from hfedms_sim.learning.rivals import ProximalLearner
    from hfedms_sim.strategies.parts import learner_parts

    assert isinstance(scenario.strategy, FedProxSettings)
    return ProximalLearner(scenario.strategy, learner_parts(scenario, source))


ALGORITHM = Algorithm(
    paper="Li et al., Federated Optimization in Heterogeneous Networks, MLSys 2020",
    rule="loss_k + (mu / 2) |w_k - w|^2;  w <- sum_k (n_k / n) w_k",
    planner=FedAvg,
    learner=_learner,
)
