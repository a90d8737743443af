"""The federated algorithms, one file per paper. Planning a round needs no torch; learning from it does."""

from typing import TYPE_CHECKING, Any

from hfedms_sim.scenario import Scenario
from hfedms_sim.seeds import Draws
from hfedms_sim.strategies import fedavg, fedfusion, fedmmd, fedopt, fedprox, hfedms, ida, static
from hfedms_sim.strategies.base import Algorithm, LocalSizes, SensorIds, Strategy

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


def make_strategy(scenario: Scenario, sensors: SensorIds, local_sizes: LocalSizes) -> Strategy[Any]:
    """Return what plans the scenario's rounds.

    `sensors` are those that can take part; only a strategy that counts on their local sets asks for the sizes of these.
    """
    settings, model, draws = scenario.strategy, scenario.model_spec, Draws(scenario.seed)
    build = STRATEGIES[settings.name].planner
    if settings.has_initial_memory:
        remembered = dict(zip(sensors.tolist(), local_sizes(sensors).tolist(), strict=True))
        return build(settings, model, sensors, draws, remembered)
    return build(settings, model, sensors, draws)


def make_learner(scenario: Scenario, source: "SampleSource", engine: str = "generic", threads: int = 1) -> "Learner":
    """What learns from the rounds that the strategy plans. Loads torch."""
    from hfedms_sim.strategies.learners import make_learner

    return make_learner(scenario, source, engine, threads)


__all__ = ["STRATEGIES", "Algorithm", "Strategy", "make_learner", "make_strategy"]
