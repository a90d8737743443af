"""FedBuff: Nguyen, Malik, Zhan, Yousefpour, Rabbat, Malek, Huba, "Federated Learning with Buffered Asynchronous
Aggregation", AISTATS 2022.

Sensors train and arrive on their own (windows.py). The server collects B updates, each the change Delta_k of a sensor's
model from the one it started from, and then steps: w <- w + eta_g mean_k s(staleness_k) Delta_k, with s = 1 / sqrt(1 +
staleness). With as many under way as are collected, and radios that are all alike, that is FedAvg.
"""

from collections.abc import Mapping
from typing import ClassVar, Literal

from hfedms_sim.scenario import PositiveFloat, PositiveInt
from hfedms_sim.strategies.windows import Windowed, WindowSettings


class FedBuffSettings(WindowSettings):
    decisive: ClassVar[Mapping[str, tuple[float | str, ...]]] = {"learning_rate": (0.03, 0.1), "buffer": (5, 10, 20)}
    plan_keys: ClassVar[frozenset[str]] = WindowSettings.plan_keys | {"buffer"}

    name: Literal["fedbuff"] = "fedbuff"
    buffer: PositiveInt = 10
    """B: updates that the server collects before it makes a new model."""
    server_learning_rate: PositiveFloat = 1.0
    """eta_g: how far the server follows their mean."""


class FedBuff(Windowed[FedBuffSettings]):
    paper = "Nguyen et al., Federated Learning with Buffered Asynchronous Aggregation, AISTATS 2022"
    rule = "after B arrivals: w <- w + rate mean_k s(staleness_k) (w_k - w_start_k)"
    Settings: ClassVar = FedBuffSettings
    learner = "hfedms_sim.strategies.learners.fedbuff:BufferedLearner"

    @classmethod
    def awaited(cls, settings: FedBuffSettings) -> int:
        return settings.buffer
