"""One line for each way in which a file can be bad: the file, where in it, what is wrong."""

import contextlib
import json
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from hfedms_sim.errors import InputError
from tests.data.formats import LOADERS, load, png

WHITE = np.full((4, 28, 28), 255, dtype=np.uint8)
GOOD_NPZ = {"images": WHITE, "labels": np.arange(4), "device": np.array([0, 0, 1, 1])}
NAN = np.where(np.arange(4 * 784).reshape(4, 28, 28) == 2 * 784, np.nan, 1.0)

IMAGES = "must be height x width, with 1 or 3 channels last or first, if any"
OR_DEAL = ", or data.partition to deal the samples"

BAD_NPZ: dict[str, tuple[dict[str, Any], str]] = {
    "no labels": ({"labels": None}, "has no array 'labels': needs images, labels, device"),
    "no samples": ({"images": None}, "has no array 'images': needs images or inputs, labels, device"),
    "both": ({"inputs": WHITE}, "has images and inputs: must have one of them"),
    "no device": ({"device": None}, f"has no array 'device': needs images, labels, device{OR_DEAL}"),
    "label too large": ({"labels": np.array([0, 1, 100_000, 3])}, "sample 2: label = 100000: must be from 0 to 99999"),
    "label negative": ({"labels": np.array([0, -1, 2, 3])}, "sample 1: label = -1: must be from 0 to 99999"),
    "label fraction": ({"labels": np.array([0.5, 1, 2, 3])}, "labels must be a list of whole numbers"),
    "label alone": ({"labels": np.array(3)}, "labels must be a list of whole numbers"),
    "four channels": ({"images": np.zeros((4, 28, 28, 4), np.uint8)}, f"images are 28x28x4: {IMAGES}"),
    "rows": ({"images": np.zeros((4, 16), np.uint8)}, f"images are 16: {IMAGES}"),
    "no pixels": ({"images": np.zeros((4, 28, 0), np.uint8)}, "images are 1x28x0: must have pixels"),
    "flat": ({"images": np.zeros(4, np.uint8)}, f"images are one number: {IMAGES}"),
    "NaN": ({"images": NAN}, "sample 2: pixel = nan: must be a byte (uint8) or a number from 0 to 1"),
    "not scaled": ({"images": WHITE * 1.0}, "sample 0: pixel = 255: must be a byte (uint8) or a number from 0 to 1"),
    "truth": ({"images": WHITE > 0}, "pixels are bool: must be bytes (uint8) or numbers from 0 to 1"),
    "fewer images": (
        {"images": WHITE[:3]},
        "images has the shape (3, 28, 28): must have a row for each of 4 labels",
    ),
    "device fraction": ({"device": np.array([0.0, 0, 1, 1])}, "device must be whole numbers or names"),
    "nothing to train": ({"is_test": np.array([False, True, True, True])}, "device 1 has no train sample"),
    "odd split": ({"is_test": np.array([0, 1, 2, 0])}, "is_test must be true or false"),
    "a table of devices": (
        {"device": np.zeros((4, 2), dtype=int)},
        "device has the shape (4, 2): must have a row for each of 4 labels",
    ),
    "names of classes": ({"class_names": np.array(["a", "b", "a"])}, "class_names must be 1 to 100000 different names"),
    "fewer names": ({"class_names": np.array(["a", "b", "c"])}, "sample 3: label = 3: must be from 0 to 2"),
    "inputs of words": (
        {"images": None, "inputs": np.array([["a"], ["b"], ["c"], ["d"]])},
        "inputs are <U1: must be numbers",
    ),
    "inputs without values": ({"images": None, "inputs": np.zeros((4, 0))}, "inputs are 0: must have values"),
    "inputs not a number": (
        {"images": None, "inputs": NAN},
        "sample 2: value = nan: must be a finite number in single precision",
    ),
    "inputs too large": (
        {"images": None, "inputs": np.array([1, 1e300, 1, 1])},
        "sample 1: value = 1e+300: must be a finite number in single precision",
    ),
    "objects": (
        {"device": np.array([0, 0, "a", None], dtype=object)},
        "is not a NumPy archive of plain arrays (Python objects are not read)",
    ),
    "empty": (
        {"images": WHITE[:0], "labels": np.arange(0), "device": np.arange(0)},
        "has no samples",
    ),
}

