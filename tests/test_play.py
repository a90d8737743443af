"""play(scenario): rounds one by one, the very ones of a run, and no more of them than are asked for."""

from itertools import islice

import pytest

from hfedms_sim.errors import InputError
from hfedms_sim.loading import load_scenario
from hfedms_sim.simulation import play, run
from hfedms_sim.world.world import World
from tests.conftest import tiny_scenario


@pytest.mark.parametrize("strategy", ["hfedms-d", "fedavg"])
def test_played_rounds_are_those_of_a_timing_only_run(strategy: str) -> None:
    scenario = load_scenario("quickstart", strategy=strategy, rounds=6)
    rounds = run(scenario, timing_only=True).rounds
    played = list(play(scenario))
    for name in ("round", "cycle", "phase", "start_s", "end_s"):
        assert [getattr(each.record, name) for each in played] == rounds[name].tolist()
    for name in ("energy_j", "baseline_energy_j"):
        assert [getattr(each.cost, name) for each in played] == rounds[name].tolist()
    assert [each.plan.participants for each in played] == rounds["participants"].tolist()


def test_nothing_is_played_that_is_not_asked_for(monkeypatch: pytest.MonkeyPatch) -> None:
    begun: list[int] = []
    begin = World.begin_round

    def noted(world: World, number: int) -> None:
        begun.append(number)
        begin(world, number)

    monkeypatch.setattr(World, "begin_round", noted)
    rounds = play(tiny_scenario(rounds=6))
    assert begun == []
    assert [each.record.round for each in islice(rounds, 2)] == [1, 2]
    assert begun == [1, 2]


def test_a_first_round_of_months_is_played_where_it_is_allowed() -> None:
    slow = tiny_scenario(cells=[{"name": "hall", "profile": {"name": "slow", "uplink_bps": 0.1, "downlink_bps": 0.1}}])
    with pytest.raises(InputError, match="the first round takes"):
        next(play(slow))
    assert next(play(slow, allow_infeasible=True)).record.round == 1
