"""The federated algorithms, one file per paper. Each plans rounds; the learning rules join them there."""

from collections.abc import Callable
from typing import Any

from hfedms_sim.scenario import Scenario
from hfedms_sim.seeds import Draws
from hfedms_sim.strategies.base import SensorIds, Strategy
from hfedms_sim.strategies.fedavg import FedAvg
from hfedms_sim.strategies.hfedms import HFedMSDynamic, HFedMSStatic

STRATEGIES: dict[str, Callable[..., Strategy[Any]]] = {
    "fedavg": FedAvg,
    "hfedms-s": HFedMSStatic,
    "hfedms-d": HFedMSDynamic,
}


def make_strategy(scenario: Scenario, sensors: SensorIds) -> Strategy[Any]:
    """`sensors` are those that can take part."""
    build = STRATEGIES[scenario.strategy.name]
    return build(scenario.strategy, scenario.model_spec, sensors, Draws(scenario.seed))


__all__ = ["STRATEGIES", "Strategy", "make_strategy"]
