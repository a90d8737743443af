"""What the learner asks of a data set. The simulation hands one in; learning does not know where it comes from."""

from typing import Protocol

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from hfedms_sim.learning.networks import as_tensor
from hfedms_sim.learning.process import on_device
from hfedms_sim.rounds import Participation, Samples
from hfedms_sim.seeds import Draws


class SampleSource(Protocol):
    def inputs(self, sensor: int, samples: Samples) -> NDArray[np.float32]:
        """Return what the sensor captured, (n, *shape of a sample), augmented if the scenario says so."""

    def labels(self, sensor: int, samples: Samples) -> NDArray[np.int64]: ...

    def local_size(self, sensor: int) -> int:
        """Return how many train samples the sensor owns, whatever it captures of them."""

    def local_set(self, sensor: int) -> tuple[NDArray[np.float32], NDArray[np.int64]]:
        """Return inputs and labels of all train samples the sensor owns, never augmented."""


class TestSource(Protocol):
    """The held-out part of every sensor, never augmented."""

    def test_inputs(self, sensor: int) -> NDArray[np.float32]: ...

    def test_labels(self, sensor: int) -> NDArray[np.int64]: ...


class Shuffles:
    """The order in which a sensor goes through its set, keyed by sensor, round and epoch."""

    def __init__(self, draws: Draws) -> None:
        self._draws = draws

    def of(self, sensor: int, round_number: int, size: int, epochs: int) -> tuple[Tensor, ...]:
        return tuple(self._epoch(sensor, round_number, size, epoch) for epoch in range(epochs))

    def seed(self, sensor: int, round_number: int) -> int:
        """Return what a network that draws, such as one with dropout, draws by when the sensor trains in the round."""
        return int(self._draws.bits(f"shuffle/{round_number}/seed", sensor, 0))

    def _epoch(self, sensor: int, round_number: int, size: int, epoch: int) -> Tensor:
        bits = self._draws.bits(f"shuffle/{round_number}/{epoch}", sensor, np.arange(size))
        return torch.from_numpy(np.argsort(bits, kind="stable"))


def captured_samples(source: SampleSource, participation: Participation) -> tuple[Tensor, Tensor]:
    """Return inputs and labels of what a participant captured."""
    sensor, samples = participation.sensor, participation.samples
    return as_tensor(source.inputs(sensor, samples)), on_device(torch.from_numpy(source.labels(sensor, samples)))


def local_samples(source: SampleSource, sensor: int) -> tuple[Tensor, Tensor]:
    """Return inputs and labels of a sensor's whole local train set."""
    inputs, labels = source.local_set(sensor)
    return as_tensor(inputs), on_device(torch.from_numpy(labels))
