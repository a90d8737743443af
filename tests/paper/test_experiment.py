"""The end of a run, and what becomes of claims whose runs have none."""

import pytest

from hfedms_sim.paper.experiment import Experiment
from hfedms_sim.paper.experiments.benchmarks import BENCHMARKS
from hfedms_sim.paper.experiments.efficiency import EFFICIENCY_EXPERIMENT
from hfedms_sim.paper.experiments.forgetting import FORGETTING
from hfedms_sim.paper.experiments.intervals import INTERVALS_EXPERIMENT
from hfedms_sim.paper.experiments.scc import SCC
from hfedms_sim.paper.experiments.static_curves import STATIC_CURVES
from tests.paper.made_up import claims_of, diverging, results, study


def test_the_end_of_hfedms_d_is_that_of_its_last_whole_cycle() -> None:
    here = study((1,))
    found = results(INTERVALS_EXPERIMENT, here)
    assert found.of("hfedms-d", "stream", {"strategy.interval": "3"}).final("round") == {1: 39.0}
    assert found.of("hfedms-d", "stream").final("round") == {1: 40.0}
    assert found.of("hfedms-s", "stream").final("round") == {1: 40.0}


def test_what_has_diverged_has_no_end() -> None:
    seeds = diverging(results(SCC, study()), [("hfedms-d", 2)]).of("hfedms-d", "stream")
    assert seeds.diverged == (2,)
    assert [*seeds.final("accuracy")] == [*seeds.spent("round", 0.5)] == [*seeds.at(40, "accuracy")] == [1, 3]


@pytest.mark.parametrize(
    ("experiment", "strategy", "claims"),
    [
        (BENCHMARKS, "hfedms-d", ["Q1"]),
        (BENCHMARKS, "hfedms-s", ["Q2"]),
        (EFFICIENCY_EXPERIMENT, "hfedms-s", ["Q4", "Q5"]),
        (EFFICIENCY_EXPERIMENT, "hfedms-d", ["Q4", "Q5"]),
        (STATIC_CURVES, "hfedms-s", ["Q7", "Q8"]),
        (STATIC_CURVES, "static-icg", ["Q7"]),
        (FORGETTING, "hfedms-s", ["Q10"]),
        (SCC, "hfedms-d", ["Q11"]),
        (INTERVALS_EXPERIMENT, "hfedms-d", ["Q12", "Q13"]),
        (INTERVALS_EXPERIMENT, "hfedms-s", ["Q13"]),
    ],
)
def test_a_claim_names_the_run_that_diverged(experiment: Experiment, strategy: str, claims: list[str]) -> None:
    found = claims_of(experiment, diverged=[(strategy, 2)])
    assert [name for name, claim in found.items() if claim.diverged] == claims
    for name in claims:
        assert "diverged with seed 2" in found[name].diverged
        assert found[name].verdict != "holds"
        assert any(len(part.values) == 2 for part in found[name].parts)


def test_a_claim_that_would_hold_is_undecided_with_a_run_that_diverged() -> None:
    assert claims_of(BENCHMARKS)["Q1"].verdict == "holds"
    assert claims_of(BENCHMARKS, diverged=[("hfedms-d", 2)])["Q1"].verdict == "undecided"
    assert claims_of(BENCHMARKS, diverged=[("fedadam", 2)])["Q1"].verdict == "holds"  # a rival's counts neither way
