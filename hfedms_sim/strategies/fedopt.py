"""FedAdagrad, FedAdam, FedYogi: Reddi, Charles, Zaheer, Garrett, Rush, Konecny, Kumar, McMahan, "Adaptive Federated
Optimization", ICLR 2021.

The sensors do what FedAvg's do. The server takes the mean change of the round, Delta = sum_k (n_k / n) (w_k - w), as
a pseudo-gradient and steps with an adaptive optimiser (learners/fedopt.py). Server rates and tau are the
values that the authors found best for EMNIST character recognition; b2 = 0.99 is that of their algorithm.
"""

from collections.abc import Mapping
from typing import Annotated, ClassVar, Literal

from pydantic import Field

from hfedms_sim.scenario import PositiveFloat
from hfedms_sim.strategies.fedavg import Averaging, AveragingSettings, Own

_PAPER = "Reddi et al., Adaptive Federated Optimization, ICLR 2021"
_RULE = "D = sum_k (n_k / n) (w_k - w);  {};  w <- w + rate m / (sqrt(v) + tau)"


class ServerOptimiserSettings(AveragingSettings):
    """Adaptive federated optimisation: the mean change of a round is a pseudo-gradient for the server's optimiser."""

    server_learning_rate: PositiveFloat
    """The rate of the server's optimiser."""
    tau: PositiveFloat
    """Degree of adaptivity: added to the root of the second moment, which starts at its square."""


class FedAdagradSettings(ServerOptimiserSettings):
    decisive: ClassVar[Mapping[str, tuple[float | str, ...]]] = {
        "learning_rate": (0.03, 0.1),
        "server_learning_rate": (0.03, 0.1, 0.3),
    }

    name: Literal["fedadagrad"] = "fedadagrad"
    server_learning_rate: PositiveFloat = 0.1
    """The rate of the server's optimiser."""
    tau: PositiveFloat = 0.01
    """Degree of adaptivity: added to the root of the second moment, which starts at its square."""


class MomentSettings(ServerOptimiserSettings):
    decisive: ClassVar[Mapping[str, tuple[float | str, ...]]] = {
        "learning_rate": (0.03, 0.1),
        "server_learning_rate": (0.003, 0.01, 0.03),
    }

    server_learning_rate: PositiveFloat = 10**-2.5
    """The rate of the server's optimiser."""
    tau: PositiveFloat = 1e-4
    """Degree of adaptivity: added to the root of the second moment, which starts at its square."""
    beta1: Annotated[float, Field(ge=0, lt=1)] = 0.9
    """How much of the first moment stays."""
    beta2: Annotated[float, Field(ge=0, lt=1)] = 0.99
    """How much of the second moment stays."""


class FedAdamSettings(MomentSettings):
    name: Literal["fedadam"] = "fedadam"


class FedYogiSettings(MomentSettings):
    name: Literal["fedyogi"] = "fedyogi"


class _ServerOptimised(Averaging[Own]):
    paper = _PAPER
    learner = "hfedms_sim.strategies.learners.fedopt:AdaptiveServerLearner"


class FedAdagrad(_ServerOptimised[FedAdagradSettings]):
    rule = _RULE.format("m = D, v <- v + D^2")
    Settings: ClassVar = FedAdagradSettings


class FedAdam(_ServerOptimised[FedAdamSettings]):
    rule = _RULE.format("m <- b1 m + (1 - b1) D, v <- b2 v + (1 - b2) D^2")
    Settings: ClassVar = FedAdamSettings


class FedYogi(_ServerOptimised[FedYogiSettings]):
    rule = _RULE.format("m <- b1 m + (1 - b1) D, v <- v - (1 - b2) D^2 sign(v - D^2)")
    Settings: ClassVar = FedYogiSettings
