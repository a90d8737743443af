"""The federated algorithms, one file per paper. Planning a round needs no torch; `learners`, who learn from it, do."""

from collections.abc import Callable
from typing import Any

from hfedms_sim.known_parts import KnownSettings, path_of
from hfedms_sim.rounds import NetworkView, PlanContext
from hfedms_sim.scenario import LocalTraining, ModelSpec, Scenario
from hfedms_sim.seeds import Draws
from hfedms_sim.strategies.base import ClassCounts, Factory, LocalSizes, SensorIds, Strategy
from hfedms_sim.strategies.costs import Costs, plain_costs
from hfedms_sim.strategies.fedasync import FedAsync
from hfedms_sim.strategies.fedavg import FedAvg
from hfedms_sim.strategies.fedbuff import FedBuff
from hfedms_sim.strategies.fedcs import FedCS
from hfedms_sim.strategies.fedfusion import FedFusion
from hfedms_sim.strategies.fedmmd import FedMMD
from hfedms_sim.strategies.fedopt import FedAdagrad, FedAdam, FedYogi
from hfedms_sim.strategies.fedprox import FedProx
from hfedms_sim.strategies.hfedms import HFedMSD, HFedMSS
from hfedms_sim.strategies.hfedms_async import HFedMSAsync
from hfedms_sim.strategies.hfedms_plus import HFedMSPlus
from hfedms_sim.strategies.hierfavg import HierFAVG
from hfedms_sim.strategies.ida import Ida
from hfedms_sim.strategies.known_strategies import (
    KIND,
    AnyStrategy,
    KnownStrategies,
    code_digest,
    name_of,
    require_sound,
    strategy_of,
)
from hfedms_sim.strategies.static import StaticGroups, StaticICG
from hfedms_sim.strategies.workload import Workload

STRATEGIES = KnownStrategies(
    KIND,
    (
        FedAvg,
        FedProx,
        FedMMD,
        FedFusion,
        Ida,
        FedAdagrad,
        FedAdam,
        FedYogi,
        FedCS,
        FedAsync,
        FedBuff,
        HierFAVG,
        StaticGroups,
        StaticICG,
        HFedMSS,
        HFedMSD,
        HFedMSAsync,
        HFedMSPlus,
    ),
)
SHIPPED = STRATEGIES.shipped
SETTINGS: KnownSettings[LocalTraining] = KnownSettings(STRATEGIES)


def make_strategy(
    scenario: Scenario,
    model: ModelSpec,
    sensors: SensorIds,
    local_sizes: LocalSizes,
    network: Callable[[], NetworkView],
) -> Strategy[Any, Any]:
    """Return what plans the scenario's rounds. `sensors` are those that can take part."""
    factory = Factory(model, sensors, Draws(scenario.seed), local_sizes, network)
    return strategy_of(scenario.strategy)(scenario.strategy, factory)


__all__ = [
    "SETTINGS",
    "SHIPPED",
    "STRATEGIES",
    "AnyStrategy",
    "ClassCounts",
    "Costs",
    "Factory",
    "LocalTraining",
    "NetworkView",
    "PlanContext",
    "Strategy",
    "Workload",
    "code_digest",
    "make_strategy",
    "name_of",
    "path_of",
    "plain_costs",
    "require_sound",
    "strategy_of",
]
