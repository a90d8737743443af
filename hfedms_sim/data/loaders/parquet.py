"""Data sets as Parquet files, such as those of the Hugging Face hub, FEMNIST among them (flwrlabs/femnist).

    image or img         PNG bytes, alone or as a struct {bytes, path}: grey or colour, all of one size
    inputs               or, instead of images, lists of as many numbers each, nested or not: series, features
    character or label   the label, whole numbers from 0
    writer_id, writer, user, user_id or device    the device; not needed where `partition` deals the samples
    is_test or split     true or false, train or test, if the set has a split of its own

Columns are found by name; the first that is there counts. Images are colour if any of them is; colour images whose
channels are all equal are grey. They are decoded with Pillow, which nothing else here needs.
"""

from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from hfedms_sim.data.loaders.arrays import ArrayDataset, Reading, Samples, assemble
from hfedms_sim.data.loaders.checked import checked_images, checked_inputs, checked_labels, checked_owners
from hfedms_sim.data.loaders.files import errors_name, files_in, first_line
from hfedms_sim.data.loaders.png import decoded, grey_if_equal, in_colour
from hfedms_sim.errors import quoted
from hfedms_sim.scenario.models import shape_text
from hfedms_sim.system.checksums import sha256_of
from hfedms_sim.system.reading import opened_parquet, read_columns

# What each column may be called; the first that is there counts.
_NAMES = {
    "image": ("image", "img"),
    "inputs": ("inputs",),
    "writer": ("writer_id", "writer", "user", "user_id", "device"),
    "label": ("character", "label"),
    "split": ("is_test", "split"),
}
_SPLIT_WORDS = {False: False, True: True, "train": False, "test": True}


def read_parquet(path: Path, how: Reading) -> ArrayDataset:
    files = files_in(path, ".parquet")
    parts = [_part(file, how) for file in files]
    with errors_name(path):
        samples = Samples(
            _joined_inputs(parts, files),
            np.concatenate([part.labels for part in parts]),
            _joined("a device", [part.owners for part in parts]),
            _joined("a split", [part.is_test for part in parts]),
        )
        source = {"sha256": {file.name: sha256_of(file) for file in files}}
        return assemble("parquet", samples, source, how)


def _part(file: Path, how: Reading) -> Samples:
    """Return a file's samples; its images are still (samples, height, width) or with three channels last."""
    with errors_name(file):
        columns = _columns(file, how)
        writer, split = columns.get("writer"), columns.get("split")
        return Samples(
            _pixels(columns["image"]) if "image" in columns else checked_inputs(_numbers(columns["inputs"])),
            checked_labels(np.array(columns["label"].to_pylist(), dtype=None), how.classes),
            None if writer is None else checked_owners(np.array(writer.to_pylist()), how.column or "the writer"),
            None if split is None else _is_test(split.to_pylist()),
        )


def _columns(file: Path, how: Reading) -> dict[str, Any]:
    """Return the columns by what they are; of images and inputs, the first that is there."""
    allowed = _NAMES | ({} if how.column is None else {"writer": (how.column,)})
    if not how.reads_owners:
        allowed = {key: names for key, names in allowed.items() if key != "writer"}
    try:
        with opened_parquet(file) as parquet:
            present = parquet.schema_arrow.names
            found = {key: next((name for name in names if name in present), None) for key, names in allowed.items()}
            chosen = {key: name for key, name in found.items() if name is not None}
            if "image" in chosen:
                chosen.pop("inputs", None)
            _require(chosen, allowed, how)
            table = read_columns(parquet, list(dict.fromkeys(chosen.values())))
    except MemoryError:
        raise
    except pa.ArrowException as error:
        raise ValueError(f"is not a whole Parquet file ({first_line(error)})") from None
    if not table.num_rows:
        raise ValueError("has no rows")
    columns = {key: table.column(name) for key, name in chosen.items()}
    for key, column in columns.items():
        if column.null_count:
            row = next(row for row, value in enumerate(column) if not value.is_valid)
            raise ValueError(f"row {row}: the {chosen[key]} is missing")
    return columns


def _require(chosen: dict[str, str], allowed: dict[str, tuple[str, ...]], how: Reading) -> None:
    if "image" not in chosen and "inputs" not in chosen:
        raise ValueError(f"has no image column: needs one of {', '.join((*allowed['image'], *allowed['inputs']))}")
    for key in ("writer", "label") if how.needs_owners else ("label",):
        if key not in chosen:
            hint = ", or data.partition to deal the samples" if key == "writer" and how.column is None else ""
            raise ValueError(f"has no {key} column: needs one of {', '.join(allowed[key])}{hint}")


def _pixels(column: Any) -> NDArray[np.uint8]:
    if pa.types.is_struct(column.type) and "bytes" in {field.name for field in column.type}:
        encoded = [value["bytes"] for value in column.to_pylist()]
    elif pa.types.is_binary(column.type) or pa.types.is_large_binary(column.type):
        encoded = column.to_pylist()
    else:
        raise ValueError(
            f"the image is {quoted(str(column.type))}: must be PNG bytes, or a struct with them as 'bytes'"
        )
    return decoded(encoded)


def _numbers(column: Any) -> NDArray[Any]:
    """Return lists of as many numbers each, nested or not, as an array."""
    values, shape = column.combine_chunks(), [len(column)]
    while _is_list(values.type):
        lengths = pc.unique(pc.list_value_length(values)).to_pylist()
        if len(lengths) != 1 or lengths == [None]:
            raise ValueError("inputs must be lists of as many numbers each")
        shape += lengths
        values = values.flatten()
    if not (pa.types.is_integer(values.type) or pa.types.is_floating(values.type)):
        raise ValueError(f"inputs are {quoted(str(column.type))}: must be lists of numbers")
    return np.asarray(values.to_numpy(zero_copy_only=False)).reshape(shape)


def _is_list(kind: Any) -> bool:
    return any(is_kind(kind) for is_kind in (pa.types.is_list, pa.types.is_large_list, pa.types.is_fixed_size_list))


def _is_test(values: list[Any]) -> NDArray[np.bool_]:
    for row, value in enumerate(values):
        if not isinstance(value, bool | str) or value not in _SPLIT_WORDS:
            raise ValueError(f"row {row}: split = {quoted(value)}: must be train or test (is_test: true or false)")
    return np.array([_SPLIT_WORDS[value] for value in values])


def _joined_inputs(parts: list[Samples], files: list[Path]) -> NDArray[Any]:
    arrays = [part.inputs for part in parts]
    if any(array.dtype == np.uint8 and array.ndim == 4 for array in arrays):
        arrays = [in_colour(array) if array.dtype == np.uint8 else array for array in arrays]
    for array, file in zip(arrays, files, strict=True):
        if (array.dtype, array.shape[1:]) != (arrays[0].dtype, arrays[0].shape[1:]):
            first, other = (shape_text(each.shape[1:]) for each in (arrays[0], array))
            raise ValueError(
                f"samples are {other} in {quoted(file.name)}: must be {first} as in {quoted(files[0].name)}"
            )
    joined = np.concatenate(arrays)
    return checked_images(grey_if_equal(joined)) if joined.dtype == np.uint8 else joined


def _joined(what: str, parts: list[NDArray[Any] | None]) -> NDArray[Any] | None:
    given = [part for part in parts if part is not None]
    if given and len(given) < len(parts):
        raise ValueError(f"some files have {what} column, others have none")
    return np.concatenate(given) if given else None
