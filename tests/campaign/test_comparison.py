"""Means, intervals and paired differences, on figures that can be checked by hand."""

import csv
import io
from dataclasses import replace
from itertools import product
from pathlib import Path
from typing import Any

import pytest
from rich.console import Console
from scipy.stats import t as student

from hfedms_sim.campaign.campaign import Refusal, TrialResult
from hfedms_sim.campaign.comparison import MEASURES, Coverage, Row, comparison
from hfedms_sim.campaign.csv_tables import TrialLine, write_tables
from hfedms_sim.campaign.curves import Curve, Point, curve_of
from hfedms_sim.campaign.statistics import Estimate, estimate
from hfedms_sim.campaign.trials import Trial
from hfedms_sim.report.comparison import WIDEST_COLUMNS, comparison_notes, comparison_table
from hfedms_sim.simulation import run
from hfedms_sim.units import format_joules
from tests.conftest import tiny_scenario


def point(round_number: int, accuracy: float | None) -> Point:
    measured = dict.fromkeys(("loss", "accuracy_p10", "accuracy_p50", "accuracy_p90", "probe_accuracy"))
    return Point(
        round_number, "full", 10.0 * round_number, 5, 5, None, 70 * round_number, 2 * round_number, accuracy, **measured
    )


CURVE = Curve((point(1, 0.4), point(3, 0.5), point(9, None)))


def result(
    profile: str, seed: int, reached_s: float | None, end_s: float = 100.0, covered: int | None = None
) -> TrialResult:
    """Return a result as older versions have recorded it, unless it is said how many of 8 sensors are in coverage."""
    spent = {"round": 3, "simulated_s": reached_s, "bytes": 10, "energy_j": None, "updated_parameters": 70}
    target = {"accuracy": 0.5} | (spent if reached_s is not None else dict.fromkeys(spent))
    summary: dict[str, Any] = {
        "seed": seed, "rounds": 9, "stopped": None, "simulated_s": end_s, "final_accuracy": 0.6, "lineage": "l",
        "final_loss": 0.7, "bytes": {"total": 20}, "energy_j": None, "targets": [target],
    }  # fmt: skip
    if covered is not None:
        summary["coverage"] = {"sensors": 8, "covered": covered}
    trial = Trial(f"{profile}-{seed}", (("profile", profile), ("strategy", "fedavg")), tiny_scenario(seed=seed))
    return TrialResult(trial, summary, {"timing_only": False}, CURVE)


def limited(profile: str, seed: int, cause: str) -> TrialResult:
    made = result(profile, seed, None, covered=8)
    return made._replace(summary={**made.summary, "limited_by": {"cause": cause, "share": 0.6}})


def test_a_variant_is_limited_by_what_limits_most_of_its_seeds(tmp_path: Path) -> None:
    causes = ("compute", "latency", "latency")
    results = [limited("a", seed, cause) for seed, cause in enumerate(causes)] + [result("old", 1, None)]
    rows = comparison(results)
    assert [(dict(row.variant)["profile"], row.limited_by) for row in rows if row.target == "end"] == [
        ("a", "latency"),
        ("old", None),
    ]
    write_tables(results, tmp_path)
    found = [row["limited_by"] for row in lines(tmp_path / "trials.csv") if row["target"] == "end"]
    assert found == [*causes, ""]
    assert {row["limited_by"] for row in lines(tmp_path / "comparison.csv")} == {"latency", ""}
    assert "latency" in printed(rows)


def test_the_interval_is_students() -> None:
    values = [3.0, 4.0, 8.0]
    low, high = student.interval(0.95, 2, loc=5.0, scale=(7.0 / 3) ** 0.5)  # variance 7, of the mean a third of it
    assert estimate(values) == (pytest.approx(5.0), pytest.approx((high - low) / 2))
    assert estimate([2.0]) == Estimate(2.0, None)
    assert estimate([]) is None


def test_differences_are_paired_by_seed() -> None:
    """The second radio is slower by 1 s in every seed, though seeds differ by far more."""
    results = [result("a", seed, 10.0 * seed) for seed in (1, 2, 3)]
    results += [result("b", seed, 10.0 * seed + 1) for seed in (1, 2, 3)]
    rows = {(dict(row.variant)["profile"], row.target): row for row in comparison(results)}
    assert list(rows) == [("a", "0.5"), ("a", "end"), ("b", "0.5"), ("b", "end")]
    assert rows["b", "0.5"].differences["simulated_s"] == (pytest.approx(1.0), pytest.approx(0.0, abs=1e-12))
    assert rows["a", "0.5"].differences["simulated_s"] is None
    spread = rows["b", "0.5"].measures["simulated_s"]
    assert spread is not None
    assert spread.half_width is not None
    assert spread.half_width > 20


