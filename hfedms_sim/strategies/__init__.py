"""The federated algorithms, one file per paper. Planning a round needs no torch; learning from it does."""

from typing import TYPE_CHECKING, Any

from hfedms_sim.rounds import NetworkView, PlanContext
from hfedms_sim.scenario import LocalTraining, Scenario
from hfedms_sim.seeds import Draws
from hfedms_sim.strategies.base import ClassCounts, Factory, LocalSizes, SensorIds, Strategy
from hfedms_sim.strategies.costs import Costs, plain_costs
from hfedms_sim.strategies.fedavg import FedAvg
from hfedms_sim.strategies.fedcs import FedCS
from hfedms_sim.strategies.fedfusion import FedFusion
from hfedms_sim.strategies.fedmmd import FedMMD
from hfedms_sim.strategies.fedopt import FedAdagrad, FedAdam, FedYogi
from hfedms_sim.strategies.fedprox import FedProx
from hfedms_sim.strategies.hfedms import HFedMSD, HFedMSS
from hfedms_sim.strategies.ida import Ida
from hfedms_sim.strategies.known import (
    AnyStrategy,
    KnownSettings,
    KnownStrategies,
    name_of,
    path_of,
    require_sound,
    strategy_of,
)
from hfedms_sim.strategies.outside import code_digest, import_outside
from hfedms_sim.strategies.static import StaticGroups, StaticICG

if TYPE_CHECKING:
    from hfedms_sim.learning.learner import Learner
    from hfedms_sim.learning.samples import SampleSource

SHIPPED: dict[str, AnyStrategy] = {
    name_of(strategy): strategy
    for strategy in (
        FedAvg,
        FedProx,
        FedMMD,
        FedFusion,
        Ida,
        FedAdagrad,
        FedAdam,
        FedYogi,
        FedCS,
        StaticGroups,
        StaticICG,
        HFedMSS,
        HFedMSD,
    )
}
STRATEGIES = KnownStrategies(SHIPPED)
SETTINGS = KnownSettings(STRATEGIES)


def make_strategy(scenario: Scenario, sensors: SensorIds, local_sizes: LocalSizes) -> Strategy[Any, Any]:
    """Return what plans the scenario's rounds. `sensors` are those that can take part."""
    factory = Factory(scenario.model_spec, sensors, Draws(scenario.seed), local_sizes)
    return strategy_of(scenario.strategy)(scenario.strategy, factory)


def make_learner(scenario: Scenario, source: "SampleSource", engine: str = "generic", threads: int = 1) -> "Learner":
    """Return what learns from the rounds that the strategy plans. Loads torch."""
    from hfedms_sim.strategies.learners import make_learner

    return make_learner(strategy_of(scenario.strategy).learner, scenario, source, engine, threads)


__all__ = [
    "SETTINGS",
    "SHIPPED",
    "STRATEGIES",
    "ClassCounts",
    "Costs",
    "Factory",
    "LocalTraining",
    "NetworkView",
    "PlanContext",
    "Strategy",
    "code_digest",
    "import_outside",
    "make_learner",
    "make_strategy",
    "name_of",
    "path_of",
    "plain_costs",
    "require_sound",
    "strategy_of",
]
