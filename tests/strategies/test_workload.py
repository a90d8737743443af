"""What strategies say of a run's size before it is played, against the rows of a run that was."""

import pytest

from hfedms_sim.simulation import run
from hfedms_sim.strategies import STRATEGIES, strategy_of
from tests.conftest import tiny_scenario

SENSORS, ROUNDS = 24, 12


@pytest.mark.parametrize("name", STRATEGIES)
def test_a_workload_bounds_what_is_played_and_is_close_to_it(name: str) -> None:
    """FedCS's budget leaves room for all of those that it draws; the rule of HFedMS-Plus is asked for nothing."""
    settings = {"name": name} | {"fedcs": {"budget_s": 1e6}, "hfedms-plus": {"cycle": 5}}.get(name, {})
    factory = {"count": SENSORS, "types": 2}
    scenario = tiny_scenario(sensors=factory, rounds=ROUNDS, strategy=settings, model="small-cnn")
    said = strategy_of(scenario.strategy).workload(scenario.strategy, SENSORS, ROUNDS)
    played = run(scenario, timing_only=True)
    kinds = played.transfers["payload"].value_counts()
    assert kinds.get("report", 0) <= said.reports <= 2 * kinds.get("report", 0)
    assert kinds.get("scatter", 0) <= said.scattered <= 2 * kinds.get("scatter", 0)
    assert len(played.transfers) <= said.transfers <= 2 * len(played.transfers)
    assert played.rounds["participants"].max() <= max(said.side_by_side, said.trainings // ROUNDS)


def test_chains_report_and_are_grouped_once_a_cycle() -> None:
    scenario = tiny_scenario(
        sensors={"count": SENSORS, "types": 2},
        rounds=ROUNDS,
        strategy={"name": "hfedms-d", "interval": 4, "beta": 3, "alpha": 0.0, "memory": 7, "calibration_epochs": 2},
    )
    said = strategy_of(scenario.strategy).workload(scenario.strategy, SENSORS, ROUNDS)
    each_round = 7  # floor(0.3 x 24)
    assert (said.trainings, said.calibrations, said.reports, said.scattered) == (
        3 * each_round, 9 * each_round, 3 * SENSORS, 3 * each_round,
    )  # fmt: skip
    assert said.groupings == (3, 3, 3)
    assert (said.remembered, said.remembered_passes) == (7 * 21, 2 * 7 * 9 * each_round)


def test_a_workload_of_any_length_is_worked_out_at_once() -> None:
    """Ten million rounds of chains that arrive one by one are not counted one by one."""
    settings = tiny_scenario(strategy={"name": "hfedms-async"}).strategy
    said = strategy_of(settings).workload(settings, 1_000_000, 10_000_000)
    assert said.trainings > 10_000_000
    assert said.groupings.times < 10_000_000