GOOD_USER = {"x": (WHITE[:2].reshape(2, 784) / 255).tolist(), "y": [1, 2]}


def leaf(**user: Any) -> dict[str, Any]:
    return {"users": ["ann"], "num_samples": [2], "user_data": {"ann": GOOD_USER | user}}


BAD_LEAF: dict[str, tuple[object, str]] = {
    "a list": ([], ": must be an object with users and user_data"),
    "no users": ({"users": [], "num_samples": [], "user_data": {}}, ": has no users"),
    "users missing": ({"user_data": {}}, ": users must be a list of names"),
    "user without data": (
        leaf() | {"users": ["ann", "bob"]},
        ": users and user_data must name the same users, each once",
    ),
    "one count short": (leaf() | {"num_samples": []}, ": num_samples must have a number for each user"),
    "wrong count": (leaf() | {"num_samples": [3]}, ", user 'ann': has 2 samples, 2 labels and num_samples 3"),
    "no y": (leaf(y=None), ", user 'ann': must have the lists x and y"),
    "no samples": (leaf(x=[], y=[]), ", user 'ann': has no samples"),
    "fewer labels": (leaf(y=[1]), ", user 'ann': has 2 samples, 1 labels and num_samples 2"),
    "label too large": (leaf(y=[1, 100_000]), ", user 'ann': sample 1: label = 100000: must be from 0 to 99999"),
    "label a word": (leaf(y=[1, "b"]), ", user 'ann': labels must be a list of whole numbers"),
    "ragged": (leaf(x=[[1.0] * 784, [1.0]]), ", user 'ann': x must be rows of as many numbers each"),
    "no numbers": (leaf(x=[[], []]), ", user 'ann': inputs are 0: must have values"),
    "words": (leaf(x=["a.jpg", "b.jpg"]), ", user 'ann': x must be rows of as many numbers each"),
    "features not a number": (
        leaf(x=[[1.0, 2.0], [1.0, float("nan")]]),
        ", user 'ann': sample 1: value = nan: must be a finite number in single precision",
    ),
    "other size": (
        {
            "users": ["ann", "bob"],
            "num_samples": [2, 2],
            "user_data": {"ann": GOOD_USER, "bob": GOOD_USER | {"x": [[1.0] * 783] * 2}},
        },
        ", user 'bob': samples are 783: must be 1x28x28 as those before",
    ),
    "NaN": (
        leaf(x=[[1.0] * 784, [1.0] * 783 + [float("nan")]]),
        ", user 'ann': sample 1: pixel = nan: must be a byte (uint8) or a number from 0 to 1",
    ),
}

