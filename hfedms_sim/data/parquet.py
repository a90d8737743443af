"""FEMNIST as the Hugging Face hub stores it (flwrlabs/femnist): Parquet with an image, a writer and a character.

    image      PNG bytes, alone or as a struct {bytes, path}       writer_id  the device
    character  the label, 0 to 61                                  is_test or split, if it has a split of its own

Columns are found by name. The images are decoded with Pillow, which nothing else here needs.
"""

import warnings
from io import BytesIO
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from numpy.typing import NDArray

from hfedms_sim.data.arrays import ArrayDataset, Samples, assembled, checked_labels
from hfedms_sim.data.base import SIDE_PIXELS, Ink
from hfedms_sim.data.files import files_in, fingerprint, first_line, naming, shown
from hfedms_sim.errors import InputError

# What each column may be called; the first that is there counts.
_NAMES = {
    "image": ("image", "img"),
    "writer": ("writer_id", "writer", "user", "user_id", "device"),
    "label": ("character", "label"),
    "split": ("is_test", "split"),
}
_SPLIT_WORDS = {False: False, True: True, "train": False, "test": True}


def read_parquet(path: Path, *, ink: Ink, seed: int) -> ArrayDataset:
    files = files_in(path, ".parquet")
    parts = [_part(file) for file in files]
    with naming(path):
        samples = Samples(
            np.concatenate([part.pixels for part in parts]),
            np.concatenate([part.labels for part in parts]),
            np.concatenate([part.owners for part in parts]),
            _joined_split([part.is_test for part in parts]),
        )
        source = {"sha256": {file.name: fingerprint(file) for file in files}}
        return assembled("parquet", samples, source, ink=ink, seed=seed)


def _part(file: Path) -> Samples:
    with naming(file):
        columns = _columns(file)
        owners = np.array(columns["writer"].to_pylist())
        if owners.dtype.kind not in "iuU":
            raise ValueError("the writer must be a whole number or a name")
        split = columns.get("split")
        return Samples(
            _pixels(columns["image"]),
            checked_labels(np.array(columns["label"].to_pylist(), dtype=None)),
            owners,
            None if split is None else _is_test(split.to_pylist()),
        )


def _columns(file: Path) -> dict[str, Any]:
    try:
        with pq.ParquetFile(file) as parquet:
            present = parquet.schema_arrow.names
            chosen = {key: next((name for name in names if name in present), None) for key, names in _NAMES.items()}
            for key, name in chosen.items():
                if name is None and key != "split":
                    raise ValueError(f"has no {key} column: needs one of {', '.join(_NAMES[key])}")
            table = parquet.read(columns=[name for name in chosen.values() if name is not None])
    except pa.ArrowException as error:
        raise ValueError(f"is not a whole Parquet file ({first_line(error)})") from None
    if not table.num_rows:
        raise ValueError("has no rows")
    columns = {key: table.column(name) for key, name in chosen.items() if name is not None}
    for key, column in columns.items():
        if column.null_count:
            row = next(row for row, value in enumerate(column) if not value.is_valid)
            raise ValueError(f"row {row}: the {chosen[key]} is missing")
    return columns


def _pixels(column: Any) -> NDArray[np.uint8]:
    if pa.types.is_struct(column.type) and "bytes" in {field.name for field in column.type}:
        encoded = [value["bytes"] for value in column.to_pylist()]
    elif pa.types.is_binary(column.type) or pa.types.is_large_binary(column.type):
        encoded = column.to_pylist()
    else:
        raise ValueError(f"the image is {shown(str(column.type))}: must be PNG bytes, or a struct with them as 'bytes'")
    pixels = np.empty((len(encoded), SIDE_PIXELS, SIDE_PIXELS), dtype=np.uint8)
    pillow = _pillow()
    with warnings.catch_warnings():
        # Pillow only warns of a small file that would unpack to gigabytes.
        warnings.simplefilter("error", pillow.DecompressionBombWarning)
        for row, content in enumerate(encoded):
            try:
                pixels[row] = _decoded(content, pillow)
            except ValueError as error:
                raise ValueError(f"row {row}: {error}") from None
    return pixels


def _pillow() -> ModuleType:
    try:
        from PIL import Image  # here: only Parquet files need it
    except ImportError:
        raise InputError("data.set = parquet: needs Pillow to decode the images; install the package pillow") from None
    return Image


def _decoded(content: bytes | None, pillow: ModuleType) -> NDArray[np.uint8]:
    try:
        with pillow.open(BytesIO(content or b"")) as image:
            if image.size != (SIDE_PIXELS, SIDE_PIXELS):
                width, height = image.size
                raise ValueError(f"the image is {width}x{height}: must be {SIDE_PIXELS}x{SIDE_PIXELS}")
            return np.asarray(image.convert("L"))
    except (OSError, SyntaxError, EOFError, pillow.DecompressionBombError, Warning):
        raise ValueError("the image cannot be decoded") from None


def _is_test(values: list[Any]) -> NDArray[np.bool_]:
    for row, value in enumerate(values):
        if value not in _SPLIT_WORDS:
            raise ValueError(f"row {row}: split = {shown(value)}: must be train or test (is_test: true or false)")
    return np.array([_SPLIT_WORDS[value] for value in values])


def _joined_split(parts: list[NDArray[np.bool_] | None]) -> NDArray[np.bool_] | None:
    given = [part for part in parts if part is not None]
    if given and len(given) < len(parts):
        raise ValueError("some files have a split column, others have none")
    return np.concatenate(given) if given else None
