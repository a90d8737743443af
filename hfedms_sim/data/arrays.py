"""A data set held in memory: what every loader makes of its files.

Pixels are bytes: a source with values from 0 to 1 is rounded to multiples of 1/255, which is what FEMNIST's values
are to begin with. Samples are sorted by device and, within a device, train before test; otherwise they keep the
order of the source. Devices are numbered in the order of their identifiers, numbers by size and names by alphabet.
"""

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hfedms_sim.data.base import (
    CHARACTERS,
    SIDE_PIXELS,
    TEST_FRACTION,
    DeviceLabels,
    Ink,
    delivered,
    held_out,
    offsets_of,
)
from hfedms_sim.data.files import shown
from hfedms_sim.seeds import Draws

_POLARITY_IMAGES = 2000


@dataclass(frozen=True, slots=True, eq=False)
class ArrayDataset:
    name: str
    pixels: NDArray[np.uint8]
    labels: NDArray[np.uint8]
    starts: NDArray[np.int64]
    """Where each device's samples start, and where the last one's end: (devices + 1,)."""
    tests: NDArray[np.int64]
    """Where each device's test samples start: (devices,)."""
    identifiers: tuple[str, ...]
    source_ink: Ink
    ink: Ink
    source: dict[str, Any]

    @property
    def devices(self) -> int:
        return len(self.tests)

    @property
    def content(self) -> dict[str, Any]:
        return {"set": self.name, "devices": self.devices, "ink": self.ink} | self.source

    def first(self, devices: int) -> "ArrayDataset":
        """Only the first so many devices."""
        end = self.starts[devices]
        return replace(
            self,
            pixels=self.pixels[:end],
            labels=self.labels[:end],
            starts=self.starts[: devices + 1],
            tests=self.tests[:devices],
            identifiers=self.identifiers[:devices],
        )

    @property
    def least_train_samples(self) -> int:
        return int((self.tests - self.starts[:-1]).min())

    def train_sizes(self, devices: NDArray[np.int64]) -> NDArray[np.int64]:
        return self.tests[devices] - self.starts[devices]

    def test_sizes(self, devices: NDArray[np.int64]) -> NDArray[np.int64]:
        return self.starts[devices + 1] - self.tests[devices]

    def train_labels_of(self, devices: NDArray[np.int64]) -> DeviceLabels:
        sizes = self.train_sizes(devices)
        offsets = offsets_of(sizes)
        places = np.arange(offsets[-1]) + np.repeat(self.starts[devices] - offsets[:-1], sizes)
        return DeviceLabels(self.labels[places], offsets)

    def train_labels(self, device: int) -> NDArray[np.int64]:
        return self.labels[self._train(device)].astype(np.int64)

    def test_labels(self, device: int) -> NDArray[np.int64]:
        return self.labels[self._test(device)].astype(np.int64)

    def train_images(self, device: int) -> NDArray[np.float32]:
        return delivered(self.pixels[self._train(device)], self.source_ink, self.ink)

    def test_images(self, device: int) -> NDArray[np.float32]:
        return delivered(self.pixels[self._test(device)], self.source_ink, self.ink)

    def _train(self, device: int) -> slice:
        return slice(int(self.starts[device]), int(self.tests[device]))

    def _test(self, device: int) -> slice:
        return slice(int(self.tests[device]), int(self.starts[device + 1]))


@dataclass(frozen=True, slots=True, eq=False)
class Samples:
    """What a loader read, a row for each sample in the order of the source."""

    pixels: NDArray[np.uint8]
    labels: NDArray[np.int64]
    owners: NDArray[Any]
    """The device's identifier: numbers or strings."""
    is_test: NDArray[np.bool_] | None
    """None where the source has no split: then a fifth of each device's samples, by keyed draw, is for testing."""


