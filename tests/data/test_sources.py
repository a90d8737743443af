"""What a scenario's `data:` may name, and what opening it gives."""

from importlib.metadata import EntryPoint
from pathlib import Path
from typing import Any, Literal

import numpy as np
import pytest
from numpy.typing import NDArray
from pydantic import ValidationError

from hfedms_sim.data import DATA_SETTINGS, DATA_SOURCES, Dataset, DataSource, code_digest, open_dataset, source_of
from hfedms_sim.data.shipped import GlyphsData, LeafData, NpzData, VibrationData
from hfedms_sim.errors import InputError
from hfedms_sim.scenario.data import DataSettings
from hfedms_sim.scenario.models import CHARACTER_IMAGES, DataShape
from tests.data.formats import LOADERS, raw_samples, write


def opened(settings: DataSettings, sensors: int = 5, seed: int = 1) -> Dataset:
    return open_dataset(settings, sensors=sensors, types=1, seed=seed)


def test_every_data_set_that_ships_is_described_in_a_line() -> None:
    assert list(DATA_SOURCES.shipped) == ["glyphs", "npz", "leaf", "parquet", "vibration", "object"]
    assert all(source.about.isprintable() and len(source.about) < 110 for source in DATA_SOURCES.shipped.values())
    assert all(DATA_SETTINGS[name].model_fields["set"].default == name for name in DATA_SOURCES.shipped)
    assert all(code_digest(source) is None for source in DATA_SOURCES.shipped.values())


def test_glyphs_have_a_device_for_each_sensor() -> None:
    data = open_dataset(GlyphsData(ink="dark", skew=0.5), sensors=12, types=3, seed=7)
    assert (data.name, data.devices, data.shape) == ("glyphs", 12, CHARACTER_IMAGES)
    assert data.content == {
        "set": "glyphs",
        "generator": 1,
        "seed": 7,
        "types": 3,
        "devices": 12,
        "ink": "dark",
        "skew": 0.5,
    }
    assert data.class_names[10] == "A"


@pytest.mark.parametrize(("sensors", "machines"), [(6, 2), (7, 3), (8, 3)])
def test_vibration_has_as_many_machines_as_the_sensors_need(sensors: int, machines: int) -> None:
    data = opened(VibrationData(sensors_per_machine=3, faults_per_machine=2), sensors=sensors)
    assert (data.devices, data.content["machines"], data.shape) == (sensors, machines, DataShape((1, 1024), 10))
    assert not data.is_image
    assert data.content.get("sensors") == (None if sensors == 6 else sensors)


@pytest.mark.parametrize("kind", LOADERS)
def test_a_scenario_with_fewer_sensors_than_devices_takes_the_first_ones(kind: str, tmp_path: Path) -> None:
    path = str(write(kind, raw_samples(), tmp_path))
    settings = DATA_SETTINGS[kind].model_validate({"path": path})
    every, some = opened(settings), opened(settings, sensors=3)
    assert (every.devices, some.devices, every.shape == some.shape) == (5, 3, True)
    assert every.content != some.content
    for device in range(3):
        assert np.array_equal(every.train_inputs(device), some.train_inputs(device))
        assert every.test_labels(device).tolist() == some.test_labels(device).tolist()


def test_more_sensors_than_devices_are_refused(tmp_path: Path) -> None:
    path = write("npz", raw_samples(), tmp_path)
    with pytest.raises(InputError) as refusal:
        opened(NpzData(path=str(path)), sensors=6)
    assert str(refusal.value) == f"{path}: has 5 devices, but sensors.count = 6: must be at most that"


@pytest.mark.parametrize(
    ("settings", "raw", "complaint"),
    [
        (NpzData, {}, "path\n  Field required"),
        (LeafData, {"path": ""}, "at least 1 character"),
        (GlyphsData, {"path": "x.npz"}, "Extra inputs are not permitted"),
        (GlyphsData, {"skew": 2.5}, "less than or equal to 2"),
        (NpzData, {"path": "x.npz", "skew": 0.5}, "Extra inputs are not permitted"),
        (NpzData, {"path": "x.npz", "classes": 100_001}, "less than or equal to 100000"),
        (NpzData, {"path": "x.npz", "ink": "grey"}, "Input should be 'bright' or 'dark'"),
        (LeafData, {"path": "x", "partition": {"kind": "column", "column": "y"}}, "which leaf has not"),
        (VibrationData, {"faults_per_machine": 10}, "less than or equal to 9"),
    ],
)
def test_each_set_has_keys_of_its_own(settings: type[DataSettings], raw: dict[str, Any], complaint: str) -> None:
    with pytest.raises(ValidationError, match=complaint):
        settings.model_validate(raw)


