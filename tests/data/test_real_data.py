"""The loaders on real handwriting, where a copy lies beside the repository; its README says what to expect."""

import json
from pathlib import Path

import numpy as np
import pytest

from hfedms_sim.data.catalogue import summary
from tests.data.formats import load

SHARED = Path(__file__).parents[3] / "shared" / "data"

needs_shared_data = pytest.mark.skipif(not SHARED.is_dir(), reason="no ../shared/data: real data to check with")


@needs_shared_data
def test_unipen_62_is_as_its_readme_says() -> None:
    data = load("npz", SHARED / "unipen62.npz")
    found = summary(data)
    assert (found.devices, found.train_samples + found.test_samples) == (368, 101_027)
    assert found.samples_of_a_device == (50, 287.0, 504)
    assert (len(found.samples_of_a_class), found.source_ink) == (62, "dark")
    assert "split" not in data.content
    assert 0.19 < found.test_samples / 101_027 < 0.21


@needs_shared_data
def test_a_fragment_of_leaf_femnist_is_as_its_files_say() -> None:
    data = load("leaf", SHARED / "leaf-femnist", ink="dark")
    files = [json.loads(path.read_text()) for path in sorted((SHARED / "leaf-femnist").glob("*.json"))]
    users = sorted(user for file in files for user in file["users"])
    assert (data.identifiers, data.source_ink) == (tuple(users), "dark")
    assert sum(sum(file["num_samples"]) for file in files) == len(data.labels) == 715
    user_data = {user: values for file in files for user, values in file["user_data"].items()}
    for device, user in enumerate(users):
        images = np.concatenate([data.train_inputs(device), data.test_inputs(device)]).reshape(-1, 784)
        source = np.array(user_data[user]["x"])
        # Rounding to bytes loses nothing: the source is bytes over 255.
        assert np.allclose(np.sort(images, axis=None), np.sort(source, axis=None), atol=1e-7)
        assert sorted(user_data[user]["y"]) == sorted(
            [*data.train_labels(device).tolist(), *data.test_labels(device).tolist()]
        )
