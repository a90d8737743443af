"""Data sets of arrays in Python: bytes are images, other numbers are what they are."""

import json
from typing import Any

import numpy as np
import pytest

from hfedms_sim.data import Batches, from_arrays
from hfedms_sim.errors import InputError
from hfedms_sim.scenario.models import DataShape
from hfedms_sim.seeds import Draws

LABELS = np.arange(60) % 10
DEVICE = np.arange(60) // 12
RANDOM = np.random.default_rng(0)


@pytest.mark.parametrize(
    ("inputs", "shape", "is_image"),
    [
        (RANDOM.random((60, 16)), (16,), False),
        (RANDOM.normal(size=(60, 1, 1024)), (1, 1024), False),
        (RANDOM.random(60), (1,), False),
        (RANDOM.random((60, 1, 8, 8)) * 16, (1, 8, 8), False),
        (RANDOM.integers(-9, 9, (60, 2, 5)), (2, 5), False),
        (RANDOM.integers(0, 256, (60, 8, 8), dtype=np.uint8), (1, 8, 8), True),
        (RANDOM.integers(0, 256, (60, 32, 32, 3), dtype=np.uint8), (3, 32, 32), True),
        (RANDOM.integers(0, 256, (60, 3, 32, 48), dtype=np.uint8), (3, 32, 48), True),
        (RANDOM.integers(0, 256, (60, 32, 48, 1), dtype=np.uint8), (1, 32, 48), True),
    ],
)
def test_samples_of_any_shape_come_out_as_they_went_in(inputs: Any, shape: tuple[int, ...], is_image: bool) -> None:
    data = from_arrays(inputs, LABELS, device=DEVICE, is_test=np.arange(60) % 5 == 0)
    assert (data.shape, data.is_image, data.devices) == (DataShape(shape, 10), is_image, 5)
    expected = inputs.astype(np.float32)
    if is_image:
        channels_last = inputs.ndim == 4 and inputs.shape[-1] in (1, 3)
        expected = (np.moveaxis(expected, -1, 1) if channels_last else expected) / np.float32(255)
    rows = (DEVICE == 3) & (np.arange(60) % 5 != 0)
    assert np.array_equal(data.train_inputs(3), expected[rows].reshape(-1, *shape))
    assert data.train_inputs(3).dtype == np.float32
    assert data.train_labels(3).tolist() == LABELS[rows].tolist()


def test_images_are_augmented_and_other_numbers_are_not() -> None:
    for inputs, changes in ((np.full((60, 9, 7, 3), 200, dtype=np.uint8), True), (np.full((60, 3, 9, 7), 0.5), False)):
        data = from_arrays(inputs, LABELS, device=DEVICE)
        captured = Batches(data, Draws(1), 5).inputs(2, ((0, 5),))
        assert captured.shape == (5, 3, 9, 7)
        assert (len(np.unique(captured)) > 1) == changes


def test_samples_given_out_are_not_the_data_sets_own() -> None:
    data = from_arrays(np.ones((60, 2)), LABELS, device=DEVICE)
    data.train_inputs(0)[:] = 7
    assert (data.train_inputs(0) == 1).all()


def test_more_classes_than_a_byte_counts_keep_their_labels() -> None:
    labels = np.arange(3000)
    data = from_arrays(np.zeros((3000, 1)), labels, device=labels % 3, is_test=labels < 0)
    assert data.shape.classes == 3000
    assert data.train_labels(1).tolist() == list(range(1, 3000, 3))
    counts = Batches(data, Draws(1), 1000, static=True).counts({1: ((0, 1000),)})
    assert np.flatnonzero(counts[0]).tolist() == list(range(1, 3000, 3))


@pytest.mark.parametrize(
    ("given", "classes"),
    [({}, 10), ({"classes": 26}, 26), ({"class_names": [f"c{n}" for n in range(12)]}, 12)],
)
def test_classes_are_one_more_than_the_largest_label_or_as_many_as_are_given(given: Any, classes: int) -> None:
    data = from_arrays(np.zeros((60, 1)), LABELS, device=DEVICE, **given)
    assert data.shape.classes == len(data.class_names) == classes
    assert data.content.get("classes") == given.get("classes")


def test_flat_arrays_are_dealt_by_a_partition() -> None:
    data = from_arrays(LABELS[:, None], LABELS, partition={"kind": "shards", "shards_per_device": 1}, devices=10)
    assert data.devices == 10
    for device in range(10):
        assert len(set(data.train_labels(device).tolist())) == 1
        assert data.train_inputs(device)[:, 0].tolist() == data.train_labels(device).tolist()
    assert data.content["partition"] == {"kind": "shards", "shards_per_device": 1, "devices": 10, "seed": 1}


