"""Data sets of arrays in Python: `from_arrays`."""

from collections.abc import Mapping, Sequence
from hashlib import sha256
from operator import index
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from pydantic import ValidationError

from hfedms_sim.data.base import MAX_CLASSES
from hfedms_sim.data.loaders.arrays import ArrayDataset, Reading, Samples, assemble
from hfedms_sim.data.loaders.checked import require_rows
from hfedms_sim.data.loaders.files import first_line
from hfedms_sim.data.partition import Partition
from hfedms_sim.errors import InputError


def from_arrays(  # noqa: PLR0913  the fields of a data set, all but two by keyword
    inputs: ArrayLike,
    labels: ArrayLike,
    *,
    device: ArrayLike | None = None,
    is_test: ArrayLike | None = None,
    partition: Partition | Mapping[str, Any] | None = None,
    class_names: Sequence[str] | None = None,
    classes: int | None = None,
    name: str = "arrays",
    seed: int = 1,
    devices: int | None = None,
) -> ArrayDataset:
    """Return a data set of arrays in memory, a row for each sample.

    Arguments:
        inputs: bytes (uint8) are images, (samples, height, width) or with 1 or 3 channels last or first; other numbers,
            of any shape, are taken as they are.
        labels: whole numbers from 0.
        device: the device that each sample belongs to, by number or name.
        is_test: whether each sample is for testing; without it a fifth of each device's samples is.
        partition: how samples are dealt to `devices` instead, as a scenario's `data.partition` has it.
        class_names: of the labels, for people.
        classes: how many classes there are, if not one more than the largest label.
        name: how reports call the data set.
        seed: of the partition's draws and of the split.
        devices: how many devices a partition deals to.

    Returns:
        A `Dataset` for `run(scenario, data=...)`.

    Raises:
        InputError: the arrays do not fit each other, or a value is not allowed.

    Example:

        from_arrays(images, labels, partition={"kind": "dirichlet", "concentration": 0.5}, devices=80)
    """
    try:
        rows = _rows(inputs=inputs, labels=labels, device=device, is_test=is_test)
        classes, devices = _whole("classes", classes), _whole("devices", devices)
        how = Reading(None, classes, _partition(partition), devices, _whole("seed", seed) or 0)
        _require(how, has_devices=device is not None)
        arrays = rows if class_names is None else rows | {"class_names": np.asarray(class_names)}
        if rows["inputs"].dtype == np.uint8:
            arrays = arrays | {"images": rows["inputs"]}
        samples = Samples.of(arrays, "device", classes)
        return assemble(name, samples, {"sha256": _digest(rows)}, how)
    except ValueError as error:
        raise InputError(f"{name}: {first_line(error)}") from None


def _whole(key: str, value: int | None) -> int | None:
    """Return a whole number as Python has it, whoever made it."""
    if value is None:
        return None
    try:
        return index(value)
    except TypeError:
        raise ValueError(f"{key} = {value!r:.60}: must be a whole number") from None


def _require(how: Reading, *, has_devices: bool) -> None:
    if how.devices is not None and how.devices < 1:
        raise ValueError(f"devices = {how.devices}: must be at least 1")
    if how.classes is not None and not 1 <= how.classes <= MAX_CLASSES:
        raise ValueError(f"classes = {how.classes}: must be from 1 to {MAX_CLASSES}")
    if how.column is not None or (how.partition is None and not has_devices):
        raise ValueError("needs device, or a partition of kind iid, dirichlet or shards")
    if how.partition is None and how.devices is not None:
        raise ValueError("devices says to how many a partition deals: needs partition")


def _rows(**arrays: ArrayLike | None) -> dict[str, NDArray[Any]]:
    """Return the arrays that are given, each with a row for each of the labels."""
    rows = {key: _plain(np.asarray(array)) for key, array in arrays.items() if array is not None}
    require_rows(rows)
    return rows


def _plain(array: NDArray[Any]) -> NDArray[Any]:
    """Return names that came as objects, as a table's column of text does, as text."""
    if array.dtype == object and all(isinstance(each, str) for each in array.flat):
        return array.astype(np.str_)
    return array


def _partition(partition: Partition | Mapping[str, Any] | None) -> Partition | None:
    if partition is None or isinstance(partition, Partition):
        return partition
    try:
        return Partition.model_validate(partition)
    except ValidationError as error:
        fault = error.errors(include_url=False)[0]
        key = ".".join(("partition", *map(str, fault["loc"])))
        raise ValueError(f"{key}: {fault['msg'].removeprefix('Value error, ')}") from None


def _digest(rows: Mapping[str, NDArray[Any]]) -> str:
    digest = sha256()
    for key, array in rows.items():
        digest.update(f"{key}\0{array.dtype.str}\0{array.shape}\0".encode())
        digest.update(np.ascontiguousarray(array).tobytes())
    return digest.hexdigest()
