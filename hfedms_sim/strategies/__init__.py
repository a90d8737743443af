"""The federated algorithms, one file per paper. Planning a round needs no torch; learning from it does."""

from typing import TYPE_CHECKING, Any

from hfedms_sim.scenario import Scenario
from hfedms_sim.seeds import Draws
from hfedms_sim.strategies import fedavg, fedfusion, fedmmd, fedopt, fedprox, hfedms, ida, static
from hfedms_sim.strategies.base import Algorithm, SensorIds, Strategy

if TYPE_CHECKING:
    from hfedms_sim.learning.learner import Learner
    from hfedms_sim.learning.samples import SampleSource

STRATEGIES: dict[str, Algorithm] = {
    "fedavg": fedavg.ALGORITHM,
    "fedprox": fedprox.ALGORITHM,
    "fedmmd": fedmmd.ALGORITHM,
    "fedfusion": fedfusion.ALGORITHM,
    "ida": ida.ALGORITHM,
    "fedadagrad": fedopt.FEDADAGRAD,
    "fedadam": fedopt.FEDADAM,
    "fedyogi": fedopt.FEDYOGI,
    "static-groups": static.STATIC_GROUPS,
    "static-icg": static.STATIC_ICG,
    "hfedms-s": hfedms.STATIC,
    "hfedms-d": hfedms.DYNAMIC,
}


def make_strategy(scenario: Scenario, sensors: SensorIds) -> Strategy[Any]:
    """`sensors` are those that can take part."""
    build = STRATEGIES[scenario.strategy.name].planner
    return build(scenario.strategy, scenario.model_spec, sensors, Draws(scenario.seed))


def make_learner(scenario: Scenario, source: "SampleSource", engine: str = "generic", threads: int = 1) -> "Learner":
    """What learns from the rounds that the strategy plans. Loads torch."""
    from hfedms_sim.strategies.learners import make_learner

    return make_learner(scenario, source, engine, threads)


__all__ = ["STRATEGIES", "Algorithm", "Strategy", "make_learner", "make_strategy"]
