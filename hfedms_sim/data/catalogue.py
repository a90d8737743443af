"""Copies of data sets on this machine: what a path holds, a summary to check it with, and what to know of FEMNIST."""

from pathlib import Path
from typing import NamedTuple

import numpy as np

from hfedms_sim.data.base import Dataset, Ink
from hfedms_sim.data.loaders.arrays import ArrayDataset, Reading
from hfedms_sim.data.shipped import FILE_SOURCES
from hfedms_sim.errors import InputError
from hfedms_sim.scenario.models import DataShape

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


def holds_dataset(path: Path) -> bool:
    """Return whether a path looks like a data set rather than a scenario or a profile."""
    return path.suffix in (".npz", ".parquet") or path.is_dir()


def kind_of(path: Path) -> str:
    """Return which `data.set` a file or directory is, by its ending or by the files in it."""
    if not holds_dataset(path):
        raise InputError(f"{path}: no data set: a .npz or .parquet file, or a directory of JSON or Parquet files")
    is_parquet = path.suffix == ".parquet" or (path.is_dir() and any(path.glob("*.parquet")))
    return "npz" if path.suffix == ".npz" else "parquet" if is_parquet else "leaf"


def open_copy(path: Path) -> ArrayDataset:
    """Return a data set by its file or directory alone; one that names no devices is a single device."""
    return FILE_SOURCES[kind_of(path)].read(path, Reading(may_be_flat=True))


class Summary(NamedTuple):
    """Figures of a data set, by which a copy of it can be checked."""

    devices: int
    shape: DataShape
    train_samples: int
    test_samples: int
    samples_of_a_device: tuple[int, float, int]
    """Fewest, median, most; train and test together."""
    samples_of_a_class: dict[str, int]
    """Counts by the class's name, only of classes that are present; train and test together."""
    source_ink: Ink | None
    """None for what is no image of one channel."""


def summary(dataset: Dataset) -> Summary:
    devices, classes = np.arange(dataset.devices), dataset.shape.classes
    train, test = dataset.train_sizes(devices), dataset.test_sizes(devices)
    histogram = np.bincount(dataset.train_labels_of(devices).labels, minlength=classes)
    for device in range(dataset.devices):
        histogram += np.bincount(dataset.test_labels(device), minlength=classes)
    sizes = train + test
    present = np.flatnonzero(histogram).tolist()
    return Summary(
        devices=dataset.devices,
        shape=dataset.shape,
        train_samples=int(train.sum()),
        test_samples=int(test.sum()),
        samples_of_a_device=(int(sizes.min()), float(np.median(sizes)), int(sizes.max())),
        samples_of_a_class={dataset.class_names[label]: int(histogram[label]) for label in present},
        source_ink=dataset.source_ink if isinstance(dataset, ArrayDataset) else None,
    )
