"""FedCS: who fits into a budget of time, by hand and against FedAvg; and what a strategy sees of the network."""

from math import inf, nan
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from hfedms_sim.loading import scenario_of
from hfedms_sim.rounds import NetworkView
from hfedms_sim.simulation import parts_of, run
from hfedms_sim.simulation.session import Session
from hfedms_sim.strategies.fedcs import FedCS, FedCSSettings, fitting
from hfedms_sim.trace import Trace
from tests.conftest import FAST, tiny_scenario
from tests.strategies.factories import context, factory


def network(
    up_bps: list[float], down_bps: list[float], work_s: list[float], cells: list[int] | None = None
) -> NetworkView:
    count, of_cells = len(up_bps), max(cells or [0]) + 1
    return NetworkView(
        cell=np.array(cells or [0] * count),
        uplink_bps=np.array(up_bps),
        downlink_bps=np.array(down_bps),
        coverage_class=np.zeros(count),
        last_uplink_s=np.full(count, nan),
        last_downlink_s=np.full(count, nan),
        last_work_s=np.array(work_s),
        uplink_channels=np.ones(of_cells),
        downlink_channels=np.ones(of_cells),
        has_one_airtime=np.zeros(of_cells, dtype=bool),
        can_multicast=np.zeros(of_cells, dtype=bool),
    )


def test_sensors_are_added_while_they_fit_and_the_quickest_to_add_comes_first() -> None:
    """1,000 bits. Sensor 0: 1 s down, 2 s up. 1: 1 s down, 1 s of work, 1 s up. 2: 1 s down, 10 s up.

    First 0 or 1 (both end at 3 s): 0. Then 1 is ready at 1 + 1 + 1 = 3 s, when 0 has ended, and ends at 4 s. Then 2,
    ready at 3 s, ends at 14 s.
    """
    seen = network([500, 1000, 100], [1000, 1000, 1000], [nan, 1.0, nan])
    assert fitting([0, 1, 2], seen, 1000, 1000, budget_s=14.0) == [0, 1, 2]
    assert fitting([0, 1, 2], seen, 1000, 1000, budget_s=13.9) == [0, 1]
    assert fitting([0, 1, 2], seen, 1000, 1000, budget_s=3.9) == [0]
    assert fitting([2, 1], seen, 1000, 1000, budget_s=0.1) == [1], "at least one"


def test_cells_have_time_of_their_own() -> None:
    seen = network([100, 100, 100, 100], [1e9] * 4, [nan] * 4, cells=[0, 1, 0, 1])
    assert fitting([0, 1, 2, 3], seen, 1000, 1000, budget_s=10.5) == [0, 1]
    assert set(fitting([0, 1, 2, 3], seen, 1000, 1000, budget_s=20.5)) == {0, 1, 2, 3}


def test_a_plan_keeps_those_that_fit_in_the_order_in_which_they_were_drawn() -> None:
    up_bps = [1e6] * 10
    up_bps[3] = 1.0
    strategy = FedCS(FedCSSettings(sample_ratio=1.0, budget_s=1e5), factory(10))
    everybody = FedCS(FedCSSettings(sample_ratio=1.0, budget_s=1e12), factory(10))
    seen = context(network=network(up_bps, [1e6] * 10, [nan] * 10), sensors=np.arange(10))
    drawn = [group.sensors[0] for group in everybody.plan(1, seen).groups]
    assert [group.sensors[0] for group in strategy.plan(1, seen).groups] == [each for each in drawn if each != 3]


def test_with_a_budget_for_all_the_rounds_are_fedavgs() -> None:
    plain: dict[str, Any] = {"name": "fedavg", "sample_ratio": 0.5}
    one = run(tiny_scenario(strategy=plain), timing_only=True)
    other = run(tiny_scenario(strategy=plain | {"name": "fedcs", "budget_s": 1e9}), timing_only=True)
    for table in ("transfers", "work", "captures"):
        assert one.arrow(table).equals(other.arrow(table))


def test_sensors_behind_a_slow_radio_do_not_fit_and_those_behind_a_quick_one_do() -> None:
    slow: dict[str, Any] = FAST | {"name": "slow", "uplink_bps": 10.0}
    raw = tiny_scenario(strategy={"name": "fedcs", "sample_ratio": 1.0, "budget_s": 2000.0}).model_dump(mode="json")
    raw["cells"] = [
        {"name": "quick", "profile": FAST, "sensors": 6},
        {"name": "slow", "profile": slow, "sensors": 2},
    ]
    result = run(scenario_of(raw), timing_only=True)
    assert set(result.transfers["sensor"]) == set(range(6))


@pytest.mark.parametrize("name", ["fedcs", "fedavg"])
def test_the_world_tells_rates_and_the_durations_of_what_went_before(name: str) -> None:
    scenario = tiny_scenario(strategy={"name": name, "sample_ratio": 0.5}, compute={"device": "mcu"}, rounds=1)
    trace = Trace()
    session = Session(scenario, parts_of(scenario), trace, threads=1, device="cpu", store=None)
    before = session.world.network()
    assert np.isnan(before.last_uplink_s).all()
    assert before.uplink_bps.tolist() == [FAST["uplink_bps"]] * 8
    session.play(lambda progress: None, inf)
    after, rows = session.world.network(), trace.transfers.gathered().to_pandas()
    up = rows[rows["direction"] == "up"]
    own = dict(zip(up["sensor"], up["end_s"] - up["ready_s"], strict=True))
    assert {sensor: after.last_uplink_s[sensor] for sensor in own} == own
    assert np.isnan(after.last_uplink_s).sum() == 8 - len(own)
    assert (after.last_work_s[list(own)] > 0).all()


def test_the_world_tells_until_when_sensors_are_announced_to_be_there(tmp_path: Path) -> None:
    (tmp_path / "there.csv").write_text("sensor,from_s,until_s\n2,0,50\n5,70,90\n")
    there = {"kind": "csv", "path": str(tmp_path / "there.csv")}
    for announced, expected in ((True, [inf, inf, 50.0, inf, inf, 0.0, inf, inf]), (False, None)):
        scenario = tiny_scenario(strategy={"name": "fedcs"}, availability=there | {"announced": announced}, rounds=1)
        session = Session(scenario, parts_of(scenario), Trace(), threads=1, device="cpu", store=None)
        until_s = session.world.network().here_until_s
        assert (None if until_s is None else until_s.tolist()) == expected
