"""Which samples a capture holds: from arrival indices to train samples, labels, class counts and inputs.

A sensor's stream is known by arrival indices 0, 1, 2, ... With batches of n, arrivals i with the same i // n form a
block, and a block is a keyed draw of n distinct train samples of the device: a capture of a whole block is a fresh
batch, whatever was captured before. A device with fewer than n train samples shows each of them before one comes
again. A static stream is the train set itself: arrival i is train sample i, never augmented. Only images are augmented.
"""

from collections.abc import Mapping
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from hfedms_sim.data.augment import augmented
from hfedms_sim.data.base import Dataset, offsets_of
from hfedms_sim.rounds import Samples
from hfedms_sim.scenario import Scenario
from hfedms_sim.seeds import Draws

# What `counts` takes at once, to bound memory.
_CHUNK_DEVICES, _CHUNK_ARRIVALS, _CHUNK_COUNTS = 256, 2**20, 2**22
_SAMPLE_BITS = np.uint64(24)
_SAMPLE_MASK = np.uint64(2**24 - 1)
_BLOCK_SHIFT = 32


class _Arrivals(NamedTuple):
    """Arrivals of several devices: `row` says whose, by its place among them."""

    devices: NDArray[np.int64]
    row: NDArray[np.int64]
    number: NDArray[np.int64]


class Batches:
    def __init__(
        self, dataset: Dataset, draws: Draws, batch: int, *, static: bool = False, augment: bool = True
    ) -> None:
        self._dataset = dataset
        self._draws = draws
        self._batch = batch
        self._static = static
        self._augment = augment and dataset.is_image and not static

    def labels(self, device: int, ranges: Samples) -> NDArray[np.int64]:
        """Return the labels of the samples that the capture holds, in the order of arrival."""
        return self._labels(_arrivals({device: ranges}))

    def counts(self, captures: Mapping[int, Samples]) -> NDArray[np.int64]:
        """Return how many samples of each class each device captured: (captures, classes), in the mapping's order."""
        devices, classes = list(captures), self._dataset.shape.classes
        counts = np.zeros((len(devices), classes), dtype=np.int64)
        at_once = max(1, min(_CHUNK_DEVICES, _CHUNK_ARRIVALS // self._batch, _CHUNK_COUNTS // classes))
        for start in range(0, len(devices), at_once):
            chunk = devices[start : start + at_once]
            arrivals = _arrivals({device: captures[device] for device in chunk})
            cell = arrivals.row * classes + self._labels(arrivals)
            counted = np.bincount(cell, minlength=len(chunk) * classes)
            counts[start : start + len(chunk)] = counted.reshape(len(chunk), classes)
        return counts

    def inputs(self, device: int, ranges: Samples) -> NDArray[np.float32]:
        """Return the samples as the sensor captured them: (samples, *input_shape)."""
        arrivals = _arrivals({device: ranges})
        inputs = self._dataset.train_inputs(device)[self._samples(arrivals)]
        return augmented(inputs, self._draws, device, arrivals.number) if self._augment else inputs

    def local_sizes(self, devices: NDArray[np.int64]) -> NDArray[np.int64]:
        """Return how many train samples each of the devices owns."""
        return self._dataset.train_sizes(devices)

    def local_size(self, device: int) -> int:
        """Return how many train samples the device owns."""
        return int(self.local_sizes(np.array([device]))[0])

    def local_set(self, device: int) -> tuple[NDArray[np.float32], NDArray[np.int64]]:
        """Return inputs, never augmented, and labels of all train samples the device owns."""
        return self._dataset.train_inputs(device), self._dataset.train_labels(device)

    def _labels(self, arrivals: _Arrivals) -> NDArray[np.int64]:
        labels, offsets = self._dataset.train_labels_of(arrivals.devices)
        return np.asarray(labels[offsets[arrivals.row] + self._samples(arrivals)], dtype=np.int64)

    def _samples(self, arrivals: _Arrivals) -> NDArray[np.int64]:
        sizes = self._dataset.train_sizes(arrivals.devices)
        if self._static:
            if (arrivals.number >= sizes[arrivals.row]).any():
                raise ValueError("a static stream has no arrivals beyond the train set")
            return arrivals.number
        if not len(arrivals.number):
            return arrivals.number
        block = arrivals.number // self._batch
        # Arrivals are ascending within a device, so each (device, block) is one run of them.
        is_new = np.append(True, (np.diff(arrivals.row) != 0) | (np.diff(block) != 0))
        run = np.cumsum(is_new) - 1
        owner = arrivals.row[is_new]
        order = self._orders(arrivals.devices[owner], block[is_new], sizes[owner])
        return np.asarray(order[run, arrivals.number % self._batch % sizes[arrivals.row]])

    def _orders(
        self, devices: NDArray[np.int64], blocks: NDArray[np.int64], sizes: NDArray[np.int64]
    ) -> NDArray[np.int64]:
        """Return a random order of each device's train samples for each block: (blocks, largest size), padded.

        Sorting random words whose low bits are the sample's number gives the order without an argsort, which is
        several times slower.
        """
        sample = np.arange(sizes.max())
        words = self._draws.bits("batch", devices[:, None], (blocks[:, None] << _BLOCK_SHIFT) + sample)
        keys = (words >> _SAMPLE_BITS << _SAMPLE_BITS) | sample.astype(np.uint64)
        keys[sample >= sizes[:, None]] = ~np.uint64(0)
        keys.sort(axis=1)
        return (keys & _SAMPLE_MASK).astype(np.int64)


def batches_of(scenario: Scenario, dataset: Dataset) -> Batches:
    """Return what the sensors of a scenario capture of a data set."""
    stream = scenario.stream
    is_static = stream.arrival == "static"
    return Batches(dataset, Draws(scenario.seed), stream.batch, static=is_static, augment=stream.augment)


def _arrivals(captures: Mapping[int, Samples]) -> _Arrivals:
    devices = np.array(list(captures), dtype=np.int64)
    spans = [(row, first, count) for row, ranges in enumerate(captures.values()) for first, count in ranges]
    row, first, count = np.array(spans, dtype=np.int64).reshape(-1, 3).T
    offsets = offsets_of(count)
    number = np.arange(offsets[-1]) + np.repeat(first - offsets[:-1], count)
    return _Arrivals(devices, np.repeat(row, count), number)