def test_content_tells_apart_whatever_differs_and_is_json() -> None:
    def content(inputs: Any, labels: Any = LABELS, **changes: Any) -> str:
        how = {"device": DEVICE, "name": "mine"} | changes
        return json.dumps(from_arrays(inputs, labels, **how).content, sort_keys=True)

    dealt = {"partition": {"kind": "iid", "devices": 4}, "device": None}
    contents = [
        content(np.ones((60, 3))),
        content(np.ones((60, 3, 1))),
        content(np.ones((60, 3)), labels=LABELS[::-1]),
        content(np.ones((60, 3)), device=DEVICE[::-1].copy()),
        content(np.ones((60, 3)), is_test=LABELS == 3),
        content(np.ones((60, 3)), classes=11),
        content(np.ones((60, 3)), seed=2),
        content(np.ones((60, 3)), **dealt),
        content(np.ones((60, 3)), **dealt, seed=2),
    ]
    assert len(set(contents)) == len(contents)
    assert content(np.ones((60, 3))) == contents[0]


@pytest.mark.parametrize(
    ("changes", "complaint"),
    [
        ({"device": None}, "needs device, or a partition of kind iid, dirichlet or shards"),
        ({"partition": {"kind": "iid"}}, "partition: kind: iid needs devices"),
        ({"partition": {"kind": "dirichlet"}}, "partition: kind: dirichlet needs concentration"),
        ({"partition": {"kind": "column", "column": "x"}}, "needs device, or a partition of kind"),
        ({"partition": {"kind": "iid"}, "devices": 99}, "has 60 samples to deal to 99 devices: must be at least one"),
        ({"partition": {"kind": "shard"}}, "partition.kind: Input should be 'iid', 'dirichlet', 'shards' or 'column'"),
        ({"devices": 3}, "devices says to how many a partition deals: needs partition"),
        ({"labels": LABELS[:50]}, "inputs has the shape (60, 3): must have a row for each of 50 labels"),
        ({"labels": LABELS * 0.5}, "labels must be a list of whole numbers"),
        ({"inputs": np.array([["a"] * 3] * 60)}, "inputs are <U1: must be numbers"),
        ({"inputs": np.zeros((60, 3), dtype=np.uint8)}, "images are 3: must be height x width"),
        ({"classes": 9}, "sample 9: label = 9: must be from 0 to 8"),
        ({"classes": 0}, "classes = 0: must be from 1 to 100000"),
        ({"classes": 12, "class_names": ["a"]}, "has 1 class names, but classes = 12: must be as many"),
        ({"class_names": "abc"}, "class_names must be 1 to 100000 different names"),
        ({"is_test": np.arange(60)}, "is_test must be true or false"),
        ({"inputs": np.zeros((0, 3)), "labels": LABELS[:0], "device": DEVICE[:0]}, "has no samples"),
    ],
)
def test_bad_arrays_are_refused_in_one_line(changes: dict[str, Any], complaint: str) -> None:
    given = {"inputs": np.ones((60, 3)), "labels": LABELS, "device": DEVICE} | changes
    with pytest.raises(InputError) as refusal:
        from_arrays(**given)
    assert str(refusal.value).startswith(f"arrays: {complaint}")
    assert len(str(refusal.value).splitlines()) == 1


def test_numbers_of_numpy_and_names_of_a_table_are_taken() -> None:
    labels = np.arange(30) % 3
    inputs = np.zeros((30, 2))
    dealt = from_arrays(
        inputs,
        labels,
        partition={"kind": "iid"},
        devices=np.int64(5),  # type: ignore[arg-type]
        classes=labels.max() + 1,
        seed=np.int64(3),  # type: ignore[arg-type]
    )
    assert json.loads(json.dumps(dealt.content)) == dealt.content
    named = from_arrays(inputs, labels, device=np.array(["a", "b", "c"] * 10, dtype=object))
    assert named.devices == 3


@pytest.mark.parametrize(
    ("wrong", "said"),
    [
        ({"devices": 0}, "devices = 0: must be at least 1"),
        ({"devices": 2.5}, "devices = 2.5: must be a whole number"),
        ({"devices": 3, "seed": "x"}, "seed = 'x': must be a whole number"),
        ({"devices": 3, "classes": 3.0}, "classes = 3.0: must be a whole number"),
    ],
)
def test_what_is_no_whole_number_is_refused_in_one_line(wrong: dict[str, Any], said: str) -> None:
    with pytest.raises(InputError, match=said):
        from_arrays(np.zeros((9, 2)), np.arange(9) % 3, partition={"kind": "iid"}, **wrong)
