"""A data set held in memory: what every loader makes of its files.

Images are bytes: a source with values from 0 to 1 is rounded to multiples of 1/255, which is what FEMNIST's values
are to begin with. They are given out as values from 0 to 1. Whatever else is kept as it is, in single precision.

Samples are sorted by device and, within a device, train before test; otherwise they keep the order of the source.
Devices are numbered in the order of their identifiers, numbers by size and names by alphabet.
"""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from hfedms_sim.data.base import (
    CHARACTERS,
    TEST_FRACTION,
    Dataset,
    DeviceLabels,
    Ink,
    as_inputs,
    held_out,
    offsets_of,
)
from hfedms_sim.data.loaders.checked import (
    checked_images,
    checked_inputs,
    checked_labels,
    checked_names,
    checked_owners,
    checked_split,
    ink_of,
)
from hfedms_sim.data.partition import Partition, dealt
from hfedms_sim.errors import quoted
from hfedms_sim.scenario.models import CHARACTER_IMAGES, DataShape
from hfedms_sim.seeds import Draws


@dataclass(frozen=True, eq=False)
class ArrayDataset(Dataset):
    name: str
    shape: DataShape
    inputs: NDArray[Any]
    """(samples, *input_shape): pixels as bytes, or numbers in single precision."""
    labels: NDArray[np.integer[Any]]
    starts: NDArray[np.int64]
    """Where each device's samples start, and where the last one's end: (devices + 1,)."""
    tests: NDArray[np.int64]
    """Where each device's test samples start: (devices,)."""
    identifiers: tuple[str, ...]
    source_ink: Ink | None
    """Polarity as found in the source; None for what is no image of one channel."""
    ink: Ink | None
    """Polarity of the images given out; None: as they are."""
    source: dict[str, Any]
    given_names: tuple[str, ...] | None = None
    is_image: bool = False

    @cached_property
    def devices(self) -> int:
        return len(self.tests)

    @cached_property
    def content(self) -> dict[str, Any]:
        ink = {} if self.source_ink is None else {"ink": self.ink}
        return {"set": self.name, "devices": self.devices} | ink | self.source

    @cached_property
    def class_names(self) -> tuple[str, ...]:
        if self.given_names is not None:
            return self.given_names
        labels = CHARACTERS if self.shape == CHARACTER_IMAGES else range(self.shape.classes)
        return tuple(str(label) for label in labels)

    @cached_property
    def least_train_samples(self) -> int:
        return int((self.tests - self.starts[:-1]).min())

    def first(self, devices: int) -> "ArrayDataset":
        """Return only the first devices, this many of them."""
        end = self.starts[devices]
        return replace(
            self,
            inputs=self.inputs[:end],
            labels=self.labels[:end],
            starts=self.starts[: devices + 1],
            tests=self.tests[:devices],
            identifiers=self.identifiers[:devices],
        )

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

    def train_inputs(self, device: int) -> NDArray[np.float32]:
        return self._delivered(self._train(device))

    def test_inputs(self, device: int) -> NDArray[np.float32]:
        return self._delivered(self._test(device))

    def _delivered(self, samples: slice) -> NDArray[np.float32]:
        if not self.is_image:
            return self.inputs[samples].copy()
        return as_inputs(self.inputs[samples], inverted=self.ink is not None and self.ink != self.source_ink)

    def _train(self, device: int) -> slice:
        return slice(int(self.starts[device]), int(self.tests[device]))

    def _test(self, device: int) -> slice:
        return slice(int(self.tests[device]), int(self.starts[device + 1]))


@dataclass(frozen=True, slots=True, eq=False)
class Samples:
    """What a loader read, a row for each sample in the order of the source."""

    inputs: NDArray[Any]
    """Pixels as bytes with channels first, or numbers in single precision."""
    labels: NDArray[np.int64]
    owners: NDArray[Any] | None
    """The device's identifier: numbers or strings. None where data are flat."""
    is_test: NDArray[np.bool_] | None
    """None where the source has no split: then a fifth of each device's samples, by keyed draw, is for testing."""
    class_names: tuple[str, ...] | None = None

    @classmethod
    def of(cls, arrays: Mapping[str, NDArray[Any]], owner: str, classes: int | None) -> "Samples":
        """Check arrays of images or inputs, labels and, where they are there, `owner`, is_test and class_names."""
        is_images = "images" in arrays
        return cls(
            checked_images(arrays["images"]) if is_images else checked_inputs(arrays["inputs"]),
            checked_labels(arrays["labels"], classes),
            checked_owners(arrays[owner], owner) if owner in arrays else None,
            checked_split(arrays["is_test"]) if "is_test" in arrays else None,
            checked_names(arrays["class_names"]) if "class_names" in arrays else None,
        )