def test_seeds_that_do_not_reach_a_target_are_counted_and_left_out() -> None:
    results = [result("a", 1, 5.0), result("a", 2, 6.0), result("b", 1, None), result("b", 2, 9.0)]
    row = next(row for row in comparison(results) if row.target == "0.5" and dict(row.variant)["profile"] == "b")
    assert (row.seeds, row.reached) == (2, 1)
    assert row.measures["simulated_s"] == Estimate(9.0, None)
    assert row.differences["simulated_s"] == Estimate(3.0, None)
    assert row.measures["energy_j"] is None


def test_the_csv_has_what_the_table_has(tmp_path: Path) -> None:
    write_tables([result("a", 1, 5.0), result("b", 1, None)], tmp_path)
    with (tmp_path / "comparison.csv").open() as file:
        rows = list(csv.DictReader(file))
    assert [(row["profile"], row["target"], row["reached"], row["simulated_s"]) for row in rows] == [
        ("a", "0.5", "1", "5.0"),
        ("a", "end", "1", "100.0"),
        ("b", "0.5", "0", ""),
        ("b", "end", "1", "100.0"),
    ]
    assert [(row["loss"], row["updated_parameters"], row["total_groups"]) for row in rows] == [
        ("", "70.0", "6.0"),  # of the round at the target
        ("0.7", "630.0", "18.0"),
        ("", "", ""),
        ("0.7", "630.0", "18.0"),
    ]
    with (tmp_path / "curves.csv").open() as file:
        points = [(row["trial"], row["seed"], row["round"], row["accuracy"]) for row in csv.DictReader(file)]
    assert points[:4] == [
        ("a-1", "1", "1", "0.4"),
        ("a-1", "1", "3", "0.5"),
        ("a-1", "1", "9", ""),
        ("b-1", "1", "1", "0.4"),
    ]
    with (tmp_path / "trials.csv").open() as file:
        trials = list(csv.DictReader(file))
    assert [(trial["trial"], trial["seed"], trial["target"]) for trial in trials][:2] == [
        ("a-1", "1", "0.5"),
        ("a-1", "1", "end"),
    ]


def test_trials_whose_variants_name_different_things_share_a_table(tmp_path: Path) -> None:
    one, other = result("a", 1, 5.0), result("b", 1, 5.0)
    other = other._replace(trial=replace(other.trial, variant=(("solver", "exact"),)))
    write_tables([one, other], tmp_path)
    with (tmp_path / "trials.csv").open() as file:
        rows = [(row["profile"], row["strategy"], row["solver"]) for row in csv.DictReader(file)]
    assert rows == [("a", "fedavg", ""), ("a", "fedavg", ""), ("", "", "exact"), ("", "", "exact")]


def by_profile(rows: list[Row]) -> dict[str, Row]:
    return {dict(row.variant)["profile"]: row for row in rows if row.target == "end"}


def test_variants_that_lose_sensors_are_neither_reference_nor_compared() -> None:
    """`lossy` is the fastest, because it serves 7.5 of 8 sensors; `whole` is compared to, though it is the second."""
    seeds = {"lossy": (8, 7), "whole": (8, 8), "slow": (8, 8)}
    ends_s = {"lossy": 10.0, "whole": 100.0, "slow": 130.0}
    results = [
        result(profile, seed, None, ends_s[profile] + seed, covered)
        for profile, coverage in seeds.items()
        for seed, covered in enumerate(coverage)
    ]
    rows = by_profile(comparison(results))
    assert [row.coverage for row in rows.values()] == [Coverage(8, 7.5), Coverage(8, 8), Coverage(8, 8)]
    assert [row.is_comparable for row in rows.values()] == [False, True, True]
    assert [row.is_reference for row in rows.values()] == [False, True, False]
    assert [row.differences["simulated_s"] for row in rows.values()] == [None, None, Estimate(30.0, 0.0)]
    assert rows["lossy"].measures["simulated_s"] is not None
    assert rows["lossy"].measures["simulated_s"].mean == 10.5


