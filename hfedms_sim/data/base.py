"""What every data set gives: 28x28 images in 62 classes, held by devices with a train and a test part each.

Labels and sizes cost next to nothing and are vectorised over devices, because a timing-only run asks a million
sensors for them and never looks at an image.
"""

import string
from typing import Any, Literal, NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

CHARACTERS = string.digits + string.ascii_uppercase + string.ascii_lowercase
"""The character of each label: label 10 is A, label 36 is a."""

SIDE_PIXELS = 28
TEST_FRACTION = 0.2

Ink = Literal["bright", "dark"]


class DeviceLabels(NamedTuple):
    """Labels of many devices: those of the i-th are labels[offsets[i]:offsets[i + 1]]."""

    labels: NDArray[np.uint8]
    offsets: NDArray[np.int64]


class Dataset(Protocol):
    """Devices are numbered from 0. A device has at least one train sample; whatever is asked twice is the same."""

    @property
    def name(self) -> str: ...

    @property
    def devices(self) -> int: ...

    @property
    def ink(self) -> Ink:
        """Polarity of the images given out: bright is ink 1 on background 0."""

    @property
    def source_ink(self) -> Ink:
        """Polarity as found in the source."""

    @property
    def content(self) -> dict[str, Any]:
        """JSON-able facts that decide every label and pixel."""

    @property
    def least_train_samples(self) -> int:
        """No device has fewer; a bound that costs nothing, whatever the number of devices."""

    def train_sizes(self, devices: NDArray[np.int64]) -> NDArray[np.int64]: ...

    def test_sizes(self, devices: NDArray[np.int64]) -> NDArray[np.int64]: ...

    def train_labels_of(self, devices: NDArray[np.int64]) -> DeviceLabels: ...

    def train_labels(self, device: int) -> NDArray[np.int64]: ...

    def test_labels(self, device: int) -> NDArray[np.int64]: ...

    def train_images(self, device: int) -> NDArray[np.float32]:
        """(samples, 28, 28), values from 0 to 1."""

    def test_images(self, device: int) -> NDArray[np.float32]: ...


def delivered(pixels: NDArray[np.uint8], source_ink: Ink, ink: Ink) -> NDArray[np.float32]:
    """Stored pixels as values from 0 to 1 in the polarity asked for."""
    wanted = pixels if source_ink == ink else 255 - pixels
    return wanted.astype(np.float32) / np.float32(255)


def held_out(samples: NDArray[np.int64]) -> NDArray[np.int64]:
    """How many are for testing: a fifth, rounded, at least one; but a device's only sample is for training."""
    fifth = np.rint(TEST_FRACTION * samples).astype(np.int64)
    return np.asarray(np.minimum(np.maximum(fifth, 1), samples - 1))


def offsets_of(sizes: NDArray[np.int64]) -> NDArray[np.int64]:
    """Where each of consecutive pieces starts, and where the last one ends."""
    return np.concatenate(([0], np.cumsum(sizes, dtype=np.int64)))
