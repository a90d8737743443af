"""Data as the scripts of LEAF write them: JSON files of `users`, `num_samples` and `user_data: {user: {x, y}}`.

y are the labels. x are rows of as many numbers each: rows of 784 are FEMNIST's 28x28 images, with pixels from 0 to 1;
rows of any other length, or nested ones, are taken as they are. LEAF's texts and names of image files are not read.

The files are LEAF's train/ and test/ folders, or *_train*.json and *_test*.json in one folder; where only one half is
there (or files of neither name), it is split by keyed draw. A user is a device. A user in two files of the same half
means two copies of the data, and is refused.
"""

from hashlib import sha256
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hfedms_sim.data.loaders.arrays import ArrayDataset, Reading, Samples, assemble
from hfedms_sim.data.loaders.checked import checked_images, checked_inputs, checked_labels
from hfedms_sim.data.loaders.files import errors_name, files_in, name_of, only_file
from hfedms_sim.errors import InputError, quoted
from hfedms_sim.scenario.models import shape_text
from hfedms_sim.system.machine import require_memory
from hfedms_sim.system.reading import parse_json

_IMAGE_SHAPES = ((784,), (28, 28), (1, 28, 28))


def read_leaf(path: Path, how: Reading) -> ArrayDataset:
    halves = _halves(path)
    reader = _Reader(how.classes)
    for is_test, files in halves.items():
        for file in files:
            reader.read(file, path, is_test)
    with errors_name(path):
        samples = Samples(
            np.concatenate(reader.inputs),
            np.concatenate(reader.labels),
            np.array(reader.owners),
            np.array(reader.is_test) if len(halves) == 2 else None,
        )
        return assemble("leaf", samples, {"sha256": reader.fingerprints}, how)


def _halves(path: Path) -> dict[bool, list[Path]]:
    """The files for training (False) and for testing (True); under one key only if they hold no split."""
    found: dict[bool, list[Path]] = {}
    with errors_name(path):
        for is_test, half in ((False, "train"), (True, "test")):
            files = [*path.glob(f"{half}/*.json"), *path.glob(f"*_{half}*.json")] if path.is_dir() else []
            if files:
                found[is_test] = sorted(only_file(file) for file in files)
    return found or {False: files_in(path, ".json")}


class _Reader:
    """Collects the samples of all files."""

    def __init__(self, classes: int | None) -> None:
        self._classes = classes
        self.inputs: list[NDArray[Any]] = []
        self.labels: list[NDArray[np.int64]] = []
        self.owners: list[str] = []
        self.is_test: list[bool] = []
        self.fingerprints: dict[str, str] = {}
        self._file_of: dict[tuple[str, bool], Path] = {}

    def read(self, file: Path, root: Path, is_test: bool) -> None:
        with errors_name(file):
            require_memory(file.stat().st_size)
            content = file.read_bytes()
            relative = file.relative_to(root) if file != root else Path(file.name)
            self.fingerprints[relative.as_posix()] = sha256(content).hexdigest()
            for user, data, expected in _users(_parsed(content)):
                if (user, is_test) in self._file_of:
                    other = name_of(self._file_of[user, is_test])
                    raise ValueError(f"user {quoted(user)} is also in {other}")
                self._file_of[user, is_test] = file
                try:
                    self._take(user, data, expected, is_test)
                except ValueError as error:
                    raise InputError(f"{name_of(file)}, user {quoted(user)}: {error}") from None

    def _take(self, user: str, data: Any, expected: int | None, is_test: bool) -> None:
        if not isinstance(data, dict) or not isinstance(data.get("x"), list) or not isinstance(data.get("y"), list):
            raise ValueError("must have the lists x and y")
        count = len(data["y"])
        if not count:
            raise ValueError("has no samples")
        if len(data["x"]) != count or expected not in (None, count):
            raise ValueError(f"has {len(data['x'])} samples, {count} labels and num_samples {quoted(expected)}")
        self._add(_array(data["x"], "x", np.float64))
        self.labels.append(checked_labels(_array(data["y"], "y", None), self._classes))
        self.owners += [user] * count
        self.is_test += [is_test] * count

    def _add(self, rows: NDArray[np.float64]) -> None:
        inputs: NDArray[Any] = checked_images(rows) if rows.shape[1:] in _IMAGE_SHAPES else checked_inputs(rows)
        if self.inputs and inputs.shape[1:] != self.inputs[0].shape[1:]:
            first = shape_text(self.inputs[0].shape[1:])
            raise ValueError(f"samples are {shape_text(inputs.shape[1:])}: must be {first} as those before")
        self.inputs.append(inputs)


def _parsed(content: bytes) -> Any:
    try:
        return parse_json(content)
    except UnicodeDecodeError:
        raise ValueError("is not UTF-8 text") from None
    except RecursionError:
        raise ValueError("is nested too deeply to be LEAF's JSON") from None
    except ValueError as error:
        raise ValueError(f"is not whole JSON ({error})") from None


def _users(content: Any) -> list[tuple[str, Any, int | None]]:
    """Each user's name, data and number of samples, if that is given."""
    if not isinstance(content, dict) or not isinstance(content.get("user_data"), dict):
        raise ValueError("must be an object with users and user_data")
    users, user_data = content.get("users"), content["user_data"]
    if not isinstance(users, list) or not all(isinstance(user, str) for user in users):
        raise ValueError("users must be a list of names")
    if len(set(users)) != len(users) or set(users) != set(user_data):
        raise ValueError("users and user_data must name the same users, each once")
    if not users:
        raise ValueError("has no users")
    counts = content.get("num_samples", [None] * len(users))
    if not isinstance(counts, list) or len(counts) != len(users):
        raise ValueError("num_samples must have a number for each user")
    return [(user, user_data[user], count) for user, count in zip(users, counts, strict=True)]


def _array(rows: list[Any], key: str, dtype: Any) -> NDArray[Any]:
    try:
        return np.asarray(rows, dtype=dtype)
    except (TypeError, ValueError, OverflowError):
        raise ValueError(f"{key} must be rows of as many numbers each") from None