def test_if_no_variant_has_all_sensors_nothing_is_compared() -> None:
    rows = by_profile(comparison([result("a", 1, None, 10.0, 5), result("b", 1, None, 20.0, 6)]))
    assert [row.is_reference for row in rows.values()] == [True, False]
    assert all(row.differences["simulated_s"] is None for row in rows.values())
    assert "reference" not in printed(comparison([result("a", 1, None, 10.0, 5), result("b", 1, None, 20.0, 6)]))


def test_older_records_have_no_coverage_and_are_compared_as_ever(tmp_path: Path) -> None:
    older = [result("a", 1, 5.0), result("b", 1, 6.0, 101.0)]
    rows = by_profile(comparison(older))
    assert rows["b"].coverage is None
    assert rows["b"].differences["simulated_s"] == Estimate(1.0, None)
    assert "covered" not in printed(comparison(older))
    write_tables(older, tmp_path)
    for name in ("comparison.csv", "trials.csv"):
        assert {(row["sensors"], row["covered"]) for row in lines(tmp_path / name)} == {("", "")}


def lines(path: Path) -> list[dict[str, str]]:
    with path.open() as file:
        return list(csv.DictReader(file))


def refusal(profile: str, seed: int, reason: str) -> Refusal:
    return Refusal(result(profile, seed, None).trial, reason)


def test_what_was_refused_comes_last_a_row_for_each_variant_with_the_reason_of_its_first_seed(tmp_path: Path) -> None:
    refused = [refusal("far", 1, "no cell"), refusal("far", 2, "no place"), refusal("a", 2, "too slow")]
    write_tables([result("a", 1, 5.0, covered=8)], tmp_path, refused)
    found = [(row["profile"], row["target"], row["seeds"], row["reached"], row["refused"], row["covered"])
             for row in lines(tmp_path / "comparison.csv")]  # fmt: skip
    assert found == [
        ("a", "0.5", "1", "1", "", "8.0"),
        ("a", "end", "1", "1", "", "8.0"),
        ("far", "end", "2", "0", "no cell", ""),
        ("a", "end", "1", "0", "too slow", ""),
    ]
    found = [(row["trial"], row["seed"], row["refused"], row["covered"]) for row in lines(tmp_path / "trials.csv")]
    assert found == [
        ("a-1", "1", "", "8"), ("a-1", "1", "", "8"),
        ("far-1", "1", "no cell", ""), ("far-2", "2", "no place", ""), ("a-2", "2", "too slow", ""),
    ]  # fmt: skip
    assert len(lines(tmp_path / "curves.csv")) == 3


def test_why_a_trial_stopped_is_in_the_line_of_its_end(tmp_path: Path) -> None:
    made, stopped = result("a", 1, 5.0), {"reason": "target", "round": 9, "detail": "accuracy 0.6"}
    write_tables([made._replace(summary={**made.summary, "stopped": stopped})], tmp_path)
    found = [
        (row["target"], row["stopped"], row["stopped_round"], row["stopped_detail"], row["lineage"])
        for row in lines(tmp_path / "trials.csv")
    ]
    assert found == [("0.5", "", "", "", ""), ("end", "target", "9", "accuracy 0.6", "l")]


def test_every_measure_has_a_column_of_its_name() -> None:
    assert set(MEASURES) <= set(TrialLine._fields)


def test_participants_are_the_mean_a_round_and_skipped_the_sum(tmp_path: Path) -> None:
    """Up to round 3, where the target was reached, 12 took part and 2 skipped; up to the last round, 9, 45 and 6."""
    taking_part = {1: (4, 0), 3: (12, 2), 9: (45, 6)}
    points = [row._replace(participants=who, skipped=none)
              for row in CURVE.rows for who, none in [taking_part[row.round]]]  # fmt: skip
    write_tables([result("a", 1, 5.0)._replace(curve=Curve(tuple(points)))], tmp_path)
    figures = [(row["participants"], row["skipped"]) for row in lines(tmp_path / "comparison.csv")]
    assert figures == [("4.0", "2.0"), ("5.0", "6.0")]
    assert [row["participants"] for row in lines(tmp_path / "curves.csv")] == ["4", "12", "45"]


def test_a_runs_curve_counts_who_took_part_and_who_had_nothing() -> None:
    played = run(tiny_scenario(rounds=4), timing_only=True)
    last = curve_of(played.arrow("rounds")).rows[-1]
    assert (last.participants, last.skipped) == (played.rounds["participants"].sum(), played.rounds["skipped"].sum())
    assert last.participants


def printed(rows: list[Row], width: int = WIDEST_COLUMNS) -> str:
    text = io.StringIO()
    Console(file=text, width=width).print(comparison_table(rows, "hall"))
    return text.getvalue()


