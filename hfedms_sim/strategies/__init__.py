"""The federated algorithms, one file per paper. Planning a round needs no torch; learning from it does."""

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from hfedms_sim.scenario import Scenario
from hfedms_sim.seeds import Draws
from hfedms_sim.strategies.base import SensorIds, Strategy
from hfedms_sim.strategies.fedavg import FedAvg
from hfedms_sim.strategies.hfedms import HFedMSDynamic, HFedMSStatic

if TYPE_CHECKING:
    from hfedms_sim.learning.learner import Learner
    from hfedms_sim.learning.samples import SampleSource

STRATEGIES: dict[str, Callable[..., Strategy[Any]]] = {
    "fedavg": FedAvg,
    "hfedms-s": HFedMSStatic,
    "hfedms-d": HFedMSDynamic,
}


def make_strategy(scenario: Scenario, sensors: SensorIds) -> Strategy[Any]:
    """`sensors` are those that can take part."""
    build = STRATEGIES[scenario.strategy.name]
    return build(scenario.strategy, scenario.model_spec, sensors, Draws(scenario.seed))


def make_learner(scenario: Scenario, source: "SampleSource") -> "Learner":
    """What learns from the rounds that the strategy plans."""
    from hfedms_sim.strategies.learners import make_learner  # here: it loads torch

    return make_learner(scenario, source)


__all__ = ["STRATEGIES", "Strategy", "make_learner", "make_strategy"]
