"""What a strategy is told of a factory, for tests of its plans."""

import numpy as np

from hfedms_sim.models import spec_of
from hfedms_sim.rounds import NetworkView
from hfedms_sim.seeds import Draws
from hfedms_sim.strategies import ClassCounts, Factory, PlanContext
from hfedms_sim.strategies.base import SensorIds


def factory(sensors: int, seed: int = 1, local_size: int = 100, network: NetworkView | None = None) -> Factory:
    """Return one with the paper's network, in which every sensor owns so many samples.

    A strategy that looks at the network of radios must be given one.
    """
    sizes = lambda some: np.full(len(some), local_size)  # noqa: E731
    return Factory(spec_of("cnn"), np.arange(sensors), Draws(seed), sizes, lambda: _given(network))


def _given(network: NetworkView | None) -> NetworkView:
    assert network is not None, "this strategy does not look at the network"
    return network


def context(
    counts: ClassCounts | None = None, network: NetworkView | None = None, sensors: SensorIds | None = None
) -> PlanContext:
    """Return what a plan may look at; a strategy that looks at the network must be given one.

    `sensors` can be asked to take part: those that have reported, or the paper's 368, unless others are given.
    """
    if sensors is None:
        sensors = np.arange(368 if counts is None else len(counts))
    return PlanContext(counts, lambda: _given(network), sensors)
