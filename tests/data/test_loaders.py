"""Loaded files: every format gives the same data set, split and polarity are what they should be."""

import json
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hfedms_sim.data.arrays import ArrayDataset, Samples, assembled, ink_of
from tests.data.formats import LOADERS, Raw, leaf_json, load, png, raw_samples, write


def same(one: ArrayDataset, other: ArrayDataset) -> bool:
    return one.identifiers == other.identifiers and all(
        np.array_equal(getattr(one, part), getattr(other, part)) for part in ("pixels", "labels", "starts", "tests")
    )


@pytest.mark.parametrize("split", [True, False])
def test_every_format_gives_the_same_data_set(split: bool, tmp_path: Path) -> None:
    raw = raw_samples(split=split)
    loaded = {kind: load(kind, write(kind, raw, tmp_path / kind)) for kind in LOADERS}
    assert same(loaded["npz"], loaded["leaf"])
    assert same(loaded["npz"], loaded["parquet"])
    assert [data.name for data in loaded.values()] == list(LOADERS)


@pytest.mark.parametrize("kind", LOADERS)
def test_devices_hold_their_own_samples_in_the_order_of_the_file(kind: str, tmp_path: Path) -> None:
    raw = raw_samples()
    assert raw.is_test is not None
    data = load(kind, write(kind, raw, tmp_path / kind), ink="dark")
    names = np.unique(raw.owners).tolist()
    assert (data.devices, data.identifiers) == (len(names), tuple(names))
    for device, name in enumerate(names):
        for is_test, labels, images in (
            (False, data.train_labels(device), data.train_images(device)),
            (True, data.test_labels(device), data.test_images(device)),
        ):
            rows = (raw.owners == name) & (raw.is_test == is_test)
            assert labels.tolist() == raw.labels[rows].tolist()
            assert np.array_equal(images, raw.pixels[rows].astype(np.float32) / np.float32(255))


@pytest.mark.parametrize("kind", LOADERS)
def test_polarity_is_detected_and_delivered_as_asked(kind: str, tmp_path: Path) -> None:
    raw = raw_samples()
    path = write(kind, raw, tmp_path / "dark")
    inverted = write(kind, raw._replace(pixels=255 - raw.pixels), tmp_path / "bright")
    assert (load(kind, path).source_ink, load(kind, inverted).source_ink) == ("dark", "bright")
    for ink, background in (("bright", 0), ("dark", 1)):
        one, other = load(kind, path, ink=ink), load(kind, inverted, ink=ink)  # type: ignore[arg-type]
        assert np.array_equal(one.train_images(0), other.train_images(0))
        assert (one.train_images(0)[:, 0] == background).all()


def test_polarity_survives_ink_on_some_borders() -> None:
    pixels = np.zeros((100, 28, 28), dtype=np.uint8)
    pixels[:30] = 255
    pixels[:, :, 0] = 255
    assert ink_of(pixels) == "bright"
    assert ink_of(255 - pixels) == "dark"


def test_content_names_every_file_by_its_hash(tmp_path: Path) -> None:
    raw = raw_samples()
    path = write("leaf", raw, tmp_path / "leaf")
    content = load("leaf", path).content
    assert set(content["sha256"]) == {"train/all_data_0_niid_train_9.json", "test/all_data_0_niid_test_9.json"}
    assert json.loads(json.dumps(content)) == content
    (path / "test" / "all_data_0_niid_test_9.json").write_text(leaf_json(raw, np.arange(len(raw.labels)) > 3))
    assert load("leaf", path).content != content


def test_the_seed_is_part_of_the_content_only_where_it_made_the_split(tmp_path: Path) -> None:
    for split in (True, False):
        path = write("npz", raw_samples(split=split), tmp_path / str(split))
        assert (load("npz", path, seed=1).content == load("npz", path, seed=2).content) == split


