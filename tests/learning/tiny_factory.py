"""A factory for learning tests: random images, the tiny network, records made by hand."""

from collections.abc import Sequence
from contextvars import ContextVar
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray

from hfedms_sim.learning.engine import ENGINES
from hfedms_sim.learning.learner import ChainLearner, LearnerContext
from hfedms_sim.learning.networks import StackNetwork, Weights, initial_weights
from hfedms_sim.learning.samples import SampleSource, Shuffles
from hfedms_sim.models import spec_of
from hfedms_sim.rounds import Participation, Phase, RoundRecord, Samples
from hfedms_sim.scenario import LocalTraining
from hfedms_sim.seeds import Draws

SPEC = spec_of("tiny-mlp")
DRAWS = Draws(5)
START = initial_weights(SPEC, DRAWS)
SHUFFLES = Shuffles(DRAWS)


class RandomImages:
    """A sample is a function of its sensor and arrival index; labels are of a few classes only."""

    def __init__(self, classes: int = 6, *, precise: bool = False) -> None:
        self._classes = classes
        self.dtype = torch.float64 if precise else torch.float32
        self._type = np.float64 if precise else np.float32

    def inputs(self, sensor: int, samples: Samples) -> NDArray[Any]:
        pixels = [DRAWS.uniform(f"pixels/{sensor}", index, np.arange(784)) for index in _indices(samples)]
        return np.array(pixels, dtype=self._type).reshape(-1, 1, 28, 28)

    def labels(self, sensor: int, samples: Samples) -> NDArray[np.int64]:
        labels = [int(DRAWS.one_uniform("label", sensor, index) * self._classes) for index in _indices(samples)]
        return np.array(labels, dtype=np.int64)

    def local_size(self, sensor: int) -> int:
        return 11 + 3 * sensor

    def local_set(self, sensor: int) -> tuple[NDArray[Any], NDArray[np.int64]]:
        """Samples that no record captures."""
        samples = ((10_000, self.local_size(sensor)),)
        return self.inputs(sensor, samples), self.labels(sensor, samples)


def record(
    round_number: int, chains: Sequence[Sequence[int]], size: int, *, interval: int = 1, samples: Samples | None = None
) -> RoundRecord:
    """Everybody captures `size` fresh samples, trains and hands over; a full round is scattered."""
    phase: Phase = "full" if (round_number - 1) % interval == 0 else "calibration"
    captured = samples if samples is not None else (((round_number - 1) * size, size),)
    return RoundRecord(
        round=round_number,
        cycle=(round_number - 1) // interval + 1,
        phase=phase,
        chains=tuple(
            tuple(Participation(sensor, captured, True, phase == "full" and interval > 1) for sensor in chain)
            for chain in chains
        ),
        arrived=(True,) * len(chains),
        start_s=0.0,
        end_s=1.0,
    )


ENGINE = ContextVar("engine", default="generic")
"""Which one learners get; the fixture `every_engine` sets it."""


def parts(start: Weights = START, source: SampleSource | None = None) -> LearnerContext:
    network = StackNetwork(SPEC).to(dtype=start["classifier.bias"].dtype)
    return LearnerContext(SPEC, start, ENGINES[ENGINE.get()](network, 1), source or RandomImages(), SHUFFLES)


def chain_learner(settings: LocalTraining, start: Weights = START) -> ChainLearner:
    return ChainLearner(settings, parts(start))


def _indices(samples: Samples) -> list[int]:
    return [index for first, count in samples for index in range(first, first + count)]
