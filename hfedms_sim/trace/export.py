"""A run's tables as other programs like them: CSV, Parquet, or a Perfetto trace."""

import shutil
from pathlib import Path
from typing import Literal

import pyarrow.csv as pa_csv
import pyarrow.parquet as pq

from hfedms_sim.errors import InputError, RunError
from hfedms_sim.trace.perfetto import write_perfetto
from hfedms_sim.trace.tables import TABLES

Format = Literal["csv", "parquet", "perfetto"]
_DEFAULT_NAMES: dict[Format, str] = {"csv": "trace-csv", "parquet": "trace-parquet", "perfetto": "trace.perfetto.json"}


def export_trace(run_directory: Path, trace_format: Format, out: Path | None = None) -> Path:
    """Writes the tables of a finished run to `out` (a directory, or a file for Perfetto), which must not exist."""
    target = out or run_directory / _DEFAULT_NAMES[trace_format]
    if target.exists() or target.is_symlink():
        raise InputError(f"{target}: exists already; choose another --out")
    temporary = target.with_name(f".{target.name}.part")
    try:
        target.parent.mkdir(parents=True, exist_ok=True)
        if trace_format == "perfetto":
            write_perfetto(run_directory, temporary)
        else:
            temporary.mkdir()
            _write_tables(run_directory, temporary, trace_format)
        temporary.replace(target)
    except OSError as error:
        raise RunError(f"{target}: cannot be written ({error.strerror or error})") from None
    finally:
        _remove(temporary)
    return target


def _write_tables(run_directory: Path, directory: Path, trace_format: Format) -> None:
    for name in TABLES:
        source = run_directory / f"{name}.parquet"
        if trace_format == "parquet":
            shutil.copyfile(source, directory / source.name)
        else:
            pa_csv.write_csv(pq.read_table(source), directory / f"{name}.csv")


def _remove(path: Path) -> None:
    if path.is_dir():
        shutil.rmtree(path, ignore_errors=True)
    else:
        path.unlink(missing_ok=True)
