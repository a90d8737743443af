"""What learners are made of, from a scenario. Importing it loads torch."""

from hfedms_sim.learning.engine import GenericEngine
from hfedms_sim.learning.learner import Parts
from hfedms_sim.learning.networks import Network, Weights, initial_weights
from hfedms_sim.learning.samples import SampleSource, Shuffles
from hfedms_sim.scenario import Scenario
from hfedms_sim.seeds import Draws


def learner_parts(
    scenario: Scenario, source: SampleSource, network: Network | None = None, extra: Weights | None = None
) -> Parts:
    """`network` and its `extra` initial weights, where they are not the model's own."""
    model, draws = scenario.model_spec, Draws(scenario.seed)
    start = initial_weights(model, draws) | (extra or {})
    return Parts(model, start, GenericEngine(network or Network(model)), source, Shuffles(draws))
