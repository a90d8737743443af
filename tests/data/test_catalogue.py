"""Copies on this machine: what a path holds, and what to check a copy with."""

from pathlib import Path

import numpy as np
import pytest

from hfedms_sim.data import FEMNIST, from_arrays, kind_of, open_copy, summary
from hfedms_sim.data.base import CHARACTERS
from hfedms_sim.data.vibration.vibration import Vibration
from hfedms_sim.errors import InputError
from tests.data.formats import LOADERS, raw_samples, write


def test_femnist_is_described_for_every_format() -> None:
    for kind in LOADERS:
        assert f"data: {{set: {kind}, path: " in FEMNIST
    assert max(len(line) for line in FEMNIST.splitlines()) <= 120


@pytest.mark.parametrize("kind", LOADERS)
def test_a_copy_is_opened_by_what_its_path_holds(kind: str, tmp_path: Path) -> None:
    path = write(kind, raw_samples(), tmp_path)
    assert kind_of(path) == kind
    assert open_copy(path).name == kind


def test_what_is_no_data_set_is_refused(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"no data set: a \.npz or \.parquet file"):
        kind_of(tmp_path / "own.csv")


def test_a_copy_that_names_no_devices_is_one_device(tmp_path: Path) -> None:
    np.savez(tmp_path / "flat.npz", inputs=np.zeros((10, 3)), labels=np.arange(10) % 4)
    found = summary(open_copy(tmp_path / "flat.npz"))
    assert (found.devices, found.train_samples, found.test_samples) == (1, 8, 2)


def test_a_summary_counts_everything_once(tmp_path: Path) -> None:
    raw = raw_samples()
    assert raw.is_test is not None
    raw.labels[0] = 61
    found = summary(open_copy(write("npz", raw, tmp_path)))
    sizes = np.unique(raw.owners, return_counts=True)[1]
    assert (found.devices, found.source_ink, str(found.shape)) == (5, "dark", "1x28x28 in 62 classes")
    assert (found.train_samples, found.test_samples) == ((~raw.is_test).sum(), raw.is_test.sum())
    assert found.samples_of_a_device == (sizes.min(), np.median(sizes), sizes.max())
    present, counts = np.unique(raw.labels, return_counts=True)
    assert found.samples_of_a_class == {CHARACTERS[label]: n for label, n in zip(present, counts, strict=True)}


def test_a_summary_has_the_names_of_the_classes() -> None:
    labels = np.array([0, 2, 2, 2])
    data = from_arrays(np.zeros((4, 2)), labels, device=[0, 0, 1, 1], class_names=["idle", "slow", "fast"])
    assert summary(data).samples_of_a_class == {"idle": 1, "fast": 3}
    assert summary(data).source_ink is None
    assert set(summary(Vibration(1, 3)).samples_of_a_class) >= {"healthy", "outer race"}
