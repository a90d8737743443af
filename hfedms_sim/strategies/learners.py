"""Which learning rule a strategy has. Importing it loads torch."""

from hfedms_sim.learning.calibration import CalibratingLearner
from hfedms_sim.learning.engine import GenericEngine
from hfedms_sim.learning.learner import ChainLearner, Learner
from hfedms_sim.learning.networks import initial_weights
from hfedms_sim.learning.samples import SampleSource, Shuffles
from hfedms_sim.scenario import HFedMSDynamicSettings, Scenario
from hfedms_sim.seeds import Draws


def make_learner(scenario: Scenario, source: SampleSource) -> Learner:
    settings, model, draws = scenario.strategy, scenario.model_spec, Draws(scenario.seed)
    start, engine, shuffles = initial_weights(model, draws), GenericEngine(model), Shuffles(draws)
    if isinstance(settings, HFedMSDynamicSettings):
        return CalibratingLearner(settings, model, start, engine, source, shuffles)
    return ChainLearner(settings, start, engine, source, shuffles)
