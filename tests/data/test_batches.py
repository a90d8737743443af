"""From arrivals to samples: blocks of distinct samples, class counts, images."""

from collections.abc import Mapping

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hfedms_sim import rounds
from hfedms_sim.data.augment import augmented
from hfedms_sim.data.base import Dataset
from hfedms_sim.data.batches import Batches
from hfedms_sim.data.glyphs.glyphs import Glyphs
from hfedms_sim.data.loaders.arrays import ArrayDataset, Reading, Samples, assemble
from hfedms_sim.seeds import Draws

GLYPHS = Glyphs(seed=1, devices=700, types=4)


def small_devices() -> ArrayDataset:
    """Devices with 1, 2, ... 30 train samples each; no two samples of a device have the same label."""
    owners = np.repeat(np.arange(30), np.arange(1, 31))
    pixels = np.random.default_rng(0).integers(0, 256, (len(owners), 1, 28, 28), dtype=np.uint8)
    samples = Samples(pixels, np.arange(len(owners)) % 62, owners, np.zeros(len(owners), dtype=bool))
    return assemble("npz", samples, {}, Reading(classes=62))


SMALL = small_devices()


def indices_of(batches: Batches, dataset: Dataset, device: int, ranges: rounds.Samples) -> list[int]:
    """Return which train samples a capture without augmentation holds, by comparing them."""
    number_of = {sample.tobytes(): number for number, sample in enumerate(dataset.train_inputs(device))}
    assert len(number_of) == batches.local_size(device)
    return [number_of[sample.tobytes()] for sample in batches.inputs(device, ranges)]


def slow_indices(seed: int, device: int, ranges: rounds.Samples, batch: int, size: int) -> list[int]:
    """Return the same one arrival after the other: the samples of a block are in the order of their keys."""
    indices = []
    for first, count in ranges:
        for arrival in range(first, first + count):
            block = arrival // batch
            keys = [int(Draws(seed).bits("batch", device, block * 2**32 + sample)) >> 24 for sample in range(size)]
            order = sorted(range(size), key=lambda sample, keys=keys: keys[sample])  # type: ignore[misc]
            indices.append(order[arrival % batch % size])
    return indices


@st.composite
def ascending_ranges(draw: st.DrawFn) -> rounds.Samples:
    start, ranges = 0, []
    for gap, count in draw(st.lists(st.tuples(st.integers(0, 30), st.integers(1, 25)), max_size=4)):
        ranges.append((start + gap, count))
        start += gap + count
    return tuple(ranges)


@settings(max_examples=40, deadline=None)
@given(ranges=ascending_ranges(), device=st.integers(0, 29), batch=st.integers(1, 20))
def test_indices_are_what_a_plain_loop_gives(ranges: rounds.Samples, device: int, batch: int) -> None:
    batches = Batches(SMALL, Draws(5), batch, augment=False)
    indices = slow_indices(5, device, ranges, batch, device + 1)
    assert indices_of(batches, SMALL, device, ranges) == indices
    assert batches.labels(device, ranges).tolist() == SMALL.train_labels(device)[indices].tolist()


@settings(max_examples=40, deadline=None)
@given(
    captures=st.dictionaries(st.integers(0, 29), ascending_ranges(), max_size=12),
    batch=st.integers(1, 20),
)
def test_counts_are_those_of_the_labels(captures: Mapping[int, rounds.Samples], batch: int) -> None:
    batches = Batches(SMALL, Draws(5), batch)
    counts = batches.counts(captures)
    assert counts.shape == (len(captures), 62)
    for row, (device, ranges) in zip(counts, captures.items(), strict=True):
        assert row.tolist() == np.bincount(batches.labels(device, ranges), minlength=62).tolist()


def test_counts_of_more_devices_than_are_taken_at_once() -> None:
    batches = Batches(GLYPHS, Draws(1), 50)
    captures: dict[int, rounds.Samples] = {device: ((device, 50), (device + 90, 20)) for device in range(699, -1, -1)}
    counts = batches.counts(captures)
    assert (counts.sum(axis=1) == 70).all()
    for place in (0, 1, 255, 256, 511, 512, 699):
        device = 699 - place
        assert counts[place].tolist() == np.bincount(batches.labels(device, captures[device]), minlength=62).tolist()


