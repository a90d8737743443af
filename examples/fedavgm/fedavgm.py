"""FedAvgM: Hsu, Qi, Brown, "Measuring the Effects of Non-Identical Data Distribution for Federated Visual
Classification", arXiv:1909.06335, 2019.

The sensors do what FedAvg's do. The server remembers the direction of earlier rounds: with the mean change of a round,
D = sum_k (n_k / n) (w_k - w), it keeps v <- b v + D and moves by rate v. On the clock nothing differs from FedAvg.
"""

from typing import Annotated, ClassVar, Literal

from pydantic import Field

from hfedms_sim.strategies.fedavg import Averaging, AveragingSettings


class FedAvgMSettings(AveragingSettings):
    name: Literal["fedavgm"] = "fedavgm"
    momentum: Annotated[float, Field(ge=0, lt=1)] = 0.9
    """b: how much of the direction of earlier rounds stays."""
    server_learning_rate: Annotated[float, Field(gt=0)] = 1.0
    """How far the server goes in that direction."""


class FedAvgM(Averaging[FedAvgMSettings]):
    paper = "Hsu et al., Measuring the Effects of Non-Identical Data Distribution, arXiv:1909.06335, 2019"
    rule = "D = sum_k (n_k / n) (w_k - w);  v <- b v + D;  w <- w + rate v"
    Settings: ClassVar = FedAvgMSettings
    learner = "fedavgm_learner:MomentumLearner"
