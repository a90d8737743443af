"""Means, intervals and paired differences, on figures that can be checked by hand."""

import csv
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from scipy.stats import t as student

from hfedms_sim.campaign.campaign import TrialResult
from hfedms_sim.campaign.comparison import comparison, write_tables
from hfedms_sim.campaign.curves import Curve, Point
from hfedms_sim.campaign.statistics import Estimate, estimate
from hfedms_sim.campaign.trials import Trial
from tests.conftest import tiny_scenario


def point(round_number: int, accuracy: float | None) -> Point:
    measured = dict.fromkeys(("loss", "accuracy_p10", "accuracy_p50", "accuracy_p90", "probe_accuracy"))
    return Point(
        round_number, "full", 10.0 * round_number, 5, 5, None, 70 * round_number, 2 * round_number, accuracy, **measured
    )


CURVE = Curve((point(1, 0.4), point(3, 0.5), point(9, None)))


def result(profile: str, seed: int, reached_s: float | None, end_s: float = 100.0) -> TrialResult:
    spent = {"round": 3, "simulated_s": reached_s, "bytes": 10, "energy_j": None, "updated_parameters": 70}
    target = {"accuracy": 0.5} | (spent if reached_s is not None else dict.fromkeys(spent))
    summary: dict[str, Any] = {
        "seed": seed, "rounds": 9, "stopped": None, "simulated_s": end_s, "final_accuracy": 0.6, "lineage": "l",
        "final_loss": 0.7, "bytes": {"total": 20}, "energy_j": None, "targets": [target],
    }  # fmt: skip
    trial = Trial(f"{profile}-{seed}", (("profile", profile), ("strategy", "fedavg")), tiny_scenario(seed=seed))
    return TrialResult(trial, summary, {"timing_only": False}, CURVE)


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
