"""Opening what a scenario's `data:` names, and checking a copy."""

from pathlib import Path
from typing import Any, get_args

import numpy as np
import pytest
from pydantic import ValidationError

from hfedms_sim.data.base import CHARACTERS
from hfedms_sim.data.catalogue import DATASETS, FEMNIST, open_dataset, summary
from hfedms_sim.errors import InputError
from hfedms_sim.scenario.scenario import Data
from tests.data.formats import LOADERS, raw_samples, write


def test_every_data_set_a_scenario_can_name_is_described() -> None:
    assert tuple(DATASETS) == get_args(Data.model_fields["set"].annotation)
    assert all(text.isprintable() and len(text) < 110 for text in DATASETS.values())
    for kind in LOADERS:
        assert f"data: {{set: {kind}, path: " in FEMNIST
    assert max(len(line) for line in FEMNIST.splitlines()) <= 120


def test_glyphs_have_a_device_for_each_sensor() -> None:
    data = open_dataset(Data(ink="dark"), sensors=12, types=3, seed=7)
    assert (data.name, data.devices, data.ink) == ("glyphs", 12, "dark")
    assert (data.content["seed"], data.content["types"]) == (7, 3)


@pytest.mark.parametrize("kind", LOADERS)
def test_a_scenario_with_fewer_sensors_than_devices_takes_the_first_ones(kind: str, tmp_path: Path) -> None:
    settings = Data(set=kind, path=str(write(kind, raw_samples(), tmp_path)))  # type: ignore[arg-type]
    every = open_dataset(settings, sensors=5, types=1, seed=1)
    some = open_dataset(settings, sensors=3, types=1, seed=1)
    assert (every.devices, some.devices) == (5, 3)
    assert every.content != some.content
    for device in range(3):
        assert np.array_equal(every.train_images(device), some.train_images(device))
        assert every.test_labels(device).tolist() == some.test_labels(device).tolist()


def test_more_sensors_than_devices_are_refused(tmp_path: Path) -> None:
    path = write("npz", raw_samples(), tmp_path)
    with pytest.raises(InputError) as refusal:
        open_dataset(Data(set="npz", path=str(path)), sensors=6, types=1, seed=1)
    assert str(refusal.value) == f"{path}: has 5 devices, but sensors.count = 6: must be at most that"


@pytest.mark.parametrize(
    ("raw", "complaint"),
    [
        ({"set": "npz"}, "set: npz needs path"),
        ({"path": "x.npz"}, "set: glyphs has no path"),
        ({"set": "leaf", "path": ""}, "at least 1 character"),
        ({"set": "csv", "path": "x"}, "Input should be 'glyphs', 'npz', 'leaf' or 'parquet'"),
    ],
)
def test_a_path_belongs_to_files_and_only_to_files(raw: dict[str, Any], complaint: str) -> None:
    with pytest.raises(ValidationError, match=complaint):
        Data.model_validate(raw)


def test_a_skew_belongs_to_glyphs_and_only_to_glyphs() -> None:
    with pytest.raises(ValidationError, match="set: npz has no skew"):
        Data.model_validate({"set": "npz", "path": "x.npz", "skew": 0.5})
    with pytest.raises(ValidationError, match="less than or equal to 2"):
        Data.model_validate({"skew": 2.5})
    assert Data.model_validate({"set": "npz", "path": "x.npz", "skew": 1}).skew == 1, "as a run's scenario.yaml has it"
    skewed = open_dataset(Data(skew=0.5), sensors=2, types=1, seed=1)
    assert skewed.content["skew"] == 0.5


def test_a_summary_counts_everything_once(tmp_path: Path) -> None:
    raw = raw_samples()
    assert raw.is_test is not None
    path = write("npz", raw, tmp_path)
    found = summary(open_dataset(Data(set="npz", path=str(path)), sensors=5, types=1, seed=1))
    sizes = np.unique(raw.owners, return_counts=True)[1]
    assert (found.devices, found.source_ink) == (5, "dark")
    assert (found.train_samples, found.test_samples) == ((~raw.is_test).sum(), raw.is_test.sum())
    assert found.samples_of_a_device == (sizes.min(), np.median(sizes), sizes.max())
    present, counts = np.unique(raw.labels, return_counts=True)
    assert found.samples_of_a_class == {CHARACTERS[label]: n for label, n in zip(present, counts, strict=True)}