def test_a_block_holds_distinct_samples_and_blocks_differ() -> None:
    batches = Batches(GLYPHS, Draws(1), 50, augment=False)
    blocks = [indices_of(batches, GLYPHS, 3, ((50 * block, 50),)) for block in range(20)]
    size = len(GLYPHS.train_labels(3))
    assert all(len(set(block)) == 50 and max(block) < size for block in blocks)
    assert len({tuple(block) for block in blocks}) == 20
    assert len({sample for block in blocks for sample in block}) > 0.9 * size


def test_every_sample_is_drawn_equally_often() -> None:
    batches = Batches(SMALL, Draws(1), 10)
    labels, drawn = np.unique(batches.labels(19, ((0, 20_000),)), return_counts=True)
    assert sorted(labels.tolist()) == sorted(SMALL.train_labels(19).tolist())
    assert np.abs(drawn - 1000).max() < 5 * np.sqrt(2000 * 0.25)


def test_a_small_device_shows_each_sample_before_one_comes_again() -> None:
    indices = indices_of(Batches(SMALL, Draws(1), 50, augment=False), SMALL, 6, ((100, 50),))
    assert sorted(indices[:7]) == list(range(7))
    assert indices[7:14] == indices[:7]


def test_a_sample_does_not_depend_on_how_it_was_captured() -> None:
    plain, batches = (Batches(GLYPHS, Draws(1), 20, augment=augment) for augment in (False, True))
    whole = indices_of(plain, GLYPHS, 4, ((0, 100),))
    assert indices_of(plain, GLYPHS, 4, ((13, 40),)) == whole[13:53]
    assert indices_of(plain, GLYPHS, 4, ((1, 2), (35, 10))) == whole[1:3] + whole[35:45]
    images = batches.inputs(4, ((0, 100),))
    assert np.array_equal(batches.inputs(4, ((13, 40),)), images[13:53])


def test_inputs_are_the_train_inputs_augmented() -> None:
    ranges: rounds.Samples = ((40, 5), (60, 3))
    arrivals = np.array([40, 41, 42, 43, 44, 60, 61, 62])
    plain = Batches(SMALL, Draws(1), 20, augment=False)
    images = SMALL.train_inputs(25)[slow_indices(1, 25, ranges, batch=20, size=26)]
    assert np.array_equal(plain.inputs(25, ranges), images)
    changed = Batches(SMALL, Draws(1), 20).inputs(25, ranges)
    assert (changed.dtype, changed.shape) == (np.float32, (8, 1, 28, 28))
    assert np.array_equal(changed, augmented(images, Draws(1), 25, arrivals))


def test_a_static_stream_is_the_train_set_itself() -> None:
    batches = Batches(SMALL, Draws(1), 4, static=True, augment=True)
    assert batches.labels(9, ((0, 10),)).tolist() == SMALL.train_labels(9).tolist()
    assert np.array_equal(batches.inputs(9, ((0, 10),)), SMALL.train_inputs(9))
    assert batches.counts({9: ((0, 10),), 2: ((1, 2),)}).sum(axis=1).tolist() == [10, 2]
    with pytest.raises(ValueError, match="beyond the train set"):
        batches.labels(9, ((5, 6),))


@pytest.mark.parametrize("static", [True, False])
def test_the_local_set_is_all_train_samples_as_they_are(static: bool) -> None:
    batches = Batches(SMALL, Draws(1), 4, static=static)
    images, labels = batches.local_set(9)
    assert np.array_equal(images, SMALL.train_inputs(9))
    assert labels.tolist() == SMALL.train_labels(9).tolist()
    assert batches.local_size(9) == 10
    assert batches.local_sizes(np.array([3, 0])).tolist() == [4, 1]


@pytest.mark.parametrize("static", [True, False])
def test_a_capture_may_be_empty(static: bool) -> None:
    batches = Batches(SMALL, Draws(1), 4, static=static)
    assert batches.inputs(3, ()).shape == (0, 1, 28, 28)
    assert batches.counts({3: (), 4: ((0, 2),)}).sum(axis=1).tolist() == [0, 2]
    assert batches.counts({}).shape == (0, 62)