class Reading(NamedTuple):
    """What a scenario says about data that it did not make."""

    ink: Ink | None = "bright"
    classes: int | None = None
    """None: one more than the largest label."""
    partition: Partition | None = None
    """None: samples belong to the devices that the source names."""
    devices: int | None = None
    """How many a partition deals to that does not say it itself."""
    seed: int = 1
    may_be_flat: bool = False
    """Whether a source that names no devices, and is not dealt to any, counts as one device."""

    @property
    def column(self) -> str | None:
        """The column of the source that names the devices, if it is not the usual one."""
        return None if self.partition is None else self.partition.column

    @property
    def reads_owners(self) -> bool:
        """Whether devices are those that the source names."""
        return self.partition is None or self.column is not None

    @property
    def needs_owners(self) -> bool:
        return self.reads_owners and not self.may_be_flat


def assemble(name: str, samples: Samples, source: dict[str, Any], how: Reading) -> ArrayDataset:
    """Return the data set of what was read. Raises ValueError if a device has no train sample."""
    if not len(samples.labels):
        raise ValueError("has no samples")
    source = source | ({} if how.classes is None else {"classes": how.classes})
    owners, facts = _owners(samples, how)
    identifiers, device = np.unique(owners, return_inverse=True)
    sizes = np.bincount(device)
    is_test = samples.is_test
    if is_test is None:
        is_test = _split(device, sizes, how.seed)
        facts |= {"split": {"seed": how.seed, "test_fraction": TEST_FRACTION}}
    trains = np.bincount(device[~is_test], minlength=len(sizes))
    if not trains.all():
        raise ValueError(f"device {quoted(identifiers[np.argmin(trains)].item())} has no train sample")
    order = np.lexsort((is_test, device))
    starts = offsets_of(sizes)
    classes = _classes(samples, how)
    return ArrayDataset(
        name=name,
        shape=DataShape(samples.inputs.shape[1:], classes),
        inputs=samples.inputs[order],
        labels=samples.labels[order].astype(np.min_scalar_type(classes - 1)),
        starts=starts,
        tests=starts[:-1] + trains,
        identifiers=tuple(str(identifier) for identifier in identifiers.tolist()),
        source_ink=_source_ink(samples.inputs, how.ink),
        ink=how.ink,
        source=source | facts,
        given_names=samples.class_names,
        is_image=samples.inputs.dtype == np.uint8,
    )


def _owners(samples: Samples, how: Reading) -> tuple[NDArray[Any], dict[str, Any]]:
    """Return whose each sample is, and what of it was decided here."""
    partition = how.partition
    if partition is None or partition.kind == "column":
        owners = np.zeros(len(samples.labels), dtype=np.int64) if samples.owners is None else samples.owners
        return owners, {} if partition is None else {"partition": {"kind": "column", "column": partition.column}}
    devices = partition.devices or how.devices
    if devices is None:
        raise ValueError(f"partition: kind: {partition.kind} needs devices")
    owners = dealt(partition, samples.labels, samples.is_test, devices, how.seed)
    facts = partition.model_dump(mode="json", exclude_none=True) | {"devices": devices, "seed": how.seed}
    return owners, {"partition": facts}


def _classes(samples: Samples, how: Reading) -> int:
    names = samples.class_names
    if names is not None and how.classes not in (None, len(names)):
        raise ValueError(f"has {len(names)} class names, but classes = {how.classes}: must be as many")
    classes = how.classes or (int(samples.labels.max()) + 1 if names is None else len(names))
    checked_labels(samples.labels, classes)
    return classes


def _source_ink(inputs: NDArray[Any], ink: Ink | None) -> Ink | None:
    if inputs.dtype == np.uint8 and inputs.shape[1] == 1:
        return ink_of(inputs)
    if ink == "dark":
        raise ValueError("ink = dark: only images of one channel have ink; allowed: bright or null")
    return None


def _split(device: NDArray[np.int64], sizes: NDArray[np.int64], seed: int) -> NDArray[np.bool_]:
    """Return which samples are for testing, by a draw keyed by the device and the sample's place among its own."""
    by_device = np.argsort(device, kind="stable")
    place = np.empty(len(device), dtype=np.int64)
    place[by_device] = np.arange(len(device)) - np.repeat(offsets_of(sizes)[:-1], sizes)
    drawn = np.lexsort((Draws(seed).bits("data/split", device, place), device))
    rank = np.empty(len(device), dtype=np.int64)
    rank[drawn] = np.arange(len(device)) - np.repeat(offsets_of(sizes)[:-1], sizes)
    return rank < held_out(sizes)[device]
