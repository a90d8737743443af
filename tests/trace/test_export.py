"""Exports hold what the tables hold."""

from collections.abc import Callable
from pathlib import Path

import pandas as pd
import pyarrow.parquet as pq
import pytest

from hfedms_sim.errors import InputError
from hfedms_sim.result import RunResult
from hfedms_sim.simulation import run
from hfedms_sim.trace import TABLES, Format, export_trace, read_trace_table
from hfedms_sim.trace.tables import ADDED_COLUMNS
from tests.conftest import tiny_scenario


@pytest.fixture
def result(tmp_path: Path) -> RunResult:
    return run(tiny_scenario(), timing_only=True, out=tmp_path / "out")


def read_csv(path: Path) -> pd.DataFrame:
    return pd.read_csv(path, float_precision="round_trip")


@pytest.mark.parametrize(("trace_format", "read"), [("csv", read_csv), ("parquet", pd.read_parquet)])
def test_the_exported_tables_are_the_runs_tables(
    result: RunResult, trace_format: Format, read: Callable[[Path], pd.DataFrame]
) -> None:
    assert result.directory is not None
    written = export_trace(result.directory, trace_format)
    assert {path.stem for path in written.iterdir()} == set(TABLES)
    for name in ("rounds", "transfers", "work", "captures"):
        frame = read(written / f"{name}.{trace_format}")
        original = getattr(result, name)
        assert list(frame.columns) == list(original.columns)
        measured = original.columns[original.notna().all()]
        pd.testing.assert_frame_equal(frame[measured], original[measured], check_exact=True, check_dtype=False)


def test_an_export_that_fails_leaves_nothing_behind(result: RunResult, monkeypatch: pytest.MonkeyPatch) -> None:
    assert result.directory is not None
    before = set(result.directory.iterdir())

    def interrupted(*_: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr("hfedms_sim.trace.export.pa_csv.write_csv", interrupted)
    with pytest.raises(KeyboardInterrupt):
        export_trace(result.directory, "csv")
    assert set(result.directory.iterdir()) == before


@pytest.mark.parametrize("added", [["total_groups"], list(ADDED_COLUMNS["rounds"])], ids=len)
def test_a_directory_of_an_earlier_version_has_nulls_where_a_column_was_added(
    result: RunResult, added: list[str]
) -> None:
    assert result.directory is not None
    path = result.directory / "rounds.parquet"
    now = pq.read_table(path)
    pq.write_table(now.drop_columns(added), path)
    read = read_trace_table(result.directory, "rounds")
    assert read.schema == now.schema
    for column in added:
        assert read[column].null_count == len(read) > 0
    assert read.drop_columns(added) == now.drop_columns(added)
    assert export_trace(result.directory, "csv").is_dir()


@pytest.mark.parametrize("column", ["groups", "lineage"])
def test_a_table_that_lacks_another_column_is_refused(result: RunResult, column: str) -> None:
    assert result.directory is not None
    path = result.directory / "rounds.parquet"
    pq.write_table(pq.read_table(path).drop_columns([column]), path)
    with pytest.raises(InputError, match="its columns are not those of a run's rounds"):
        read_trace_table(result.directory, "rounds")


def test_an_added_column_of_another_type_is_refused(result: RunResult) -> None:
    assert result.directory is not None
    path = result.directory / "rounds.parquet"
    table = pq.read_table(path)
    place = table.column_names.index("total_groups")
    pq.write_table(table.set_column(place, "total_groups", table["total_groups"].cast("string")), path)
    with pytest.raises(InputError, match="its columns are not those of a run's rounds"):
        read_trace_table(result.directory, "rounds")


def test_a_table_with_other_columns_is_refused(result: RunResult) -> None:
    assert result.directory is not None
    (result.directory / "transfers.parquet").write_bytes((result.directory / "work.parquet").read_bytes())
    with pytest.raises(InputError, match="its columns are not those of a run's transfers"):
        export_trace(result.directory, "perfetto")


def test_what_lies_beside_the_target_is_left_alone(result: RunResult, tmp_path: Path) -> None:
    assert result.directory is not None
    (tmp_path / ".mine.part").mkdir()
    export_trace(result.directory, "csv", tmp_path / "mine")
    assert {path.name for path in tmp_path.iterdir()} == {"out", ".mine.part", "mine"}


def test_an_existing_target_is_refused(result: RunResult, tmp_path: Path) -> None:
    assert result.directory is not None
    with pytest.raises(InputError, match="exists already"):
        export_trace(result.directory, "csv", tmp_path)
