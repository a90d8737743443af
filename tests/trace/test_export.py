"""Exports hold what the tables hold."""

import json
from collections.abc import Callable
from pathlib import Path

import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from hfedms_sim.errors import InputError
from hfedms_sim.result import RunResult
from hfedms_sim.simulation import open_run, run
from hfedms_sim.trace import TABLES, Format, export_trace, read_trace_table
from tests.conftest import tiny_scenario, without_checksums


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


ADDED = [column.name for column in TABLES["rounds"].columns if column.is_nullable]


@pytest.mark.parametrize("added", [["total_groups"], ADDED], ids=len)
def test_a_directory_of_an_earlier_version_has_nulls_where_a_column_was_added(
    result: RunResult, added: list[str]
) -> None:
    assert result.directory is not None
    path = without_checksums(result.directory) / "rounds.parquet"
    now = pq.read_table(path)
    pq.write_table(now.drop_columns(added), path)
    read = read_trace_table(result.directory, "rounds")
    assert read.schema == now.schema
    for column in added:
        assert read[column].null_count == len(read) > 0
    assert read.drop_columns(added) == now.drop_columns(added)
    assert export_trace(result.directory, "csv").is_dir()


@pytest.mark.parametrize("table", TABLES)
def test_columns_in_another_order_and_columns_of_a_later_version_change_nothing(result: RunResult, table: str) -> None:
    assert result.directory is not None
    path = without_checksums(result.directory) / f"{table}.parquet"
    now = pq.read_table(path)
    later = now.append_column("colour", pa.array(["red"] * len(now)))
    pq.write_table(later.select(later.column_names[::-1]), path)
    assert read_trace_table(result.directory, table) == now
    assert export_trace(result.directory, "parquet").is_dir()


def test_a_whole_directory_of_an_earlier_version_is_read(result: RunResult) -> None:
    """No table of sensors, no column that may be null, in any order, and none of the summary's newer keys."""
    assert result.directory is not None
    for name, table in TABLES.items():
        path, kept = result.directory / f"{name}.parquet", [each.name for each in table.columns if not each.is_nullable]
        pq.write_table(pq.read_table(path).select(kept[::-1]), path)
    (without_checksums(result.directory) / "sensors.parquet").unlink()
    summary = {key: value for key, value in result.summary.items() if key not in ("cells", "coverage", "limited_by")}
    (result.directory / "summary.json").write_text(json.dumps(summary))
    opened = open_run(result.directory)
    assert opened.sensors.empty
    assert opened.rounds["accuracy"].isna().all()
    assert opened.rounds["uplink_bytes"].tolist() == result.rounds["uplink_bytes"].tolist()
    assert opened.transfers.drop(columns="energy_j").equals(result.transfers.drop(columns="energy_j"))
    assert opened.utilisation["hall"] == result.utilisation["hall"]
    assert list(opened.captures.columns) == list(result.captures.columns)


@pytest.mark.parametrize("column", ["groups", "lineage"])
def test_a_table_without_a_column_that_every_version_has_is_refused(result: RunResult, column: str) -> None:
    assert result.directory is not None
    path = without_checksums(result.directory) / "rounds.parquet"
    pq.write_table(pq.read_table(path).drop_columns([column]), path)
    with pytest.raises(InputError, match=rf"its columns are not those of a run's rounds \({column} is missing\)"):
        read_trace_table(result.directory, "rounds")


def test_a_column_of_another_type_is_refused(result: RunResult) -> None:
    assert result.directory is not None
    path = without_checksums(result.directory) / "rounds.parquet"
    table = pq.read_table(path)
    place = table.column_names.index("total_groups")
    pq.write_table(table.set_column(place, "total_groups", table["total_groups"].cast("string")), path)
    with pytest.raises(InputError, match=r"its columns are not those of a run's rounds \(total_groups is no int64\)"):
        read_trace_table(result.directory, "rounds")


def test_a_table_with_other_columns_is_refused(result: RunResult) -> None:
    assert result.directory is not None
    (without_checksums(result.directory) / "transfers.parquet").write_bytes(
        (result.directory / "work.parquet").read_bytes()
    )
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
