"""A run's tables as other programs like them: CSV, Parquet, or a Perfetto trace."""

from collections.abc import Callable, Mapping
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Literal

import pyarrow as pa
import pyarrow.csv as pa_csv
import pyarrow.parquet as pq

from hfedms_sim.errors import InputError, RunError
from hfedms_sim.trace.perfetto import write_perfetto
from hfedms_sim.trace.recorder import arrow_schema
from hfedms_sim.trace.tables import ADDED_COLUMNS, ADDED_TABLES, TABLES

Format = Literal["csv", "parquet", "perfetto"]
_DEFAULT_NAMES: dict[Format, str] = {"csv": "trace-csv", "parquet": "trace-parquet", "perfetto": "trace.perfetto.json"}


def export_trace(run_directory: Path, trace_format: Format, out: Path | None = None) -> Path:
    """Writes the tables of a finished run to `out` (a directory, or a file for Perfetto), which must not exist."""
    target = out or run_directory / _DEFAULT_NAMES[trace_format]
    if target.exists() or target.is_symlink():
        raise InputError(f"{target}: exists already; choose another --out")
    tables = {name: read_trace_table(run_directory, name) for name in TABLES}
    try:
        target.parent.mkdir(parents=True, exist_ok=True)
        with TemporaryDirectory(dir=target.parent, prefix=".export-") as temporary:
            written = Path(temporary).absolute() / "export"
            _WRITERS[trace_format](tables, written)
            written.replace(target)
    except OSError as error:
        raise RunError(f"{target}: cannot be written ({error.strerror or error})") from None
    return target


def read_trace_table(run_directory: Path, name: str) -> pa.Table:
    """Return a table of a run, which must have the columns of the contract.

    Columns that were added since are null where it lacks them, and a table that was added has no rows.
    """
    path = run_directory.absolute() / f"{name}.parquet"
    if name in ADDED_TABLES and not path.exists():
        return arrow_schema(TABLES[name]).empty_table()
    try:
        table = pq.read_table(path)
    except (pa.ArrowException, OSError) as error:
        raise InputError(f"{path}: damaged ({str(error).splitlines()[0]})") from None
    schema = arrow_schema(TABLES[name])
    for column in ADDED_COLUMNS.get(name, ()):
        if column not in table.column_names:
            place = min(schema.get_field_index(column), table.num_columns)
            table = table.add_column(place, schema.field(column), pa.nulls(len(table), schema.field(column).type))
    if table.schema != schema:
        raise InputError(f"{path}: its columns are not those of a run's {name}")
    return table


def _write_csv(tables: Mapping[str, pa.Table], directory: Path) -> None:
    directory.mkdir()
    for name, table in tables.items():
        pa_csv.write_csv(table, directory / f"{name}.csv")


def _write_parquet(tables: Mapping[str, pa.Table], directory: Path) -> None:
    directory.mkdir()
    for name, table in tables.items():
        pq.write_table(table, directory / f"{name}.parquet", compression="zstd")


_WRITERS: dict[Format, Callable[[Mapping[str, pa.Table], Path], None]] = {
    "csv": _write_csv,
    "parquet": _write_parquet,
    "perfetto": write_perfetto,
}
