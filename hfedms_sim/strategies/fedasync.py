"""FedAsync: Xie, Koyejo, Gupta, "Asynchronous Federated Optimization", 2019 (arXiv 1903.03934).

Sensors train and arrive on their own (windows.py), and the server makes a new model of every arrival: w <- (1 - a) w +
a w_k with a = mixing x s(staleness). Left out: the paper also draws sensors back to the model they were sent, as
FedProx does.
"""

from typing import Any, ClassVar, Literal

from hfedms_sim.scenario import Fraction
from hfedms_sim.strategies.windows import Windowed, WindowSettings


class MixingSettings(WindowSettings):
    """Every arrival is mixed into the server's model at once."""

    mixing: Fraction = 0.6
    """What an arrival that is not stale counts in the new model."""

    def learning_settings(self) -> dict[str, Any]:
        """Return the settings that decide what is learnt; the weights of a mean do not, where there is none."""
        return {key: value for key, value in super().learning_settings().items() if key != "weights"}


class FedAsyncSettings(MixingSettings):
    name: Literal["fedasync"] = "fedasync"


class FedAsync(Windowed[FedAsyncSettings]):
    paper = "Xie, Koyejo, Gupta, Asynchronous Federated Optimization, 2019"
    rule = "at each arrival: w <- (1 - a) w + a w_k with a = mixing s(staleness_k)"
    Settings: ClassVar = FedAsyncSettings
    learner = "hfedms_sim.strategies.learners.fedasync:MixingLearner"

    @classmethod
    def awaited(cls, settings: FedAsyncSettings) -> int:
        return 1
