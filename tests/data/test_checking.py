"""Every data set that ships passes the checks, and each way to break one is found."""

import re
from collections.abc import Callable
from pathlib import Path
from typing import Any, Literal

import numpy as np
import pytest
from numpy.typing import NDArray

from hfedms_sim.data import Dataset, DataSource, from_arrays
from hfedms_sim.data.base import DeviceLabels
from hfedms_sim.data.checking import check_dataset
from hfedms_sim.data.shipped import GlyphsData, NpzData, VibrationData
from hfedms_sim.data.vibration.vibration import Vibration
from hfedms_sim.scenario.data import DataSettings
from hfedms_sim.scenario.models import DataShape
from tests.data.formats import raw_samples, write


@pytest.mark.parametrize(
    "settings",
    [GlyphsData(), VibrationData(sensors_per_machine=5), VibrationData(evenly=True)],
    ids=["glyphs", "vibration", "evenly"],
)
def test_embedded_sets_pass(settings: DataSettings) -> None:
    check_dataset(settings, sensors=7)


def test_files_pass_with_and_without_a_partition(tmp_path: Path) -> None:
    path = str(write("npz", raw_samples(split=False), tmp_path))
    check_dataset(NpzData(path=path), sensors=5)
    dealt = {"path": path, "partition": {"kind": "dirichlet", "concentration": 0.3}}
    check_dataset(NpzData.model_validate(dealt), sensors=9)


def test_objects_pass() -> None:
    check_dataset(Vibration(1, 3))
    check_dataset(from_arrays(np.ones((20, 2, 3)), np.arange(20) % 400, device=np.arange(20) // 5, classes=400))


class Toy(Dataset):
    """Two random numbers a sample, and whether the first is larger."""

    name = "toy"
    devices = 4
    shape = DataShape((2,), 2)

    def __init__(self, seed: int = 1) -> None:
        self.seed = seed
        self.content = {"set": "toy", "seed": seed}

    def train_inputs(self, device: int) -> NDArray[np.float32]:
        return np.random.default_rng([self.seed, device]).random((6 + device, 2), dtype=np.float32)

    def test_inputs(self, device: int) -> NDArray[np.float32]:
        return self.train_inputs(device)[:2] + np.float32(1)

    def train_labels(self, device: int) -> NDArray[np.int64]:
        return np.argmin(self.train_inputs(device), axis=1)

    def test_labels(self, device: int) -> NDArray[np.int64]:
        return np.argmin(self.test_inputs(device), axis=1)


def test_a_small_set_passes() -> None:
    check_dataset(Toy())


def drawn_next(toy: Dataset, device: int) -> NDArray[np.float32]:
    return np.random.default_rng().random((6 + device, 2), dtype=np.float32)


BROKEN: dict[str, tuple[str, Any, str]] = {
    "no devices": ("devices", 0, "toy: has 0 devices, but sensors.count = 1"),
    "shape a tuple": ("shape", (2, 2), "shape = (2, 2): must be of the type DataShape"),
    "shape of nothing": ("shape", DataShape((0,), 2), "must be whole numbers from 1"),
    "an image of features": ("is_image", True, "is_image, but samples are 2 in 2 classes"),
    "one name": ("class_names", ("a", "a"), "class_names has 1 different names: must have one for each of 2"),
    "inputs of double precision": (
        "train_inputs",
        lambda toy, device: np.ones((6 + device, 2)),
        "device 0: train_inputs is float64: must be a NumPy array of float32",
    ),
    "a list": ("test_labels", lambda toy, device: [0, 1], "device 0: test_labels is list: must be a NumPy array"),
    "labels too large": (
        "test_labels",
        lambda toy, device: np.array([0, 2]),
        "device 0: test_labels go from 0 to 2: must be from 0 to 1",
    ),
    "fewer labels": (
        "test_labels",
        lambda toy, device: np.array([0]),
        "device 0: test_inputs has the shape (2, 2) and test_labels (1,): must be (1, 2)",
    ),
    "not a number": (
        "test_inputs",
        lambda toy, device: np.full((2, 2), np.nan, dtype=np.float32),
        "device 0: test_inputs are not all finite",
    ),
    "sizes": ("train_sizes", lambda toy, devices: devices * 0 + 7, "train_sizes are [7, 7, 7, 7]"),
    "labels together": (
        "train_labels_of",
        lambda toy, devices: DeviceLabels(np.zeros(30, dtype=np.int64), np.array([0, 6, 13, 21, 30])),
        "train_labels_of devices [0, 1, 2, 3] are not their train_labels",
    ),
    "the least": ("least_train_samples", 7, "least_train_samples = 7: a device has fewer"),
}


@pytest.mark.parametrize(("attribute", "value", "fault"), BROKEN.values(), ids=BROKEN)
def test_a_broken_set_is_told_what_is_wrong(
    attribute: str, value: Any, fault: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(Toy, attribute, value)
    with pytest.raises(ValueError, match=re.escape(fault)) as found:
        check_dataset(Toy())
    assert len(str(found.value).splitlines()) == 1


def test_samples_drawn_anew_are_found(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Toy, "train_inputs", drawn_next)
    monkeypatch.setattr(Toy, "train_labels", lambda toy, device: np.zeros(6 + device, dtype=np.int64))
    monkeypatch.setattr(Toy, "test_inputs", lambda toy, device: np.ones((1, 2), dtype=np.float32))
    monkeypatch.setattr(Toy, "test_labels", lambda toy, device: np.zeros(1, dtype=np.int64))
    with pytest.raises(ValueError, match="what is asked twice is not the same"):
        check_dataset(Toy())


@pytest.mark.parametrize(
    ("content", "fault"),
    [({"a": np.ones(1)}, "is no JSON"), ({"a": (1, 2)}, "changes on its way"), ({1: 2}, "changes")],
)
def test_content_is_to_be_json(content: Any, fault: str) -> None:
    toy = Toy()
    toy.content = content
    with pytest.raises(ValueError, match=f"content {fault}"):
        check_dataset(toy)


class Unnamed(Toy):
    """A set that says nothing of its classes."""

    class_names = ()


class ToyData(DataSettings):
    set: Literal["toy"] = "toy"


class ToySource(DataSource):
    Settings = ToyData
    about = "two numbers"
    make: Callable[[int], Dataset] = Toy

    @classmethod
    def open(cls, settings: ToyData, *, sensors: int, types: int, seed: int) -> Dataset:
        return cls.make(seed)


def test_a_source_is_checked_for_how_its_sets_hang_on_the_seed(monkeypatch: pytest.MonkeyPatch) -> None:
    check_dataset(ToyData(), sensors=4)
    with pytest.raises(ValueError, match="toy: has 4 devices, but"):
        check_dataset(ToyData(), sensors=5)

    def forgetful(seed: int) -> Dataset:
        toy = Toy(seed)
        toy.content = {"set": "toy"}
        return toy

    monkeypatch.setattr(ToySource, "make", forgetful)
    with pytest.raises(ValueError, match="the content is the same: it must hold the seed"):
        check_dataset(ToyData(), sensors=4)
    monkeypatch.setattr(ToySource, "make", Unnamed)
    with pytest.raises(ValueError, match="class_names has 0 different names"):
        check_dataset(ToyData(), sensors=4)
    seeds = iter(range(9))
    monkeypatch.setattr(ToySource, "make", lambda seed: Toy(next(seeds)))
    with pytest.raises(ValueError, match="opened twice with one seed it differs"):
        check_dataset(ToyData(), sensors=4)
