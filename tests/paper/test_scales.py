"""The rule that keeps a smaller factory true to HFedMS, by formula; and what a round is expected to take."""

from pathlib import Path

import pytest

from hfedms_sim.campaign.records import read_record
from hfedms_sim.loading import load_scenario
from hfedms_sim.paper.published import DataKind
from hfedms_sim.paper.scales import SCALES
from hfedms_sim.paper.study import Study
from hfedms_sim.scenario import Scenario
from tests.paper.scale_rule import least_participation, problems_of_size, sequential_work

PUBLISHED = Path(__file__).parents[2] / "docs" / "results" / "factory"


def quickstart(rounds: int) -> Scenario:
    return load_scenario("quickstart", rounds=rounds)


def test_the_papers_own_sequential_work_is_as_worked_out_by_hand() -> None:
    dynamic, static = (load_scenario("paper-stream", strategy=name) for name in ("hfedms-d", "hfedms-s"))
    assert [round(sequential_work(dynamic, rounds), 2) for rounds in (50, 250, 500)] == [2.52, 1.28, 1.02]
    assert [round(sequential_work(static, rounds), 2) for rounds in (50, 250, 500)] == [6.42, 3.84, 3.23]
    assert sequential_work(dynamic, 34) * 34 == 105  # 36 + 18 + 12 + 12 + 9 + 9 + 9, in seven full rounds


@pytest.mark.parametrize("strategy", ["hfedms-d", "hfedms-s"])
@pytest.mark.parametrize("name", list(SCALES))
def test_every_scale_keeps_the_rule(name: str, strategy: str) -> None:
    study = Study(SCALES[name])  # type: ignore[index]
    assert problems_of_size(study.scenario(strategy, "stream", {}, 1, study.scale.rounds)) == []


@pytest.mark.parametrize("rounds", [60, 100])
def test_the_quickstart_keeps_the_rule_where_fedavg_gets_there_and_at_its_ceiling(rounds: int) -> None:
    assert quickstart(100).rounds == load_scenario("quickstart").rounds
    assert problems_of_size(quickstart(rounds)) == []


def test_the_papers_growth_in_a_small_factory_breaks_it() -> None:
    small = load_scenario("quickstart", overrides=["sensors={count: 40}", "strategy.alpha=2", "strategy.beta=3"])
    problems = problems_of_size(small)
    assert any("sequential work" in line for line in problems)
    assert any("participants" in line for line in problems)


def test_two_hundred_rounds_of_the_papers_factory_break_it_and_250_keep_it() -> None:
    assert problems_of_size(load_scenario("paper-stream", rounds=200))
    assert not problems_of_size(load_scenario("paper-stream", rounds=250))


def test_participation_is_that_of_the_leanest_cycle() -> None:
    scenario = load_scenario("paper-stream", rounds=500)  # cycle 91 on: 100 groups of 3, of which 30
    assert least_participation(scenario) == pytest.approx(90 / (0.3 * 368))


@pytest.mark.parametrize("name", list(SCALES))
def test_the_probe_is_a_full_round_in_the_middle(name: str) -> None:
    scale = SCALES[name]  # type: ignore[index]
    assert scale.probe_round % 5 == 1
    assert abs(scale.probe_round - scale.rounds / 2) <= 5


@pytest.mark.parametrize(
    ("kind", "record"),
    [
        ("stream", "benchmarks/records/stream-fedavg-250-seed1.json"),
        ("static", "lead/records/static-fedadam-tuned-evaluate_every=2-100-seed1.json"),
    ],
)
def test_the_factory_takes_about_as_long_as_its_published_trials_did(kind: DataKind, record: str) -> None:
    scale, played = SCALES["factory"], read_record(PUBLISHED / record)
    evaluations = sum(row.accuracy is not None for row in played.curve.rows)
    expected_s = played.provenance["rounds_trained"] * scale.round_s[kind] + evaluations * scale.evaluation_s
    assert 0.8 < expected_s / sum(played.provenance["wall_s"].values()) < 1.25
