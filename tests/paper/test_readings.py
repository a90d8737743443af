"""The program's reading sets every difference that a strategy has, and each difference changes the scenario."""

import pytest

from hfedms_sim.paper.published import KINDS, STATIC_GROUPINGS, DataKind
from hfedms_sim.paper.readings import DIFFERENCES, differences_of, overrides_of
from hfedms_sim.paper.scales import SCALES
from hfedms_sim.paper.study import Study
from hfedms_sim.strategies import SHIPPED


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("strategy", list(SHIPPED))
def test_each_difference_alone_is_a_valid_scenario_that_differs_from_the_text(strategy: str, kind: DataKind) -> None:
    study = Study(SCALES["factory"])
    text = study.scenario(strategy, kind, {}, 1, 10)
    for difference in differences_of(strategy, kind):
        changed = study.scenario(strategy, kind, {difference.key: difference.value}, 1, 10)
        assert changed != text, difference.name


def test_the_programs_hfedms_d_has_them_all() -> None:
    scenario = Study(SCALES["factory"], reading="program").scenario("hfedms-d", "stream", {}, 1, 10)
    strategy = scenario.strategy.model_dump()
    assert (scenario.data.ink, scenario.stream.batch, scenario.stream.redraw) == ("bright", 49, "cycle")
    assert (strategy["weights"], strategy["class_counts"], strategy["order"]) == ("local-set", "once", "round")
    assert (strategy["calibration_epochs"], strategy["distillation"]) == (3, 0.1)
    assert (strategy["first_time"], strategy["initial_memory"], strategy["absent_class"]) == (
        "skip",
        "local-set",
        "zero",
    )


def test_the_programs_hfedms_s_has_those_that_concern_a_cycle_of_one_round() -> None:
    """It draws a batch and shuffles its chains in every round anyhow, and neither calibrates nor remembers."""
    names = [each.name for each in differences_of("hfedms-s", "stream")]
    assert names == ["batches of 49", "mean by the sizes of local sets", "groups from the first counts for ever"]
    assert [each.name for each in differences_of("hfedms-s", "static")] == names[1:]
    scenario = Study(SCALES["factory"], reading="program").scenario("hfedms-s", "stream", {}, 1, 10)
    strategy = scenario.strategy.model_dump()
    assert (scenario.stream.batch, scenario.stream.redraw, strategy["order"]) == (49, "round", "cycle")
    assert (strategy["weights"], strategy["class_counts"]) == ("local-set", "once")


@pytest.mark.parametrize("strategy", STATIC_GROUPINGS)
def test_the_programs_fixed_groups_see_one_batch_for_the_whole_run(strategy: str) -> None:
    scenario = Study(SCALES["factory"], reading="program").scenario(strategy, "stream", {}, 1, 10)
    assert (scenario.stream.batch, scenario.stream.redraw, scenario.strategy.weights) == (49, "once", "local-set")
    (weights,) = differences_of(strategy, "static")
    assert weights.key == "strategy.weights"


def test_the_programs_fedavg_sees_one_batch_for_the_whole_run() -> None:
    scenario = Study(SCALES["factory"], reading="program").scenario("fedavg", "stream", {}, 1, 10)
    assert (scenario.stream.redraw, scenario.strategy.weights) == ("once", "local-set")


def test_the_text_is_what_scenarios_have_by_default() -> None:
    assert all(overrides_of("text", strategy, "stream") == [] for strategy in SHIPPED)


def test_every_difference_concerns_somebody() -> None:
    concerned = {each.name for strategy in SHIPPED for each in differences_of(strategy, "stream")}
    assert concerned == {each.name for each in DIFFERENCES}
