"""What learns from a strategy's rounds where that is not plain training and the mean. Importing it loads torch."""

from importlib import import_module
from typing import Any

from hfedms_sim.learning.engine import ENGINES
from hfedms_sim.learning.engine.compressing import CompressingEngine
from hfedms_sim.learning.feedback_learner import FeedbackLearner
from hfedms_sim.learning.learner import Learner, LearnerContext
from hfedms_sim.learning.samples import SampleSource, Shuffles
from hfedms_sim.scenario import LocalTraining, ModelSpec, Scenario
from hfedms_sim.seeds import Draws
from hfedms_sim.strategies.known_strategies import strategy_of


def make_learner(
    scenario: Scenario, model: ModelSpec, source: SampleSource, engine: str = "generic", threads: int = 1
) -> Learner:
    """Return what learns from the rounds that the scenario's strategy plans, before the first."""
    module, _, attribute = strategy_of(scenario.strategy).learner.partition(":")
    build: Any = getattr(import_module(module), attribute)
    settings, draws = scenario.strategy, Draws(scenario.seed)
    network, start = build.network(settings, model), build.start(settings, model, draws)
    context = LearnerContext(
        model, start, ENGINES[engine](network, threads), source, Shuffles(draws), network.buffer_names()
    )
    if settings.compression.is_off:
        return _built(build, settings, context)
    compressing = CompressingEngine(context.engine, settings, draws, context.buffers)
    return FeedbackLearner(_built(build, settings, context._replace(engine=compressing)), compressing.feedback)


def _built(build: Any, settings: LocalTraining, context: LearnerContext) -> Learner:
    learner: Learner = build(settings, context)
    return learner