class CounterData(DataSettings):
    set: Literal["counter"] = "counter"
    samples: int = 3


class Counter(Dataset):
    """Every sample of device d is d, and so is its label."""

    name = "counter"
    shape = DataShape((1,), 100)

    def __init__(self, devices: int, samples: int) -> None:
        self.devices = devices
        self.samples = samples
        self.content = {"set": self.name, "devices": devices, "samples": samples}

    def train_labels(self, device: int) -> NDArray[np.int64]:
        return np.full(self.samples + device, device)

    def test_labels(self, device: int) -> NDArray[np.int64]:
        return np.full(1, device)

    def train_inputs(self, device: int) -> NDArray[np.float32]:
        return self.train_labels(device).astype(np.float32)[:, None]

    def test_inputs(self, device: int) -> NDArray[np.float32]:
        return self.test_labels(device).astype(np.float32)[:, None]


class CounterSource(DataSource):
    Settings = CounterData
    about = "counts"

    @classmethod
    def open(cls, settings: CounterData, *, sensors: int, types: int, seed: int) -> Dataset:
        return Counter(sensors - (settings.samples == 0), settings.samples)


def test_a_data_set_that_somebody_has_defined_is_known_by_its_name() -> None:
    assert DATA_SOURCES["counter"] is CounterSource
    assert DATA_SETTINGS["counter"] is CounterData
    assert source_of(CounterData()) is CounterSource
    assert code_digest(CounterSource) is not None


def test_a_small_data_set_has_the_rest_by_default() -> None:
    data = opened(CounterData(samples=2))
    assert (data.least_train_samples, data.is_image, data.class_names[99]) == (2, False, "99")
    devices = np.array([3, 0, 3])
    assert data.train_sizes(devices).tolist() == [5, 2, 5]
    assert data.test_sizes(devices).tolist() == [1, 1, 1]
    labels, offsets = data.train_labels_of(devices)
    assert (labels.tolist(), offsets.tolist()) == ([3] * 5 + [0] * 2 + [3] * 5, [0, 5, 7, 12])
    assert data.train_labels_of(np.arange(0)).labels.tolist() == []


def test_a_data_set_of_an_installed_package_is_known_by_its_own_name(monkeypatch: pytest.MonkeyPatch) -> None:
    entry = EntryPoint("other", f"{__name__}:CounterSource", "hfedms_sim.datasets")
    monkeypatch.setitem(DATA_SOURCES.__dict__, "_installed", {"other": entry})
    with pytest.raises(InputError, match=r"data set 'other': .*CounterSource calls itself 'counter'"):
        DATA_SOURCES["other"]


def test_a_data_set_without_a_device_for_each_sensor_is_refused() -> None:
    with pytest.raises(InputError, match=r"counter: has 4 devices, but sensors\.count = 5"):
        opened(CounterData(samples=0))


def test_a_data_set_without_a_shape_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Counter, "shape", (1, 100))
    with pytest.raises(InputError, match=r"Counter: shape = \(1, 100\): must be of the type DataShape"):
        opened(CounterData())


def test_what_is_no_data_set_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(CounterSource, "open", lambda settings, *, sensors, types, seed: [sensors])
    with pytest.raises(InputError, match="open returns list: must be a Dataset"):
        opened(CounterData())


def test_a_source_that_cannot_be_opened_as_a_run_does_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(CounterSource, "open", lambda settings, sensors: None)
    with pytest.raises(InputError, match="open cannot be called as a run calls it"):
        opened(CounterData())
    monkeypatch.setattr(CounterSource, "about", None)
    with pytest.raises(InputError, match="about must be a line of text"):
        opened(CounterData())


def test_a_source_is_to_have_settings_for_data(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(CounterSource, "Settings", DataShape)
    with pytest.raises(InputError, match="Settings must have the data set's name as default of its field set"):
        DATA_SOURCES["anything"]
