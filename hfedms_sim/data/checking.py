"""What every data set must keep to, as checks that its author can run on one or on the settings of a source.

A few devices are looked at: the first, the last and some between. `faults_in` and `faults_of_source` yield a line for
whatever is broken; `check_dataset` raises the first of them.
"""

import json
from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hfedms_sim.data.base import Dataset
from hfedms_sim.data.sources import open_dataset, require_dataset
from hfedms_sim.errors import InputError
from hfedms_sim.scenario.data import DataSettings

_DEVICES_LOOKED_AT = 5
_PARTS = ("train", "test")
_TYPES = 4


def check_dataset(data: Dataset | DataSettings, *, sensors: int = 12) -> None:
    """Raise ValueError with a line that says what a data set, or the source of these settings, does not keep to."""
    faults = faults_in(data) if isinstance(data, Dataset) else faults_of_source(data, sensors=sensors)
    for fault in faults:
        raise ValueError(fault)


def faults_of_source(settings: DataSettings, *, sensors: int) -> Iterator[str]:
    """Yield what is wrong with the data sets that settings open, and with how they hang on the seed."""
    try:
        one, again, other = (open_dataset(settings, sensors=sensors, types=_TYPES, seed=seed) for seed in (1, 1, 2))
    except InputError as error:
        yield str(error)
        return
    found = list(faults_in(one))
    yield from found
    if found:
        return
    if one.content != again.content or _samples(one) != _samples(again):
        yield "opened twice with one seed it differs: is every draw keyed by the seed?"
    elif one.content == other.content and _samples(one) != _samples(other):
        yield "another seed gives other samples, but the content is the same: it must hold the seed"


def faults_in(dataset: Dataset) -> Iterator[str]:
    """Yield what is wrong with a data set; after a fault in what it says of itself, its samples are not looked at."""
    described = list(_faults_in_description(dataset))
    yield from described
    if described:
        return
    devices = _looked_at(dataset)
    for device in devices:
        faulty = [fault for part in _PARTS for fault in _faults_in_part(dataset, part, device)]
        yield from (f"device {device}: {fault}" for fault in faulty)
        if faulty:
            return
    yield from _faults_in_sizes(dataset, devices)
    if any(_bytes_of(dataset, device) != before for device, before in _samples(dataset)[::-1]):
        yield "what is asked twice is not the same"


def _faults_in_description(dataset: Dataset) -> Iterator[str]:
    try:
        require_dataset(dataset, sensors=1)
    except InputError as error:
        yield str(error)
        return
    lengths = (*dataset.shape.input_shape, dataset.shape.classes)
    if not all(type(length) is int and length >= 1 for length in lengths):
        yield f"shape = {dataset.shape!r}: must be whole numbers from 1"
        return
    names = dataset.class_names
    if len(names) != dataset.shape.classes or len(set(names)) != len(names):
        yield f"class_names has {len(set(names))} different names: must have one for each of {dataset.shape.classes}"
    try:
        if json.loads(json.dumps(dataset.content, allow_nan=False)) != dataset.content:
            yield "content changes on its way through JSON: must be text keys, lists, numbers and text"
    except (TypeError, ValueError) as error:
        yield f"content is no JSON ({error})"


def _faults_in_part(dataset: Dataset, part: str, device: int) -> Iterator[str]:
    labels: NDArray[Any] = getattr(dataset, f"{part}_labels")(device)
    inputs: NDArray[Any] = getattr(dataset, f"{part}_inputs")(device)
    for what, array, dtype in (("labels", labels, np.int64), ("inputs", inputs, np.float32)):
        if not isinstance(array, np.ndarray) or array.dtype != dtype:
            found = array.dtype if isinstance(array, np.ndarray) else type(array).__name__
            yield f"{part}_{what} is {found}: must be a NumPy array of {np.dtype(dtype)}"
            return
    expected = (len(labels), *dataset.shape.input_shape)
    if labels.ndim != 1 or inputs.shape != expected:
        yield f"{part}_inputs has the shape {inputs.shape} and {part}_labels {labels.shape}: must be {expected}"
        return
    if part == "train" and not len(labels):
        yield "has no train sample"
    if ((labels < 0) | (labels >= dataset.shape.classes)).any():
        yield f"{part}_labels go from {labels.min()} to {labels.max()}: must be from 0 to {dataset.shape.classes - 1}"
    if not np.isfinite(inputs).all():
        yield f"{part}_inputs are not all finite"


def _faults_in_sizes(dataset: Dataset, devices: list[int]) -> Iterator[str]:
    numbers = np.array(devices)
    train, test = ([getattr(dataset, f"{part}_labels")(device) for device in devices] for part in _PARTS)
    for part, sizes, labels in (
        ("train", dataset.train_sizes(numbers), train),
        ("test", dataset.test_sizes(numbers), test),
    ):
        if sizes.tolist() != [len(each) for each in labels]:
            yield f"{part}_sizes are {sizes.tolist()} of devices {devices}: their {part}_labels are other in number"
    together = dataset.train_labels_of(numbers)
    if [piece.tolist() for piece in np.split(together.labels, together.offsets[1:-1])] != [x.tolist() for x in train]:
        yield f"train_labels_of devices {devices} are not their train_labels"
    if dataset.least_train_samples > min(len(each) for each in train):
        yield f"least_train_samples = {dataset.least_train_samples}: a device has fewer"


def _looked_at(dataset: Dataset) -> list[int]:
    return sorted({round(device) for device in np.linspace(0, dataset.devices - 1, _DEVICES_LOOKED_AT).tolist()})


def _samples(dataset: Dataset) -> list[tuple[int, bytes]]:
    return [(device, _bytes_of(dataset, device)) for device in _looked_at(dataset)]


def _bytes_of(dataset: Dataset, device: int) -> bytes:
    """Return all labels and samples of a device."""
    parts = dataset.train_labels(device), dataset.test_labels(device)
    inputs = dataset.train_inputs(device), dataset.test_inputs(device)
    return b"".join(np.ascontiguousarray(array).tobytes() for array in (*parts, *inputs))