HEADINGS = (
    "profile",
    "target",
    "covered",
    "reached",
    "accuracy",
    "round",
    "simulated",
    "bytes",
    "energy",
    "time, less",
)


def wide_rows(strategies: tuple[str, ...], unlike: float) -> list[Row]:
    """Return rows with long names, long times, and, where seeds are unlike, intervals in all columns."""
    made = []
    for profile, strategy, seed in product(("lorawan-eu868-sf12", "nb-iot-nb1"), strategies, (1, 2)):
        factor = 1 + unlike * seed * len(strategy)
        one = result(profile, seed, 4e5 * factor, 8e5 * factor, covered=8)
        summary = {**one.summary, "energy_j": 123.4 * factor, "bytes": {"total": int(2.34e8 * factor)}}
        summary["final_accuracy"], summary["rounds"] = 0.6 / factor, 100 * seed
        variant = (("profile", profile), ("strategy", strategy))
        made.append(one._replace(summary=summary, trial=replace(one.trial, variant=variant)))
    return comparison(made)


@pytest.mark.parametrize("strategies", [("fedavg",), ("hfedms-d", "fedadagrad")])
@pytest.mark.parametrize("unlike", [0.0, 0.01])
def test_the_table_fits_a_hundred_columns_and_no_column_is_cut(strategies: tuple[str, ...], unlike: float) -> None:
    rows = wide_rows(strategies, unlike)
    text = printed(rows)
    assert max(len(line) for line in text.splitlines()) <= 100
    assert "…" not in text
    for word in (*HEADINGS, "lorawan-eu868-sf12", "nb-iot-nb1", *(strategies if len(strategies) > 1 else ()), "8/8"):
        assert word in text, word
    assert text.count("2 of 2") == len(rows) / 2
    shown = [format_joules(row.measures["energy_j"].mean) for row in rows if row.measures["energy_j"] is not None]
    assert shown
    assert all(joules in text for joules in shown)


def test_in_a_narrow_terminal_cells_wrap_and_nothing_is_cut() -> None:
    text = printed(wide_rows(("hfedms-d", "fedadagrad"), 0.01), 60)
    assert max(len(line) for line in text.splitlines()) <= 60
    assert "…" not in text


def test_the_lines_below_the_table_explain_its_signs_and_say_what_is_not_modelled() -> None:
    results = [result("a", 1, None, covered=8), result("b", 1, None, covered=7)]
    refused = [
        refusal("c", 1, "no cell"),
        refusal("c", 2, "no cell"),
        refusal("d", 1, "no cell"),
        refusal("a", 2, "too slow"),
    ]
    rows = comparison(results, refused)
    assert comparison_notes(rows) == [
        "* not all sensors are in coverage: these figures are of fewer sensors, and not compared",
        "† c (2 of 2 seeds); d: no cell",
        "† a (1 of 2 seeds): too slow",
        "not modelled: multicast, transport headers, interference between cells",
    ]
    text = printed(rows)
    assert "8/8 " in text
    assert "7/8 *" in text
    assert text.count("refused †") == 3
    assert comparison_notes(comparison(results[:1])) == []


def test_a_mean_coverage_that_is_not_whole_never_looks_so() -> None:
    row = comparison([result("a", 1, None, covered=8)])[-1]
    assert "999.9/1000 *" in printed([row._replace(coverage=Coverage(1000, 999.99))])
    assert "2000000/2000000 " in printed([row._replace(coverage=Coverage(2_000_000, 2_000_000.0))])


def test_joules_of_extrapolated_figures_are_marked_and_named_below() -> None:
    """Only the first radio's are; the second has been recorded by an older version, which lists nothing."""
    one, other = (result(profile, 1, 5.0) for profile in ("a", "b"))
    one.summary["energy_extrapolated"] = ["a: energy.setup_j"]  # type: ignore[index]
    for each in (one, other):
        each.summary["energy_j"] = 12.0  # type: ignore[index]
    rows = comparison([one, other])
    assert [row.extrapolated for row in rows if row.target == "end"] == [("a: energy.setup_j",), ()]
    console = Console(width=120, file=io.StringIO(), record=True)
    console.print(comparison_table(rows, "race"))
    assert console.export_text().count("12 J ‡") == 1
    assert "‡ joules rest on figures that are extrapolated, not measured on this radio: a: setup_j" in comparison_notes(
        rows
    )