@settings(max_examples=30, deadline=None)
@given(sizes=st.lists(st.integers(1, 40), min_size=1, max_size=8), seed=st.integers(0, 2**63 - 1))
def test_a_keyed_split_tests_a_fifth_of_each_device_and_always_leaves_something_to_train(
    sizes: list[int], seed: int
) -> None:
    owners = np.repeat(np.arange(len(sizes)), sizes)
    numbers = np.arange(len(owners)) % 62
    pixels = np.zeros((len(owners), 28, 28), dtype=np.uint8)
    data = assembled("npz", Samples(pixels, numbers, owners, None), {}, ink="bright", seed=seed)
    devices = np.arange(len(sizes))
    train, test = data.train_sizes(devices), data.test_sizes(devices)
    assert (train + test).tolist() == sizes
    for size, tests in zip(sizes, test.tolist(), strict=True):
        assert tests == (0 if size == 1 else max(1, round(0.2 * size)))
    for device in range(len(sizes)):
        both = np.concatenate([data.train_labels(device), data.test_labels(device)])
        assert sorted(both.tolist()) == sorted(numbers[owners == device].tolist())


def test_a_keyed_split_of_a_device_does_not_depend_on_later_devices() -> None:
    raw = raw_samples(devices=4, samples=200, split=False)
    pixels, labels, owners, _ = raw
    early = owners < "w002"

    def split(rows: np.ndarray) -> ArrayDataset:
        return assembled("npz", Samples(pixels[rows], labels[rows], owners[rows], None), {}, ink="bright", seed=4)

    every, some = split(np.ones(200, dtype=bool)), split(early)
    assert every.test_labels(1).tolist() == some.test_labels(1).tolist()
    assert every.first(2).content == some.content
    assert same(every.first(2), some)


def test_one_half_of_leaf_is_split_by_keyed_draw(tmp_path: Path) -> None:
    raw = raw_samples()
    for half in ("train", "test"):
        (tmp_path / half).mkdir()
        (tmp_path / half / f"0_{half}.json").write_text(leaf_json(raw, np.ones(60, dtype=bool)))
        data = load("leaf", tmp_path / half)
        assert data.content["split"] == {"seed": 1, "test_fraction": 0.2}
        assert data.test_sizes(np.arange(5)).min() >= 1


def test_parquet_columns_may_have_other_names_and_images_may_be_plain_bytes(tmp_path: Path) -> None:
    raw = raw_samples()
    assert raw.is_test is not None
    columns = {
        "img": [png(pixels) for pixels in raw.pixels],
        "user": raw.owners.tolist(),
        "label": raw.labels.tolist(),
        "split": np.where(raw.is_test, "test", "train").tolist(),
    }
    pq.write_table(pa.table(columns), tmp_path / "one.parquet")
    assert same(load("parquet", tmp_path / "one.parquet"), load("npz", write("npz", raw, tmp_path)))


def test_npz_takes_numbers_from_0_to_1_and_numbered_devices(tmp_path: Path) -> None:
    raw = raw_samples()
    as_numbers = tmp_path / "numbers.npz"
    device = np.array([int(owner[1:]) * 10 for owner in raw.owners])
    np.savez(
        as_numbers,
        images=(raw.pixels / 255).astype(np.float32),
        labels=raw.labels.astype(np.uint8),
        device=device,
        is_test=np.asarray(raw.is_test),
    )
    data = load("npz", as_numbers)
    assert data.identifiers == ("0", "10", "20", "30", "40")
    reference = load("npz", write("npz", raw, tmp_path))
    assert np.array_equal(data.pixels, reference.pixels)


def test_labels_of_many_devices_are_those_of_each_alone(tmp_path: Path) -> None:
    data = load("npz", write("npz", raw_samples(), tmp_path))
    devices = np.array([3, 0, 3, 4])
    labels, offsets = data.train_labels_of(devices)
    assert np.diff(offsets).tolist() == data.train_sizes(devices).tolist()
    for place, device in enumerate(devices.tolist()):
        assert labels[offsets[place] : offsets[place + 1]].tolist() == data.train_labels(device).tolist()


def test_raw_samples_are_what_the_tests_think() -> None:
    raw: Raw = raw_samples()
    assert not np.array_equal(np.sort(raw.owners), raw.owners)