PNG = png(WHITE[0])
GOOD_PARQUET: dict[str, Any] = {"image": [PNG] * 2, "writer_id": ["ann"] * 2, "character": [1, 2]}
BAD_PARQUET: dict[str, tuple[dict[str, Any], str]] = {
    "no image": ({"image": None}, "has no image column: needs one of image, img, inputs"),
    "no writer": (
        {"writer_id": None},
        f"has no writer column: needs one of writer_id, writer, user, user_id, device{OR_DEAL}",
    ),
    "no label": ({"character": None}, "has no label column: needs one of character, label"),
    "no rows": ({"image": pa.array([], pa.binary()), "writer_id": [], "character": []}, "has no rows"),
    "a gap": ({"character": [1, None]}, "row 1: the character is missing"),
    "label too large": ({"character": [1, 100_000]}, "sample 1: label = 100000: must be from 0 to 99999"),
    "label a word": ({"character": ["A", "B"]}, "labels must be a list of whole numbers"),
    "text image": (
        {"image": ["a", "b"]},
        "the image is 'string': must be PNG bytes, or a struct with them as 'bytes'",
    ),
    "no bytes": ({"image": [{"bytes": PNG}, {"bytes": None}]}, "row 1: the image cannot be decoded"),
    "cut PNG": ({"image": [PNG, PNG[:40]]}, "row 1: the image cannot be decoded"),
    "other size": ({"image": [PNG, png(WHITE[0, :20])]}, "row 1: the image is 28x20: must be 28x28 as the first one"),
    "writer a fraction": ({"writer_id": [0.5, 1.5]}, "the writer must be whole numbers or names"),
    "ragged inputs": (
        {"image": None, "inputs": [[1.0], [1.0, 2.0]]},
        "inputs must be lists of as many numbers each",
    ),
    "inputs of words": (
        {"image": None, "inputs": [["a"], ["b"]]},
        "inputs are 'list<element: string>': must be lists of numbers",
    ),
    "an input missing": (
        {"image": None, "inputs": [[1.0], [None]]},
        "sample 1: value = nan: must be a finite number in single precision",
    ),
    "odd split": (
        {"split": ["train", "validation"]},
        "row 1: split = 'validation': must be train or test (is_test: true or false)",
    ),
}


def refusal(kind: str, path: Path) -> str:
    with pytest.raises(InputError) as error:
        load(kind, path)
    message = str(error.value)
    assert len(message.splitlines()) == 1
    assert len(message) < len(str(path)) + 250
    return message


@pytest.mark.parametrize(("changes", "complaint"), BAD_NPZ.values(), ids=BAD_NPZ)
def test_a_bad_archive_is_refused_in_one_line(changes: dict[str, Any], complaint: str, tmp_path: Path) -> None:
    path = tmp_path / "data.npz"
    np.savez(path, **{key: array for key, array in (GOOD_NPZ | changes).items() if array is not None})
    assert refusal("npz", path) == f"{path}: {complaint}"


@pytest.mark.parametrize(("content", "complaint"), BAD_LEAF.values(), ids=BAD_LEAF)
def test_a_bad_leaf_file_is_refused_in_one_line(content: object, complaint: str, tmp_path: Path) -> None:
    path = tmp_path / "0.json"
    path.write_text(json.dumps(content))
    assert refusal("leaf", tmp_path) == f"{path}{complaint}"


@pytest.mark.parametrize(("changes", "complaint"), BAD_PARQUET.values(), ids=BAD_PARQUET)
def test_a_bad_parquet_file_is_refused_in_one_line(changes: dict[str, Any], complaint: str, tmp_path: Path) -> None:
    path = tmp_path / "data.parquet"
    columns = {key: values for key, values in (GOOD_PARQUET | changes).items() if values is not None}
    pq.write_table(pa.table(columns), path)
    assert refusal("parquet", path) == f"{path}: {complaint}"


def write_good(kind: str, directory: Path) -> Path:
    path = directory / f"data.{'json' if kind == 'leaf' else kind}"
    if kind == "npz":
        np.savez(path, **GOOD_NPZ)
    elif kind == "leaf":
        path.write_text(json.dumps(leaf()))
    else:
        pq.write_table(pa.table(GOOD_PARQUET), path)
    return path


