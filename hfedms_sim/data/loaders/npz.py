"""Data sets as one NumPy archive, a row for each sample in each of its arrays.

images       bytes or numbers from 0 to 1: (samples, height, width), or with 1 or 3 channels last or first
inputs       or, instead of images, numbers of any shape, taken as they are: series, features
labels       whole numbers from 0
device       whole numbers or names; not needed where `partition` deals the samples
is_test      true or false, if the set has a split of its own
class_names  a name for each label, if it has them
"""

from math import prod
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hfedms_sim.data.loaders.arrays import ArrayDataset, Reading, Samples, assemble
from hfedms_sim.data.loaders.checked import require_rows
from hfedms_sim.data.loaders.files import errors_name, first_line, only_file
from hfedms_sim.errors import quoted
from hfedms_sim.system.checksums import sha256_of
from hfedms_sim.system.machine import require_memory
from hfedms_sim.system.reading import COPIES

_SAMPLES = ("images", "inputs")
_FORMAT: Any = np.lib.format  # has no types
_HEADERS = {(1, 0): _FORMAT.read_array_header_1_0, (2, 0): _FORMAT.read_array_header_2_0}
_ROWS = (*_SAMPLES, "labels", "is_test")


def read_npz(path: Path, how: Reading) -> ArrayDataset:
    with errors_name(only_file(path)):
        owner = how.column or "device"
        arrays = _arrays(path, (*_SAMPLES, "labels", "is_test", "class_names", *((owner,) if how.reads_owners else ())))
        _require(arrays, owner, how)
        require_rows({key: array for key, array in arrays.items() if key in (owner, *_ROWS)})
        samples = Samples.of(arrays, owner, how.classes)
        return assemble("npz", samples, {"sha256": sha256_of(path)}, how)


def _require(arrays: dict[str, NDArray[Any]], owner: str, how: Reading) -> None:
    present = [key for key in _SAMPLES if key in arrays]
    if not present:
        raise ValueError("has no array 'images': needs images or inputs, labels, device")
    if len(present) > 1:
        raise ValueError("has images and inputs: must have one of them")
    if "labels" not in arrays:
        raise ValueError(f"has no array 'labels': needs {present[0]}, labels, device")
    if how.needs_owners and owner not in arrays:
        hint = "" if how.column else ", or data.partition to deal the samples"
        raise ValueError(f"has no array {quoted(owner)}: needs {present[0]}, labels, {owner}{hint}")


def _arrays(path: Path, keys: tuple[str, ...]) -> dict[str, NDArray[Any]]:
    try:
        return _loaded(path, keys)
    except (OSError, MemoryError):
        raise
    except Exception as error:  # a damaged archive can trip NumPy and zipfile over anything
        if "pickle" in str(error).lower():
            raise ValueError("is not a NumPy archive of plain arrays (Python objects are not read)") from None
        raise ValueError(f"is not a whole NumPy archive ({first_line(error)})") from None


def _loaded(path: Path, keys: tuple[str, ...]) -> dict[str, NDArray[Any]]:
    """Never unpickles: an archive with Python objects in it could run anything."""
    with path.open("rb") as file:
        archive = np.load(file, allow_pickle=False)
        if not isinstance(archive, np.lib.npyio.NpzFile):
            raise ValueError("it is a single array")
        present = [key for key in keys if key in archive]
        require_memory(COPIES * sum(_declared_bytes(archive, key) for key in present))
        return {key: archive[key] for key in present}


def _declared_bytes(archive: np.lib.npyio.NpzFile, key: str) -> int:
    """Return how many bytes an array has by its header, or by the archive's list of files, whichever says more."""
    name = key if key in archive.zip.namelist() else f"{key}.npy"
    with archive.zip.open(name) as file:
        read_header = _HEADERS.get(_FORMAT.read_magic(file))
        shape, _, dtype = read_header(file) if read_header else ((), False, np.dtype(np.uint8))
    return max(int(archive.zip.getinfo(name).file_size), prod(shape) * dtype.itemsize)
