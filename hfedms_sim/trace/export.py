"""A run's tables as other programs like them: CSV, Parquet, or a Perfetto trace."""

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Literal

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.csv as pa_csv
import pyarrow.parquet as pq

from hfedms_sim.errors import InputError, RunError
from hfedms_sim.system.checksums import Checksums
from hfedms_sim.system.files import appearing
from hfedms_sim.system.foreign_text import is_printable, printable
from hfedms_sim.system.reading import read_parquet_file
from hfedms_sim.trace.perfetto import write_perfetto
from hfedms_sim.trace.recorder import arrow_schema
from hfedms_sim.trace.tables import TABLES, Column

Format = Literal["csv", "parquet", "perfetto"]
_DEFAULT_NAMES: dict[Format, str] = {"csv": "trace-csv", "parquet": "trace-parquet", "perfetto": "trace.perfetto.json"}


def export_trace(run_directory: Path, trace_format: Format, out: Path | None = None) -> Path:
    """Writes the tables of a finished run to `out` (a directory, or a file for Perfetto), which must not exist."""
    target = out or run_directory / _DEFAULT_NAMES[trace_format]
    if target.exists() or target.is_symlink():
        raise InputError(f"{target}: exists already; choose another --out")
    tables = {name: read_trace_table(run_directory, name) for name in TABLES}
    try:
        with appearing(target) as written:
            _WRITERS[trace_format](tables, written)
    except OSError as error:
        raise RunError(f"{target}: cannot be written ({error.strerror or error})") from None
    return target


def read_trace_table(run_directory: Path, name: str, checksums: Checksums | None = None) -> pa.Table:
    """Return a table of a run with the columns of this version, in their order. A damaged one is refused.

    `checksums` are the directory's, where somebody has them who remembers what was found sound.

    In a directory of an earlier version, columns that it lacks are null, those that it calls otherwise have their names
    of today, and a table that it lacks has no rows. Columns that are not known here, as a later version may have them,
    are left out. What no version has written is refused.
    """
    (checksums or Checksums(run_directory)).require(f"{name}.parquet")
    path, table = run_directory.absolute() / f"{name}.parquet", TABLES[name]
    schema = arrow_schema(table)
    if table.is_new and not path.exists():
        return schema.empty_table()
    try:
        found = read_parquet_file(path, [*schema.names, *table.former_names.values()])
    except MemoryError as error:
        raise InputError(f"{path}: does not fit into memory ({error})") from None
    except (pa.ArrowException, OSError) as error:
        raise InputError(f"{path}: damaged ({(str(error).splitlines() or [''])[0]})") from None
    former = {was: name for name, was in table.former_names.items() if name not in found.column_names}
    found = found.rename_columns([former.get(name, name) for name in found.column_names])
    columns = [_column(found, column, schema.field(column.name).type, path) for column in table.columns]
    return pa.Table.from_arrays(columns, schema=schema)


def _column(found: pa.Table, column: Column, kind: pa.DataType, path: Path) -> pa.ChunkedArray:
    """Return a column of a table that was read, or nulls in its place."""
    where = f"{path}: its columns are not those of a run's {path.stem}"
    if column.name not in found.column_names:
        if not column.is_nullable:
            raise InputError(f"{where} ({column.name} is missing)")
        return pa.chunked_array([pa.nulls(len(found), kind)])
    if found.schema.field(column.name).type != kind:
        raise InputError(f"{where} ({column.name} is no {column.type})")
    values = found[column.name]
    if values.null_count and not column.is_nullable:
        raise InputError(f"{where} ({column.name} has gaps)")
    if column.type == "float64" and not column.is_nullable and not pc.all(pc.is_finite(values), min_count=0).as_py():
        raise InputError(f"{where} ({column.name} is not finite)")
    return _readable(values, column, where) if column.type == "string" else values


def _readable(values: pa.ChunkedArray, column: Column, where: str) -> pa.ChunkedArray:
    """Return texts without what a terminal, or a program that shows them, would obey."""
    try:
        texts = [text for text in values.unique().to_pylist() if text is not None]
    except UnicodeDecodeError:
        raise InputError(f"{where} ({column.name} is not UTF-8)") from None
    unknown = [text for text in texts if column.words and text not in column.words]
    if unknown:
        raise InputError(f"{where} ({column.name} = {unknown[0]!a:.60})")
    if all(map(is_printable, texts)):
        return values
    shown = [None if text is None else printable(text) for text in values.to_pylist()]
    return pa.chunked_array([pa.array(shown, type=values.type)])


def _write_csv(tables: Mapping[str, pa.Table], directory: Path) -> None:
    directory.mkdir()
    for name, table in tables.items():
        with (directory / f"{name}.csv").open("xb") as file:  # opened here: Arrow opens no name that is not text
            pa_csv.write_csv(table, file)


def _write_parquet(tables: Mapping[str, pa.Table], directory: Path) -> None:
    directory.mkdir()
    for name, table in tables.items():
        with (directory / f"{name}.parquet").open("xb") as file:
            pq.write_table(table, file, compression="zstd")


_WRITERS: dict[Format, Callable[[Mapping[str, pa.Table], Path], None]] = {
    "csv": _write_csv,
    "parquet": _write_parquet,
    "perfetto": write_perfetto,
}