def cut(content: bytes) -> bytes:
    return content[: len(content) * 2 // 3]


@pytest.mark.parametrize("spoil", [cut, lambda _: b"", lambda _: b"\x80\x04garbage", lambda _: b"\xff\xfe[1"])
@pytest.mark.parametrize("kind", LOADERS)
def test_a_file_that_is_not_whole_is_refused(kind: str, spoil: Callable[[bytes], bytes], tmp_path: Path) -> None:
    path = write_good(kind, tmp_path)
    load(kind, path)
    path.write_bytes(spoil(path.read_bytes()))
    assert refusal(kind, path).startswith(f"{path}: is not ")


def write_numbers(kind: str, directory: Path) -> Path:
    """Inputs that are no images, with names of classes where there can be any."""
    path = directory / f"data.{'json' if kind == 'leaf' else kind}"
    rows = np.arange(12.0).reshape(4, 3)
    if kind == "npz":
        names = np.array(["a", "b", "c", "d"])
        np.savez(path, inputs=rows, labels=np.arange(4), device=np.zeros(4, dtype=int), class_names=names)
    elif kind == "leaf":
        path.write_text(json.dumps(leaf(x=rows[:2].tolist())))
    else:
        colour = png(np.arange(75, dtype=np.uint8).reshape(5, 5, 3))
        columns = {"inputs": rows.tolist(), "image": [colour] * 4, "label": range(4), "device": [0, 0, 1, 1]}
        pq.write_table(pa.table({key: pa.array(values) for key, values in columns.items()}), path)
    return path


@pytest.mark.parametrize("write", [write_good, write_numbers])
@pytest.mark.parametrize("kind", LOADERS)
def test_a_damaged_file_is_read_or_refused_but_never_trips_the_loader(
    kind: str, write: Callable[[str, Path], Path], tmp_path: Path
) -> None:
    path = write(kind, tmp_path)
    good = path.read_bytes()
    random = np.random.default_rng(0)
    for near_the_start in (True, False) * 60:
        damaged = bytearray(good)
        for place in random.integers(0, min(400, len(good)) if near_the_start else len(good), 2):
            damaged[place] = random.integers(256)
        path.write_bytes(damaged)
        with contextlib.suppress(InputError):
            load(kind, path)


@pytest.mark.parametrize("kind", LOADERS)
def test_a_path_that_holds_no_data_is_refused(kind: str, tmp_path: Path) -> None:
    missing = tmp_path / "missing"
    assert refusal(kind, missing) == f"{missing}: no such file"
    empty = {"npz": "is a directory, not a file", "leaf": "has no *.json file", "parquet": "has no *.parquet file"}
    assert refusal(kind, tmp_path) == f"{tmp_path}: {empty[kind]}"
    assert refusal(kind, Path("/dev/null")) == "/dev/null: is a device or a pipe, not a file"
    assert refusal(kind, Path("a\0b")).startswith("'a\\x00b': ")


def test_a_deeply_nested_file_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "deep.json"
    path.write_text("[" * 200_000)
    assert refusal("leaf", path).startswith(f"{path}: is n")


def test_a_user_in_two_files_of_one_half_is_refused(tmp_path: Path) -> None:
    for name in ("0.json", "1.json"):
        (tmp_path / name).write_text(json.dumps(leaf()))
    assert refusal("leaf", tmp_path) == f"{tmp_path / '1.json'}: user 'ann' is also in {tmp_path / '0.json'}"


def test_a_user_with_test_samples_only_is_refused(tmp_path: Path) -> None:
    (tmp_path / "0_train.json").write_text(json.dumps(leaf()))
    bob = leaf() | {"users": ["bob"], "user_data": {"bob": GOOD_USER}}
    (tmp_path / "0_test.json").write_text(json.dumps(bob))
    assert refusal("leaf", tmp_path) == f"{tmp_path}: device 'bob' has no train sample"


def test_a_single_array_is_not_an_archive(tmp_path: Path) -> None:
    path = tmp_path / "data.npy"
    np.save(path, WHITE)
    assert refusal("npz", path) == f"{path}: is not a whole NumPy archive (it is a single array)"


def test_files_with_and_without_a_split_do_not_mix(tmp_path: Path) -> None:
    pq.write_table(pa.table(GOOD_PARQUET), tmp_path / "a.parquet")
    pq.write_table(pa.table(GOOD_PARQUET | {"is_test": [False, True]}), tmp_path / "b.parquet")
    assert refusal("parquet", tmp_path) == f"{tmp_path}: some files have a split column, others have none"


def test_parquet_without_pillow_says_what_to_install(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    pq.write_table(pa.table(GOOD_PARQUET), tmp_path / "a.parquet")
    monkeypatch.setitem(sys.modules, "PIL", None)
    expected = "data.set = parquet: needs Pillow to decode the images; install the package pillow"
    assert refusal("parquet", tmp_path) == expected