def assembled(name: str, samples: Samples, source: dict[str, Any], *, ink: Ink, seed: int) -> ArrayDataset:
    """Raises ValueError if a device has no train sample."""
    if not len(samples.labels):
        raise ValueError("has no samples")
    identifiers, device = np.unique(samples.owners, return_inverse=True)
    sizes = np.bincount(device)
    is_test = samples.is_test
    if is_test is None:
        is_test = _split(device, sizes, seed)
        source = source | {"split": {"seed": seed, "test_fraction": TEST_FRACTION}}
    trains = np.bincount(device[~is_test], minlength=len(sizes))
    if not trains.all():
        raise ValueError(f"device {shown(identifiers[np.argmin(trains)].item())} has no train sample")
    order = np.lexsort((is_test, device))
    starts = offsets_of(sizes)
    return ArrayDataset(
        name=name,
        pixels=samples.pixels[order],
        labels=samples.labels[order].astype(np.uint8),
        starts=starts,
        tests=starts[:-1] + trains,
        identifiers=tuple(str(identifier) for identifier in identifiers.tolist()),
        source_ink=ink_of(samples.pixels),
        ink=ink,
        source=source,
    )


def _split(device: NDArray[np.int64], sizes: NDArray[np.int64], seed: int) -> NDArray[np.bool_]:
    """Which samples are for testing, by a draw keyed by the device and the sample's place among its own."""
    by_device = np.argsort(device, kind="stable")
    place = np.empty(len(device), dtype=np.int64)
    place[by_device] = np.arange(len(device)) - np.repeat(offsets_of(sizes)[:-1], sizes)
    drawn = np.lexsort((Draws(seed).bits("data/split", device, place), device))
    rank = np.empty(len(device), dtype=np.int64)
    rank[drawn] = np.arange(len(device)) - np.repeat(offsets_of(sizes)[:-1], sizes)
    return rank < held_out(sizes)[device]


def ink_of(pixels: NDArray[np.uint8]) -> Ink:
    """Return the polarity, told by the images' borders, which are background in nearly all of them."""
    some = pixels[:: max(1, len(pixels) // _POLARITY_IMAGES)]
    border = np.concatenate([some[:, 0], some[:, -1], some[:, 1:-1, 0], some[:, 1:-1, -1]], axis=1)
    return "dark" if np.median(border) > 127 else "bright"


def checked_pixels(images: NDArray[Any]) -> NDArray[np.uint8]:
    """Images of bytes, or of numbers from 0 to 1, as bytes. Raises ValueError for anything else."""
    if images.shape[1:] == (SIDE_PIXELS * SIDE_PIXELS,):
        images = images.reshape(-1, SIDE_PIXELS, SIDE_PIXELS)
    if images.shape[1:] != (SIDE_PIXELS, SIDE_PIXELS):
        shape = "x".join(str(length) for length in images.shape[1:]) or "one value"
        raise ValueError(f"images are {shape}: must be {SIDE_PIXELS}x{SIDE_PIXELS}")
    if images.dtype == np.uint8:
        return images
    if images.dtype.kind not in "fiu":
        raise ValueError(f"pixels are {images.dtype}: must be bytes (uint8) or numbers from 0 to 1")
    sound = (images >= 0) & (images <= 1)  # NaN is neither
    if not sound.all():
        wrong = np.argmin(sound.all(axis=(1, 2)))
        pixel = images[wrong][~sound[wrong]][0]
        raise ValueError(f"sample {wrong}: pixel = {pixel:g}: must be a byte (uint8) or a number from 0 to 1")
    return np.asarray(np.rint(images * 255), dtype=np.uint8)


def checked_labels(labels: NDArray[Any]) -> NDArray[np.int64]:
    if labels.dtype.kind not in "iu" or labels.ndim != 1:
        raise ValueError("labels must be a list of whole numbers")
    wrong = (labels < 0) | (labels >= len(CHARACTERS))
    if wrong.any():
        sample = np.argmax(wrong)
        raise ValueError(f"sample {sample}: label = {labels[sample]}: must be from 0 to {len(CHARACTERS) - 1}")
    return labels.astype(np.int64)
