"""Loaded files: every format gives the same data set, split and polarity are what they should be."""

import json
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hfedms_sim.data.loaders.arrays import ArrayDataset, Reading, Samples, assemble
from hfedms_sim.data.loaders.checked import ink_of
from hfedms_sim.data.partition import Partition
from hfedms_sim.errors import InputError
from hfedms_sim.scenario.models import DataShape
from tests.data.formats import LOADERS, Raw, leaf_json, load, png, raw_samples, write


def same(one: ArrayDataset, other: ArrayDataset) -> bool:
    return one.identifiers == other.identifiers and all(
        np.array_equal(getattr(one, part), getattr(other, part)) for part in ("inputs", "labels", "starts", "tests")
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
            (False, data.train_labels(device), data.train_inputs(device)),
            (True, data.test_labels(device), data.test_inputs(device)),
        ):
            rows = (raw.owners == name) & (raw.is_test == is_test)
            assert labels.tolist() == raw.labels[rows].tolist()
            assert np.array_equal(images[:, 0], raw.pixels[rows].astype(np.float32) / np.float32(255))


@pytest.mark.parametrize("kind", LOADERS)
def test_polarity_is_detected_and_delivered_as_asked(kind: str, tmp_path: Path) -> None:
    raw = raw_samples()
    path = write(kind, raw, tmp_path / "dark")
    inverted = write(kind, raw._replace(pixels=255 - raw.pixels), tmp_path / "bright")
    assert (load(kind, path).source_ink, load(kind, inverted).source_ink) == ("dark", "bright")
    for ink, background in (("bright", 0), ("dark", 1)):
        one, other = load(kind, path, ink=ink), load(kind, inverted, ink=ink)
        assert np.array_equal(one.train_inputs(0), other.train_inputs(0))
        assert (one.train_inputs(0)[:, :, 0] == background).all()


def test_polarity_survives_ink_on_some_borders() -> None:
    pixels = np.zeros((100, 1, 28, 28), dtype=np.uint8)
    pixels[:30] = 255
    pixels[..., 0] = 255
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
    pixels = np.zeros((len(owners), 1, 28, 28), dtype=np.uint8)
    data = assemble("npz", Samples(pixels, numbers, owners, None), {}, Reading(seed=seed))
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
        samples = Samples(pixels[rows, None], labels[rows], owners[rows], None)
        return assemble("npz", samples, {}, Reading(seed=4, classes=62))

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
    assert np.array_equal(data.inputs, reference.inputs)


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


def test_a_set_of_ten_classes_has_ten(tmp_path: Path) -> None:
    raw = raw_samples()
    path = write("npz", raw._replace(labels=raw.labels % 10), tmp_path)
    assert load("npz", path).shape == DataShape((1, 28, 28), 10)
    assert load("npz", path, classes=26).shape == DataShape((1, 28, 28), 26)
    assert "classes" not in load("npz", path).content
    assert load("npz", path, classes=26).content["classes"] == 26
    with pytest.raises(InputError, match="must be from 0 to 4"):
        load("npz", path, classes=5)


@pytest.mark.parametrize(
    ("images", "shape"),
    [
        ((12, 32, 20), (1, 32, 20)),
        ((12, 32, 20, 3), (3, 32, 20)),
        ((12, 3, 32, 20), (3, 32, 20)),
        ((12, 32, 20, 1), (1, 32, 20)),
        ((12, 784), (1, 28, 28)),
    ],
)
def test_npz_takes_images_of_any_size_in_grey_and_colour(
    images: tuple[int, ...], shape: tuple[int, ...], tmp_path: Path
) -> None:
    pixels = np.random.default_rng(0).integers(0, 100, images, dtype=np.uint8)
    for name, values in (("bytes", pixels), ("numbers", pixels / 255)):
        np.savez(tmp_path / name, images=values, labels=np.arange(12) % 3, device=np.zeros(12, dtype=int))
    data, same_data = load("npz", tmp_path / "bytes.npz"), load("npz", tmp_path / "numbers.npz")
    assert (data.shape, data.is_image) == (DataShape(shape, 3), True)
    assert np.array_equal(data.inputs, same_data.inputs)
    last = images[-1] in (1, 3) and len(images) == 4
    first_of_all = (np.moveaxis(pixels, -1, 1) if last else pixels).reshape(12, *shape)
    assert {sample.tobytes() for sample in data.inputs} == {sample.tobytes() for sample in first_of_all}
    assert ("ink" in data.content) == (shape[0] == 1)


