"""What a strategy is told of a factory, for tests of its plans."""

import numpy as np

from hfedms_sim.scenario import MODELS
from hfedms_sim.seeds import Draws
from hfedms_sim.strategies import Factory


def factory(sensors: int, seed: int = 1, local_size: int = 100) -> Factory:
    """Return one with the paper's network, in which every sensor owns so many samples."""
    return Factory(MODELS["cnn"], np.arange(sensors), Draws(seed), lambda some: np.full(len(some), local_size))
