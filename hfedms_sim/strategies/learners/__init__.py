"""What learns from a strategy's rounds where that is not plain training and the mean. Importing it loads torch."""

from importlib import import_module
from typing import Any

from hfedms_sim.learning.engine import ENGINES
from hfedms_sim.learning.learner import Learner, Parts
from hfedms_sim.learning.samples import SampleSource, Shuffles
from hfedms_sim.scenario import Scenario
from hfedms_sim.seeds import Draws


def make_learner(path: str, scenario: Scenario, source: SampleSource, engine: str, threads: int) -> Learner:
    """Return the learner of the class at `path` (MODULE:CLASS), before the first round."""
    module, _, attribute = path.partition(":")
    build: Any = getattr(import_module(module), attribute)
    settings, model, draws = scenario.strategy, scenario.model_spec, Draws(scenario.seed)
    network, start = build.network(settings, model), build.start(settings, model, draws)
    parts = Parts(model, start, ENGINES[engine](network, threads), source, Shuffles(draws))
    learner: Learner = build(settings, parts)
    return learner
