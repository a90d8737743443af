"""The shipped rows are played and judged; what is off says why."""

import csv
from math import isfinite
from pathlib import Path
from time import perf_counter

import pytest
from click.testing import CliRunner

from hfedms_sim.cli import main
from hfedms_sim.validation.judging import NEAR, Judged, judge_all, median_deviation
from hfedms_sim.validation.rows import Row, shipped_rows
from hfedms_sim.validation.tables import closing_lines, full_table, shown_tables

ROWS = shipped_rows().rows


def row(low: float, high: float, tolerance: float = 1.25) -> Row:
    ends = {"value": low} if low == high else {"low": low, "high": high}
    return Row(
        id="X1", what="x", **ends, unit="s", source="a book", cites="a book", kind="independent", profile="ethernet",
        not_testable="everything", tolerance=tolerance,
    )  # fmt: skip


@pytest.fixture(scope="module")
def judged() -> list[Judged]:
    started = perf_counter()
    judged = judge_all()
    assert perf_counter() - started < 60
    return judged


@pytest.mark.parametrize(
    ("ours", "ratio", "deviation", "verdict"),
    [
        (10.0, 1.0, 0.0, "agrees"),
        (12.5, 1.25, 0.25, "agrees"),
        (8.0, 0.8, 0.25, "agrees"),
        (13.0, 1.3, 0.3, "near"),
        (5.0, 0.5, 1.0, "near"),
        (20.0, 2.0, 1.0, "near"),
        (20.1, 2.01, 1.01, "off"),
        (4.0, 0.4, 1.5, "off"),
    ],
)
def test_a_verdict_is_by_the_factor_between_ours_and_theirs(
    ours: float, ratio: float, deviation: float, verdict: str
) -> None:
    judged = Judged(row(10.0, 10.0), ours)
    assert judged.ratio == pytest.approx(ratio)
    assert judged.deviation == pytest.approx(deviation)
    assert judged.verdict == verdict


@pytest.mark.parametrize(("ours", "ratio"), [(5.0, 0.5), (10.0, 1.0), (15.0, 1.0), (20.0, 1.0), (30.0, 1.5)])
def test_a_range_is_met_within_and_missed_from_its_nearer_end(ours: float, ratio: float) -> None:
    assert Judged(row(10.0, 20.0), ours).ratio == pytest.approx(ratio)


def test_a_row_has_a_tolerance_of_its_own() -> None:
    assert Judged(row(10.0, 10.0, tolerance=1.1), 12.0).verdict == "near"


def test_a_row_that_was_not_played_is_not_judged() -> None:
    waiting = Judged(row(10.0, 10.0), None)
    assert (waiting.ratio, waiting.deviation, waiting.verdict) == (None, None, "not testable yet")


def test_the_median_is_over_the_rows_of_a_kind_that_were_played() -> None:
    some = [Judged(row(10.0, 10.0), ours) for ours in (10.0, 12.0, 50.0, None)]
    assert median_deviation(some, "independent") == pytest.approx(0.2)
    assert median_deviation(some, "calibration") is None


def test_every_testable_row_gives_a_finite_number_and_the_others_none(judged: list[Judged]) -> None:
    assert [each.row.id for each in judged] == [row.id for row in ROWS]
    for each in judged:
        assert (each.ours is None) == bool(each.row.missing)
        assert each.ours is None or (isfinite(each.ours) and each.ours > 0)


def test_a_row_beyond_a_factor_of_two_says_why(judged: list[Judged]) -> None:
    assert [each.row.id for each in judged if each.verdict == "off" and not each.row.reason] == []


def test_a_reason_is_given_only_where_there_is_something_to_explain(judged: list[Judged]) -> None:
    """When a figure is corrected, its excuse goes."""
    explained = [each for each in judged if each.row.reason and each.deviation is not None]
    assert [each.row.id for each in explained if each.deviation is not None and each.deviation + 1 <= NEAR] == []


def test_rows_can_be_asked_for_by_id() -> None:
    assert [each.row.id for each in judge_all(["L1-sf12", "T8"])] == ["T8", "L1-sf12"]


def test_the_closing_lines_count_every_row_once(judged: list[Judged]) -> None:
    lines = closing_lines(judged)
    independent = [each for each in judged if each.row.kind == "independent" and each.ours is not None]
    waiting = sum(each.ours is None for each in judged)
    assert lines[0].startswith("independent: median deviation ")
    assert f" over {len(independent)} rows; " in lines[0]
    assert lines[-1] == f"not testable yet: {waiting} rows"
    assert sum(len(table.rows) for table in shown_tables(judged)) == len(full_table(judged).rows) == len(ROWS)


def test_the_command_prints_tables_within_100_columns_and_ends_well_whatever_the_verdicts(tmp_path: Path) -> None:
    result = CliRunner().invoke(main, ["validate", "T8", "E10", "E13", "E1", "--csv", str(tmp_path / "all.csv")])
    assert result.exit_code == 0
    assert max(len(line) for line in result.output.splitlines()) <= 100
    assert "│ E10 " in result.output
    assert "off" in result.output
    with (tmp_path / "all.csv").open(newline="") as file:
        written = {line["id"]: line for line in csv.DictReader(file)}
    assert sorted(written) == ["E1", "E10", "E13", "T8"]
    assert float(written["T8"]["ratio"]) == pytest.approx(float(written["T8"]["ours"]) / 94930)
    assert written["E13"]["ours"] == ""


def test_an_unknown_row_is_one_line_and_exit_code_2() -> None:
    result = CliRunner().invoke(main, ["validate", "T88"])
    assert result.exit_code == 2
    assert "unknown row 'T88'. Did you mean 'T8'?" in result.output


def test_a_csv_that_cannot_be_written_is_one_line_and_exit_code_2(tmp_path: Path) -> None:
    result = CliRunner().invoke(main, ["validate", "T8", "--csv", str(tmp_path / "absent" / "all.csv")])
    assert result.exit_code == 2
    assert "cannot be written" in result.output
