"""Data sets as one NumPy archive: `images`, `labels`, `device` and, if it has a split of its own, `is_test`.

images   (samples, 28, 28), bytes or numbers from 0 to 1       labels   (samples,), 0 to 61
device   (samples,), whole numbers or names                    is_test  (samples,), true or false
"""

from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hfedms_sim.data.arrays import ArrayDataset, Samples, assembled, checked_labels, checked_pixels
from hfedms_sim.data.base import Ink
from hfedms_sim.data.files import fingerprint, first_line, naming, only_file

_NEEDED = ("images", "labels", "device")


def read_npz(path: Path, *, ink: Ink, seed: int) -> ArrayDataset:
    with naming(only_file(path)):
        arrays = _arrays(path)
        count = len(arrays["labels"])
        for key, array in arrays.items():
            if array.shape[:1] != (count,) or (key != "images" and array.ndim != 1):
                raise ValueError(f"{key} has the shape {array.shape}: must have a row for each of {count} labels")
        if arrays["device"].dtype.kind not in "iuU":
            raise ValueError("device must be whole numbers or names")
        is_test = arrays.get("is_test")
        if is_test is not None and (is_test.dtype.kind not in "biu" or not np.isin(is_test, (0, 1)).all()):
            raise ValueError("is_test must be true or false")
        samples = Samples(
            checked_pixels(arrays["images"]),
            checked_labels(arrays["labels"]),
            arrays["device"],
            None if is_test is None else is_test.astype(np.bool_),
        )
        return assembled("npz", samples, {"sha256": fingerprint(path)}, ink=ink, seed=seed)


def _arrays(path: Path) -> dict[str, NDArray[Any]]:
    try:
        arrays = _loaded(path)
    except (OSError, MemoryError):
        raise
    except Exception as error:  # a damaged archive can trip NumPy and zipfile over anything
        if "pickle" in str(error).lower():
            raise ValueError("is not a NumPy archive of plain arrays (Python objects are not read)") from None
        raise ValueError(f"is not a whole NumPy archive ({first_line(error)})") from None
    for key in _NEEDED:
        if key not in arrays:
            raise ValueError(f"has no array '{key}': needs {', '.join(_NEEDED)}")
    if arrays["labels"].ndim != 1:
        raise ValueError("labels must be a list of whole numbers")
    return arrays


def _loaded(path: Path) -> dict[str, NDArray[Any]]:
    """Never unpickles: an archive with Python objects in it could run anything."""
    with path.open("rb") as file:
        archive = np.load(file, allow_pickle=False)
        if not isinstance(archive, np.lib.npyio.NpzFile):
            raise ValueError("it is a single array")
        return {key: archive[key] for key in (*_NEEDED, "is_test") if key in archive}
