"""Which learning rule a strategy has. Importing it loads torch."""

from collections.abc import Callable
from typing import Any

from hfedms_sim.learning.calibration import CalibratingLearner
from hfedms_sim.learning.engine import ENGINES
from hfedms_sim.learning.fusion import FusionNetwork, fusion_weights
from hfedms_sim.learning.learner import ChainLearner, Learner, Parts
from hfedms_sim.learning.networks import Network, initial_weights
from hfedms_sim.learning.rivals import (
    AdaptiveServerLearner,
    FusionLearner,
    InverseDistanceLearner,
    ProximalLearner,
    TwoStreamLearner,
)
from hfedms_sim.learning.samples import SampleSource, Shuffles
from hfedms_sim.scenario import FedFusionSettings, Scenario
from hfedms_sim.seeds import Draws

_RULES: dict[str, Callable[[Any, Parts], Learner]] = {
    "fedprox": ProximalLearner,
    "fedmmd": TwoStreamLearner,
    "fedfusion": FusionLearner,
    "ida": InverseDistanceLearner,
    "fedadagrad": AdaptiveServerLearner,
    "fedadam": AdaptiveServerLearner,
    "fedyogi": AdaptiveServerLearner,
    "hfedms-d": CalibratingLearner,
}
"""Of those whose rule is not plain SGD in chains and the mean of their ends."""


def make_learner(scenario: Scenario, source: SampleSource, engine: str, threads: int) -> Learner:
    settings, model, draws = scenario.strategy, scenario.model_spec, Draws(scenario.seed)
    network, start = Network(model), initial_weights(model, draws)
    if isinstance(settings, FedFusionSettings):
        network = FusionNetwork(model, settings.operator)
        start |= fusion_weights(model, settings.operator, draws)
    parts = Parts(model, start, ENGINES[engine](network, threads), source, Shuffles(draws))
    return _RULES.get(settings.name, ChainLearner)(settings, parts)
