"""Windows where something is scarce: deadlines off round numbers, few sensors, windows without arrivals."""

from typing import Any

import pytest

from hfedms_sim.loading import load_scenario
from hfedms_sim.result import RunResult
from hfedms_sim.simulation import play, run
from tests.conftest import tiny_scenario

CHAINS = {"name": "hfedms-async", "beta": 2, "sample_ratio": 1.0}


def small(strategy: str, sensors: int = 4, profile: str = "nb-iot-nb2", rounds: int = 6, **changes: Any) -> RunResult:
    settings = {"sensors.count": sensors, "model": "tiny-mlp", "stream.batch": 10} | changes
    scenario = load_scenario("quickstart", strategy=strategy, profile=profile, rounds=rounds, overrides=settings)
    return run(scenario, timing_only=True, allow_infeasible=True)


@pytest.mark.parametrize("deadline_s", [2.93, 3.0, 3.1, 4.0])
def test_a_deadline_is_kept_whatever_the_clock_rounds(deadline_s: float) -> None:
    own = {f"strategy.{key}": value for key, value in CHAINS.items() if key != "name"}
    rounds = small("hfedms-async", seed=1, deadline_s=deadline_s, **own).rounds
    assert (rounds["end_s"] - rounds["start_s"]).max() <= deadline_s * (1 + 1e-9)


@pytest.mark.parametrize(("sensors", "buffer", "profile"), [(10, 10, "ethernet"), (6, 100, "lte-cat-m1-hd")])
def test_who_took_the_place_of_another_does_not_look_like_latency(sensors: int, buffer: int, profile: str) -> None:
    """Three or fewer under way, and a buffer of more: most of a window is before its last chain has started."""
    result = small("fedbuff", sensors, profile, **{"strategy.buffer": buffer})
    found, plain = (each.summary["limited_by"] for each in (result, small("fedavg", sensors, profile)))
    share, expected = ({each["cause"]: each["share"] for each in one["shares"]} for one in (found, plain))
    assert found["cause"] == plain["cause"]
    assert share["latency"] == pytest.approx(expected["latency"], abs=0.2)
    assert share["faults"] == 0


def test_a_group_starts_once_in_a_cycle_whatever_fails() -> None:
    scenario = tiny_scenario(
        rounds=40,
        sensors={"count": 12},
        strategy={"name": "hfedms-async", "beta": 6, "sample_ratio": 0.5},
        faults=[{"kind": "transfer-loss", "probability": 0.5}],
        recovery={"retries": 0},
    )
    started: list[tuple[int, tuple[int, ...]]] = []
    formed_in = 0
    for plan, record, _ in play(scenario):
        formed_in = plan.round if plan.group_distance is not None else formed_in
        own = {group.number: group.sensors for group in (*plan.groups, *plan.standby)}
        ended = zip(record.numbers, record.started, strict=True)
        started += [(formed_in, group.sensors) for group in plan.groups]
        begun = {group.number for group in plan.groups}
        started += [(formed_in, own[n]) for n, at in ended if at == plan.round and n not in begun]
    assert len(started) > 20
    assert len(set(started)) == len(started)


@pytest.mark.parametrize("kappa", [0.3, 0.6, 1.0])
def test_groups_grow_by_arrivals_and_not_by_how_often_they_are_formed(kappa: float) -> None:
    """A cycle of M groups has floor(kappa M) arrivals, as a round of HFedMS-S has chains."""
    own = {"beta": 5, "alpha": 2.0, "sample_ratio": kappa}
    chained = run(
        tiny_scenario(rounds=60, sensors={"count": 50}, strategy=own | {"name": "hfedms-async"}), timing_only=True
    )
    rounds = run(tiny_scenario(rounds=20, sensors={"count": 50}, strategy=own | {"name": "hfedms-s"}), timing_only=True)
    arrivals_before = rounds.rounds["arrived"].cumsum().shift(fill_value=0)
    expected = [int((arrivals_before <= place).sum()) for place in range(60)]
    assert chained.rounds["cycle"].tolist() == expected


@pytest.mark.parametrize("strategy", [{"name": "fedbuff", "buffer": 2, "sample_ratio": 1.0}, CHAINS])
def test_the_last_window_is_tested_even_if_nothing_has_happened_in_it(strategy: dict[str, Any]) -> None:
    keys = {"sensors": {"count": 4}, "stream": {"batch": 10}, "strategy": strategy, "evaluate_every": 100}
    turn_s = run(tiny_scenario(rounds=1, **keys), timing_only=True).summary["simulated_s"]
    result = run(tiny_scenario(rounds=9, deadline_s=turn_s / 4, **keys))
    assert (result.rounds["arrived"] == 0).any()
    assert result.rounds["accuracy"].notna().tolist() == [False] * 8 + [True]
    assert result.summary["final_accuracy"] is not None


def test_windows_that_are_closed_before_anybody_is_back_are_no_standstill() -> None:
    keys = {"sensors": {"count": 4}, "strategy": {"name": "fedasync", "sample_ratio": 1.0}, "stream": {"batch": 10}}
    turn_s = run(tiny_scenario(rounds=1, **keys), timing_only=True).summary["simulated_s"]
    result = run(
        tiny_scenario(rounds=60, deadline_s=turn_s / 20, recovery={"void_rounds": 5}, **keys), timing_only=True
    )
    assert result.summary["stopped"] is None
    assert result.rounds["arrived"].sum() > 0


def test_a_sensor_is_not_stale_because_windows_were_void() -> None:
    keys = {"sensors": {"count": 1}, "strategy": {"name": "fedasync", "sample_ratio": 1.0}, "stream": {"batch": 10}}
    turn_s = run(tiny_scenario(rounds=1, **keys), timing_only=True).summary["simulated_s"]
    rounds = run(tiny_scenario(rounds=20, deadline_s=turn_s / 3, **keys), timing_only=True).rounds
    assert rounds["void"].any()
    assert set(rounds["staleness"].dropna()) == {0.0}


def test_a_battery_is_not_said_to_last_for_rounds_that_are_windows() -> None:
    lives = {name: small(name).summary["battery_life"] for name in ("fedbuff", "fedavg")}
    assert lives["fedbuff"]["rounds_per_day"] is None
    assert lives["fedbuff"]["continuous"]["mean_d"] > 0
    assert lives["fedavg"]["rounds_per_day"]["mean_d"] > 0
