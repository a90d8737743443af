"""Which data sets there are, how a scenario's `data:` opens one, and what to know before using FEMNIST."""

from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple, Protocol

import numpy as np

from hfedms_sim.data.arrays import ArrayDataset
from hfedms_sim.data.base import CHARACTERS, Dataset, Ink
from hfedms_sim.data.glyphs import Glyphs
from hfedms_sim.data.leaf import read_leaf
from hfedms_sim.data.npz import read_npz
from hfedms_sim.errors import InputError
from hfedms_sim.scenario.scenario import Data

DATASETS: dict[str, str] = {
    "glyphs": "embedded: handwriting-like characters drawn from stroke fonts, any number of devices, no download",
    "npz": "a NumPy archive with images, labels, device and, if it has a split, is_test",
    "leaf": "FEMNIST as the scripts of LEAF write it: a directory of JSON files",
    "parquet": "FEMNIST as the Hugging Face hub stores it (flwrlabs/femnist): Parquet files of PNG images",
}

FEMNIST = """\
FEMNIST: handwritten digits and letters, 62 classes, 28x28 grey pixels, one device for each writer. The benchmark LEAF
(leaf.cmu.edu) made it from NIST Special Database 19. It is not part of this package, which loads a copy of yours:

  data: {set: leaf, path: DIR}       what LEAF's own scripts write: JSON in train/ and test/, or *_train*.json and
                                     *_test*.json in one folder. 368 devices, as in the HFedMS paper, are what
                                     preprocess.sh -s niid --sf 0.1 -k 100 -t sample --smplseed 0 --spltseed 0
                                     yields by what the same group's project FedGS documents (not verified here).
  data: {set: parquet, path: PATH}   the hub's flwrlabs/femnist, one file or a folder of them. Needs Pillow. It has no
                                     test part: a fifth of each writer's samples, drawn by the seed, is for testing.
  data: {set: npz, path: FILE}       your own archive: images, labels, device, is_test.

Labels are 0-9, A-Z, a-z in this order in LEAF's files and on the hub. Ink is dark on white in LEAF's files; the
polarity of a copy is detected, and `ink: bright` (the default) or `ink: dark` says which one the model sees.
Devices are numbered by the alphabetical order of the writers' names; a scenario with fewer sensors than writers
takes the first ones.

To check a copy, compare with
  the hub's card:       814,277 samples, 62 classes, writer names of 8 characters such as f0000_14
  LEAF's own page:      3,500 users (rounded)
  from memory, not verified here: 3,550 users and 805,263 samples in the LEAF paper, 3,597 writers on the hub
what `hfedms-sim show PATH` prints of it: writers, samples (fewest, median, most), the samples of each class, polarity
and the SHA-256 of every file.
"""


class _Loader(Protocol):
    def __call__(self, path: Path, *, ink: Ink, seed: int) -> ArrayDataset: ...


def open_dataset(data: Data, *, sensors: int, types: int, seed: int) -> Dataset:
    """The scenario's data set with a device for each sensor."""
    if data.set == "glyphs":
        return Glyphs(seed=seed, devices=sensors, types=types, ink=data.ink, skew=data.skew)
    assert data.path is not None, "a scenario's file sets have a path"
    path = Path(data.path)
    dataset = _LOADERS[data.set]()(path, ink=data.ink, seed=seed)
    require_devices(dataset, sensors, path)
    return dataset.first(sensors)


def holds_dataset(path: Path) -> bool:
    """Whether a path looks like a data set rather than a scenario or a profile."""
    return path.suffix in (".npz", ".parquet") or path.is_dir()


def kind_of(path: Path) -> str:
    """Which `data.set` a file or directory is, by its ending or by the files in it."""
    if not holds_dataset(path):
        raise InputError(f"{path}: no data set: a .npz or .parquet file, or a directory of JSON or Parquet files")
    is_parquet = path.suffix == ".parquet" or (path.is_dir() and any(path.glob("*.parquet")))
    return "npz" if path.suffix == ".npz" else "parquet" if is_parquet else "leaf"


def open_copy(path: Path, *, ink: Ink = "bright", seed: int = 1) -> ArrayDataset:
    """A data set by its file or directory alone."""
    return _LOADERS[kind_of(path)]()(path, ink=ink, seed=seed)


def require_devices(dataset: Dataset, count: int, path: Path) -> None:
    if dataset.devices < count:
        raise InputError(f"{path}: has {dataset.devices} devices, but sensors.count = {count}: must be at most that")


def _parquet() -> _Loader:
    from hfedms_sim.data.parquet import read_parquet  # here: pyarrow takes a while to import

    return read_parquet


_LOADERS: dict[str, Callable[[], _Loader]] = {
    "npz": lambda: read_npz,
    "leaf": lambda: read_leaf,
    "parquet": _parquet,
}


class Summary(NamedTuple):
    """To check a copy of a data set with."""

    devices: int
    train_samples: int
    test_samples: int
    samples_of_a_device: tuple[int, float, int]
    """Fewest, median, most; train and test together."""
    samples_of_a_class: dict[str, int]
    """By character, only of classes that are present; train and test together."""
    source_ink: Ink


def summary(dataset: Dataset) -> Summary:
    devices = np.arange(dataset.devices)
    train, test = dataset.train_sizes(devices), dataset.test_sizes(devices)
    histogram = np.bincount(dataset.train_labels_of(devices).labels, minlength=len(CHARACTERS))
    for device in range(dataset.devices):
        histogram += np.bincount(dataset.test_labels(device), minlength=len(CHARACTERS))
    sizes = train + test
    return Summary(
        devices=dataset.devices,
        train_samples=int(train.sum()),
        test_samples=int(test.sum()),
        samples_of_a_device=(int(sizes.min()), float(np.median(sizes)), int(sizes.max())),
        samples_of_a_class={CHARACTERS[label]: int(count) for label, count in enumerate(histogram) if count},
        source_ink=dataset.source_ink,
    )
