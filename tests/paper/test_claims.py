"""Verdicts: intervals of paired differences decide, and nothing else."""

import json
from math import sqrt

import pytest

from hfedms_sim.paper.claims import CLAIMS, Claim, ClaimPart, claims_table, paired, verdicts_table

STUDENT_95_2 = 4.302652729911275  # two degrees of freedom


def claim(*parts: ClaimPart, missing: str = "", diverged: str = "") -> Claim:
    return Claim("Q1", "defaults", parts, missing, diverged)


def test_three_seeds_hold_if_their_interval_is_above_zero() -> None:
    values = (0.1, 0.2, 0.3)
    part = ClaimPart("x", values)
    assert part.estimate is not None
    assert part.estimate.half_width == pytest.approx(STUDENT_95_2 * 0.1 / sqrt(3))
    assert part.verdict == "undecided"  # 0.2 +- 0.248
    assert ClaimPart("x", tuple(value + 0.1 for value in values)).verdict == "holds"
    assert ClaimPart("x", tuple(-value - 0.1 for value in values)).verdict == "does not hold"


def test_one_seed_decides_nothing() -> None:
    assert ClaimPart("x", (0.9,)).verdict == "undecided"


def test_what_is_read_off_a_grid_is_no_surer_than_half_a_step() -> None:
    assert ClaimPart("x", (0.1, 0.1, 0.1), resolution=0.2).verdict == "undecided"
    assert ClaimPart("x", (0.3, 0.3, 0.3), resolution=0.2).verdict == "holds"


def test_equal_values_of_all_seeds_have_no_spread() -> None:
    assert ClaimPart("x", (0.1, 0.1, 0.1)).verdict == "holds"
    assert ClaimPart("x", (0.0, 0.0)).verdict == "undecided"


def test_a_claim_holds_if_all_its_parts_do_and_fails_with_one() -> None:
    good, bad, open_ = ClaimPart("a", (1.0, 1.1)), ClaimPart("b", (-1.0, -1.1)), ClaimPart("c", (1.0,))
    assert claim(good).verdict == "holds"
    assert claim(good, open_).verdict == "undecided"
    assert claim(good, open_, bad).verdict == "does not hold"


def test_what_was_not_run_cannot_be_tested() -> None:
    assert claim().verdict == "cannot be tested here"
    assert claim(ClaimPart("a", ())).verdict == "cannot be tested here"
    assert claim(ClaimPart("a", ()), ClaimPart("b", (1.0, 1.1))).verdict == "undecided"
    for value in (1.0, -1.0):
        assert claim(ClaimPart("a", (value, value)), missing="no data").verdict == "cannot be tested here"


def test_a_claim_of_which_a_run_diverged_is_undecided_at_best_and_says_which_run_it_was() -> None:
    good, bad, empty = ClaimPart("a", (1.0, 1.1)), ClaimPart("b", (-1.0, -1.1)), ClaimPart("c", ())
    broken = {"diverged": "hfedms-d diverged with seed 3"}
    assert claim(good, **broken).verdict == "undecided"
    assert claim(empty, **broken).verdict == "undecided"
    assert claim(good, bad, **broken).verdict == "does not hold"
    assert claim(good, missing="no data", **broken).verdict == "cannot be tested here"
    assert verdicts_table([claim(good, **broken)]).rows[0][-1] == "1 holds, hfedms-d diverged with seed 3"
    assert claims_table([claim(good, **broken)]).rows[0][-1] == "hfedms-d diverged with seed 3"
    assert claim(good, **broken).as_json()["diverged"] == "hfedms-d diverged with seed 3"


def test_differences_are_paired_by_seed() -> None:
    assert paired({1: 3.0, 2: 5.0, 4: 1.0}, {2: 1.0, 1: 1.0, 3: 9.0}) == (2.0, 4.0)


def test_json_has_what_decided() -> None:
    content = json.loads(json.dumps(claim(ClaimPart("a", (1.0, 1.1), "told")).as_json()))
    assert (content["claim"], content["verdict"], content["settings"]) == ("Q1", "holds", "defaults")
    assert content["parts"][0]["values"] == [1.0, 1.1]
    assert content["parts"][0]["mean"] == pytest.approx(1.05)


def test_json_and_table_have_the_interval_that_decided() -> None:
    one = claim(ClaimPart("a", (0.3, 0.3, 0.3), resolution=0.2))
    assert one.as_json()["parts"][0]["half_width"] == 0.2
    assert claims_table([one]).rows[1][-1] == "+0.3 ± 0.2"


def test_tables_have_a_line_for_each_claim_and_part() -> None:
    one = claim(ClaimPart("a", (1.0, 1.1)), ClaimPart("b", ()))
    assert len(verdicts_table([one]).rows) == 1
    assert len(claims_table([one]).rows) == 3


def test_there_are_thirteen_claims() -> None:
    assert tuple(f"Q{number}" for number in range(1, 14)) == CLAIMS
