"""What every data set gives: samples in classes, held by devices with a train and a test part each.

A sample is an array of any shape: an image, a piece of a series, a row of features. `Dataset` is all that somebody has
to implement to bring data of their own; `DataSource` makes it a `data.set` that scenarios can name.

Labels and sizes cost next to nothing in the sets that ship and are vectorised over devices, because a timing-only run
asks a million sensors for them and never looks at a sample.
"""

import string
from abc import ABC, abstractmethod
from functools import cached_property
from typing import TYPE_CHECKING, Any, ClassVar, Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from hfedms_sim.scenario.data import DataSettings
from hfedms_sim.scenario.models import DataShape

CHARACTERS = string.digits + string.ascii_uppercase + string.ascii_lowercase
"""The character of each label of handwriting: label 10 is A, label 36 is a."""

TEST_FRACTION = 0.2
MAX_CLASSES = 100_000

Ink = Literal["bright", "dark"]


class DeviceLabels(NamedTuple):
    """Labels of many devices: those of the i-th are labels[offsets[i]:offsets[i + 1]]."""

    labels: NDArray[np.integer[Any]]
    offsets: NDArray[np.int64]


class Dataset(ABC):
    """Devices are numbered from 0. A device has at least one train sample; whatever is asked twice is the same."""

    name: str
    """How reports call it."""
    is_image: bool = False
    """Whether samples are images (channels, height, width), which a capture may brighten and crop."""
    generation_s: float = 0.0
    """Processor seconds that a sample takes to be made, where it is not just read; by this runs are estimated."""

    if TYPE_CHECKING:  # at run time there is nothing in the way of attributes, fields or properties of these names

        @property
        @abstractmethod
        def devices(self) -> int:
            """How many devices there are."""

        @property
        @abstractmethod
        def shape(self) -> DataShape:
            """The shape of a sample, channels first as torch has it, and the number of classes."""

        @property
        @abstractmethod
        def content(self) -> dict[str, Any]:
            """JSON-able facts that decide every label and every sample: runs on equal content learn from equal data."""

    @abstractmethod
    def train_labels(self, device: int) -> NDArray[np.int64]:
        """Return the labels of the device's train samples, from 0 to classes - 1."""

    @abstractmethod
    def test_labels(self, device: int) -> NDArray[np.int64]:
        """Return the labels of the device's test samples, of which there may be none."""

    @abstractmethod
    def train_inputs(self, device: int) -> NDArray[np.float32]:
        """Return the device's train samples, (samples, *input_shape), in the order of their labels."""

    @abstractmethod
    def test_inputs(self, device: int) -> NDArray[np.float32]:
        """Return the device's test samples, (samples, *input_shape), in the order of their labels."""

    @cached_property
    def class_names(self) -> tuple[str, ...]:
        return tuple(str(label) for label in range(self.shape.classes))

    @cached_property
    def least_train_samples(self) -> int:
        """How many train samples every device has at least."""
        return int(self.train_sizes(np.arange(self.devices)).min())

    def train_sizes(self, devices: NDArray[np.int64]) -> NDArray[np.int64]:
        """Return how many train samples each of the devices has."""
        return np.array([len(self.train_labels(device)) for device in devices.tolist()], dtype=np.int64)

    def test_sizes(self, devices: NDArray[np.int64]) -> NDArray[np.int64]:
        """Return how many test samples each of the devices has."""
        return np.array([len(self.test_labels(device)) for device in devices.tolist()], dtype=np.int64)

    def train_labels_of(self, devices: NDArray[np.int64]) -> DeviceLabels:
        """Return the train labels of all these devices at once."""
        labels = [np.empty(0, dtype=np.int64), *(self.train_labels(device) for device in devices.tolist())]
        return DeviceLabels(np.concatenate(labels), offsets_of(self.train_sizes(devices)))


class DataSource(ABC):
    """A `data.set`: its settings, and how a scenario's data set is opened by them."""

    Settings: ClassVar[type[DataSettings]]
    """The keys under `data`; the default of its field `set` is the name that scenarios give."""
    about: ClassVar[str]
    """A line for people."""

    @classmethod
    @abstractmethod
    def open(cls, settings: Any, *, sensors: int, types: int, seed: int) -> Dataset:
        """Return the data set with a device for each of the sensors, or raise an InputError.

        `types` is the scenario's `sensors.types`, which a set may ignore. Every draw should hang on the seed.
        """


def as_inputs(pixels: NDArray[np.uint8], *, inverted: bool = False) -> NDArray[np.float32]:
    """Return stored pixels as values from 0 to 1."""
    wanted = 255 - pixels if inverted else pixels
    return wanted.astype(np.float32) / np.float32(255)


def held_out(samples: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return how many are for testing: a fifth, rounded, at least one; but a device's only sample is for training."""
    fifth = np.rint(TEST_FRACTION * samples).astype(np.int64)
    return np.asarray(np.minimum(np.maximum(fifth, 1), samples - 1))


def offsets_of(sizes: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return where each of consecutive pieces starts, and where the last one ends."""
    return np.concatenate(([0], np.cumsum(sizes, dtype=np.int64)))
