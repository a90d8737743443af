"""FedProx: Li, Sahu, Zaheer, Sanjabi, Talwalkar, Smith, "Federated Optimization in Heterogeneous Networks", MLSys 2020.

FedAvg with a proximal term in the sensors' loss, (mu / 2) |w - w_start|^2, which keeps them near the model they were
sent. A step is w <- w - rate (gradient + mu (w - w_start)). A sensor has the model that the round started from in
memory, and does one multiply-add a parameter more in each step.
"""

from collections.abc import Mapping
from math import ceil
from typing import ClassVar, Literal

from hfedms_sim.scenario import ModelSpec, NonNegativeFloat
from hfedms_sim.strategies.costs import Costs, plain_costs
from hfedms_sim.strategies.fedavg import Averaging, AveragingSettings


class FedProxSettings(AveragingSettings):
    decisive: ClassVar[Mapping[str, tuple[float | str, ...]]] = {"learning_rate": (0.03, 0.1), "mu": (0.01, 0.1)}

    name: Literal["fedprox"] = "fedprox"
    mu: NonNegativeFloat = 0.1
    """Strength of the pull towards the model that the round started from."""


class FedProx(Averaging[FedProxSettings]):
    paper = "Li et al., Federated Optimization in Heterogeneous Networks, MLSys 2020"
    rule = "loss_k + (mu / 2) |w_k - w|^2;  w <- sum_k (n_k / n) w_k"
    Settings: ClassVar = FedProxSettings
    learner = "hfedms_sim.strategies.learners.fedprox:ProximalLearner"

    @classmethod
    def costs(cls, settings: FedProxSettings, model: ModelSpec) -> Costs:
        pull = ceil(model.parameters / settings.batch_size)
        return plain_costs(settings, model, extra_multiply_adds=pull, frozen_bytes=model.model_bytes)
