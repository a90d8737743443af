"""Files that somebody else wrote, read within the memory that there is.

A small file can unfold into gigabytes: what is compressed or repeated in it is written once. So its size in memory is
worked out before it is read, from what the file says of itself; and where that may be untrue, counted while it is read.
What does not fit raises MemoryError, with figures.
"""

import json
import os
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from hfedms_sim.system.machine import available_memory_bytes, require_memory, require_within

COPIES = 3
"""How often what was read is in memory at a time while it is checked, converted and sorted, at most."""
_MOST_BATCH_ROWS = 65_536
_VALUE_BYTES = {"BOOLEAN": 1, "INT32": 4, "INT64": 8, "INT96": 12, "FLOAT": 4, "DOUBLE": 8, "BYTE_ARRAY": 8}
_NUMBER_BYTES, _LIST_BYTES, _OBJECT_BYTES = 32, 88, 272  # of Python, with their places in a list or a dictionary


def read_json_file(path: Path) -> Any:
    """Return what a file of JSON holds. What is none raises ValueError, or RecursionError where it is nested deeply."""
    require_memory(path.stat().st_size)
    return parse_json(path.read_bytes())


def parse_json(content: bytes) -> Any:
    """Return what a text of JSON holds; it raises what `read_json_file` does."""
    items, lists, objects = (content.count(sign) for sign in (b",", b"[", b"{"))
    require_memory(len(content) + _NUMBER_BYTES * items + _LIST_BYTES * lists + _OBJECT_BYTES * objects)
    return json.loads(content)


def read_parquet_file(path: Path, wanted: Sequence[str] | None = None) -> pa.Table:
    """Return the columns of a Parquet file that are wanted, as far as it has them; all unless it is said.

    What is no such file raises ArrowException, or OSError. A name that is no text can be opened too.
    """
    with opened_parquet(path) as parquet:
        names: list[str] = parquet.schema_arrow.names
        return read_columns(parquet, [name for name in names if wanted is None or name in wanted])


def read_parquet_where(path: Path, names: Sequence[str], only: Any, texts: Sequence[str]) -> pa.Table:
    """Return columns of a Parquet file, of the rows that a filter of Arrow's lets through; None: all.

    `texts` are columns of few different texts: each of these is in memory once.
    """
    with opened_parquet(path) as parquet:
        _require_room(list(_chunks(parquet, names)))
    with pa.OSFile(os.fsencode(path)) as file:
        return pq.read_table(file, columns=list(names), filters=only, read_dictionary=list(texts), partitioning=None)


@contextmanager
def opened_parquet(path: Path) -> Iterator[pq.ParquetFile]:
    """Open a Parquet file, also one whose name is no text, which Arrow would not take."""
    with pa.OSFile(os.fsencode(path)) as file, pq.ParquetFile(file) as parquet:
        yield parquet


def read_columns(parquet: pq.ParquetFile, names: Sequence[str]) -> pa.Table:
    """Return some columns of a Parquet file, batch by batch, as long as they fit.

    A value that is repeated stands in the file once. So a batch has as few rows as are sure to fit even if each of them
    were all that its column holds.
    """
    chunks = list(_chunks(parquet, names))
    available_bytes = _require_room(chunks)
    largest = max((chunk.total_uncompressed_size for chunk in chunks if chunk.physical_type == "BYTE_ARRAY"), default=1)
    rows = _MOST_BATCH_ROWS if available_bytes is None else available_bytes // COPIES // max(1, largest)
    schema = pa.schema([parquet.schema_arrow.field(name) for name in names])
    batches, read_bytes = [], 0
    for batch in parquet.iter_batches(batch_size=max(1, min(_MOST_BATCH_ROWS, rows)), columns=list(names)):
        read_bytes += batch.nbytes
        require_within(COPIES * read_bytes, available_bytes)
        batches.append(batch.select(list(names)))
    return pa.Table.from_batches(batches, schema=schema)


def _require_room(chunks: Sequence[Any]) -> int | None:
    """Refuse columns that say themselves that they do not fit; return how much memory is available."""
    available_bytes = available_memory_bytes()
    declared_bytes = sum(max(chunk.total_uncompressed_size, _least_bytes(chunk)) for chunk in chunks)
    require_within(COPIES * declared_bytes, available_bytes)
    return available_bytes


def _chunks(parquet: pq.ParquetFile, names: Sequence[str]) -> Iterator[Any]:
    """Yield what the file says of the pieces of these columns, and of all that is nested in them."""
    metadata, wanted = parquet.metadata, set(names)
    for number in range(metadata.num_row_groups):
        group = metadata.row_group(number)
        chunks = (group.column(place) for place in range(group.num_columns))
        yield from (chunk for chunk in chunks if chunk.path_in_schema.partition(".")[0] in wanted)


def _least_bytes(chunk: Any) -> int:
    """Return how many bytes a piece's values have in memory, however few they are in the file."""
    return int(chunk.num_values * _VALUE_BYTES.get(chunk.physical_type, 1))