def test_npz_takes_numbers_of_any_shape_as_they_are(tmp_path: Path) -> None:
    inputs = np.random.default_rng(0).normal(size=(12, 2, 50)) * 1000
    names = np.array(["low", "mid", "high"])
    np.savez(tmp_path / "own", inputs=inputs, labels=np.arange(12) % 2, device=np.arange(12) // 6, class_names=names)
    data = load("npz", tmp_path / "own.npz")
    assert (data.shape, data.is_image, data.class_names) == (DataShape((2, 50), 3), False, ("low", "mid", "high"))
    everything = np.concatenate([data.train_inputs(1), data.test_inputs(1)])
    assert sorted(everything.ravel().tolist()) == sorted(inputs[6:].astype(np.float32).ravel().tolist())
    assert "ink" not in data.content


def test_ink_is_for_images_of_one_channel_and_may_be_left_as_it_is(tmp_path: Path) -> None:
    raw = raw_samples()
    path = write("npz", raw, tmp_path)
    assert np.array_equal(load("npz", path, ink=None).train_inputs(0), load("npz", path, ink="dark").train_inputs(0))
    np.savez(tmp_path / "own", inputs=np.zeros((4, 2)), labels=np.arange(4), device=np.zeros(4, dtype=int))
    with pytest.raises(InputError, match=r"own\.npz: ink = dark: only images of one channel have ink"):
        load("npz", tmp_path / "own.npz", ink="dark")


@pytest.mark.parametrize(("x", "shape"), [([1.5, -2, 7], (3,)), ([[1, 2], [3, 4]], (2, 2)), (5, (1,))])
def test_leaf_takes_rows_of_other_lengths_as_they_are(x: Any, shape: tuple[int, ...], tmp_path: Path) -> None:
    content = {"users": ["ann"], "user_data": {"ann": {"x": [x, x], "y": [0, 4]}}}
    (tmp_path / "all.json").write_text(json.dumps(content))
    data = load("leaf", tmp_path)
    assert (data.shape, data.is_image) == (DataShape(shape, 5), False)
    assert data.train_inputs(0)[0].tolist() == np.reshape(x, shape).tolist()


def parquet_of(path: Path, images: list[Any], **columns: Any) -> Path:
    count = len(images)
    columns = {"label": [0] * count, "device": [0] * count, "split": ["train"] * count} | columns
    pq.write_table(pa.table({"image": [png(image) for image in images]} | columns), path)
    return path


def test_parquet_takes_colour_and_grey_of_any_size(tmp_path: Path) -> None:
    random = np.random.default_rng(0)
    grey, colour = random.integers(0, 99, (6, 9), dtype=np.uint8), random.integers(0, 99, (6, 9, 3), dtype=np.uint8)
    alike = np.repeat(grey[..., None], 3, axis=-1)
    for images, channels in (([grey, grey], 1), ([colour, colour], 3), ([grey, colour], 3), ([alike, grey], 1)):
        data = load("parquet", parquet_of(tmp_path / "one.parquet", images))
        assert data.shape.input_shape == (channels, 6, 9)
        for found, image in zip(data.inputs, images, strict=True):
            full = np.moveaxis(image if image.ndim == 3 else np.repeat(image[..., None], 3, axis=-1), -1, 0)
            assert np.array_equal(found, full[:channels])


def test_parquet_files_of_one_set_are_of_one_size(tmp_path: Path) -> None:
    random = np.random.default_rng(0)
    grey, colour = random.integers(0, 99, (6, 9), dtype=np.uint8), random.integers(0, 99, (6, 9, 3), dtype=np.uint8)
    parquet_of(tmp_path / "a.parquet", [grey])
    parquet_of(tmp_path / "b.parquet", [colour])
    assert load("parquet", tmp_path).shape.input_shape == (3, 6, 9)
    parquet_of(tmp_path / "b.parquet", [grey[1:]])
    with pytest.raises(InputError, match=r"samples are 5x9 in 'b\.parquet': must be 6x9 as in 'a\.parquet'"):
        load("parquet", tmp_path)


@pytest.mark.parametrize(
    "kind",
    [None, pa.list_(pa.float32()), pa.large_list(pa.int64()), pa.list_(pa.float64(), 4)],
)
def test_parquet_takes_lists_of_numbers(kind: Any, tmp_path: Path) -> None:
    rows = np.arange(24).reshape(6, 4)
    table = pa.table({"inputs": pa.array(rows.tolist(), kind), "label": rows[:, 0] % 3, "user": ["a", "b"] * 3})
    pq.write_table(table, tmp_path / "own.parquet", row_group_size=2)
    data = load("parquet", tmp_path)
    assert data.shape.input_shape == (4,)
    assert sorted(data.inputs.tolist()) == rows.tolist()


def test_parquet_takes_nested_lists(tmp_path: Path) -> None:
    cubes = np.arange(48.0).reshape(4, 2, 6)
    pq.write_table(
        pa.table({"inputs": cubes.tolist(), "label": [0, 1, 2, 3], "user": [0] * 4}), tmp_path / "own.parquet"
    )
    data = load("parquet", tmp_path / "own.parquet")
    assert data.shape.input_shape == (2, 6)
    assert sorted(data.inputs.tolist()) == cubes.tolist()


@pytest.mark.parametrize("kind", ["npz", "parquet"])
def test_another_column_may_name_the_device(kind: str, tmp_path: Path) -> None:
    columns = {"label": np.arange(12) % 4, "device": np.arange(12), "site": np.array(["x", "y", "x"] * 4)}
    inputs = np.arange(24.0).reshape(12, 2)
    path = tmp_path / f"own.{kind}"
    if kind == "npz":
        np.savez(path, inputs=inputs, labels=columns.pop("label"), **columns)
    else:
        pq.write_table(pa.table({"inputs": inputs.tolist(), **columns}), path)
    data = load(kind, path, partition=Partition(kind="column", column="site"))
    assert data.identifiers == ("x", "y")
    assert data.train_sizes(np.arange(2)).sum() + data.test_sizes(np.arange(2)).sum() == 12
    assert data.content["partition"] == {"kind": "column", "column": "site"}
    with pytest.raises(InputError, match=r"has no .*town"):
        load(kind, path, partition=Partition(kind="column", column="town"))
    label = "labels" if kind == "npz" else "label"
    by_label = load(kind, path, partition=Partition(kind="column", column=label))
    assert [set(by_label.train_labels(device).tolist()) for device in range(4)] == [{0}, {1}, {2}, {3}]
    with pytest.raises(InputError, match="inputs must be whole numbers or names"):
        load(kind, path, partition=Partition(kind="column", column="inputs"))


@pytest.mark.parametrize("kind", LOADERS)
def test_a_partition_deals_anew_what_a_file_had_dealt(kind: str, tmp_path: Path) -> None:
    path = write(kind, raw_samples(split=False), tmp_path)
    data = load(kind, path, partition=Partition(kind="iid"), devices=12, seed=3)
    assert data.devices == 12
    assert (data.train_sizes(np.arange(12)) + data.test_sizes(np.arange(12))).tolist() == [5] * 12
    assert data.content["partition"] == {"kind": "iid", "devices": 12, "seed": 3}
    assert len(np.unique(data.inputs, axis=0)) == 60


@pytest.mark.parametrize("kind", ["npz", "parquet"])
def test_flat_data_need_no_device(kind: str, tmp_path: Path) -> None:
    inputs, labels, is_test = np.arange(40.0).reshape(20, 2), np.arange(20) % 4, np.arange(20) % 5 == 0
    path = tmp_path / f"own.{kind}"
    if kind == "npz":
        np.savez(path, inputs=inputs, labels=labels, is_test=is_test)
    else:
        pq.write_table(pa.table({"inputs": inputs.tolist(), "label": labels, "is_test": is_test}), path)
    data = load(kind, path, partition=Partition(kind="iid", devices=4))
    assert data.train_sizes(np.arange(4)).tolist() == [4] * 4
    assert data.test_sizes(np.arange(4)).tolist() == [1] * 4
    with pytest.raises(InputError, match=r"or data\.partition to deal the samples"):
        load(kind, path)


def test_arrays_that_hold_no_devices_are_no_column(tmp_path: Path) -> None:
    images = np.zeros((4, 6, 6), dtype=np.uint8)
    np.savez(tmp_path / "own", images=images, labels=np.arange(4), class_names=np.array(["a", "b", "c", "d", "e"]))
    for column, complaint in (
        ("images", "images must be whole numbers or names"),
        ("class_names", r"class_names has the shape \(5,\): must have a row for each of 4 labels"),
    ):
        with pytest.raises(InputError, match=complaint):
            load("npz", tmp_path / "own.npz", partition=Partition(kind="column", column=column))


@pytest.mark.parametrize("kind", ["npz", "parquet"])
def test_devices_that_are_dealt_anew_are_not_looked_at(kind: str, tmp_path: Path) -> None:
    path = tmp_path / f"own.{kind}"
    device = np.array([0.5, 1, 2, 3])
    if kind == "npz":
        np.savez(path, inputs=np.zeros((4, 2)), labels=np.arange(4), device=device)
    else:
        pq.write_table(pa.table({"inputs": np.zeros((4, 2)).tolist(), "label": np.arange(4), "device": device}), path)
    assert load(kind, path, partition=Partition(kind="iid", devices=2)).devices == 2
