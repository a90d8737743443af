"""The machine park: true to HFedMS by formula, unlike by its machines, and learnt within the rounds it is given."""

from pathlib import Path

import pytest

from hfedms_sim.loading import load_scenario
from hfedms_sim.result import RunResult
from hfedms_sim.simulation import run
from tests.paper.scale_rule import problems_of_size


def test_it_keeps_the_rule_for_smaller_factories() -> None:
    park = load_scenario("machine-park")
    assert park.sensors.count >= 100
    assert problems_of_size(park) == []


def test_every_sensor_is_in_coverage() -> None:
    played = run(load_scenario("machine-park", rounds=1), timing_only=True)
    assert played.summary["coverage"] == {"sensors": 120, "covered": 120}


def last_accuracy(result: RunResult) -> float:
    """The mean of the last three evaluations: single ones swing by some points."""
    return float(result.rounds["accuracy"].dropna().iloc[-3:].mean())


@pytest.mark.slow
def test_fedavg_loses_at_least_five_points_to_an_even_split(tmp_path: Path) -> None:
    apart, evenly = (
        run(load_scenario("machine-park", strategy="fedavg", overrides={"data.evenly": even}), out=tmp_path / str(even))
        for even in (False, True)
    )
    assert last_accuracy(evenly) - last_accuracy(apart) >= 0.05


@pytest.mark.slow
@pytest.mark.parametrize("strategy", ["hfedms-d", "fedavg"])
def test_twenty_machines_are_learnt_to_80_percent_within_150_rounds(strategy: str, tmp_path: Path) -> None:
    settings = {"beta": 4, "interval": 3} if strategy == "hfedms-d" else {}
    changes = {
        "data": {"set": "vibration"},
        "model": "conv1d",
        "sensors.count": 20,
        "evaluate_every": 5,
        "stop_at": 0.8,
        "strategy": {"sample_ratio": 0.5, "learning_rate": 0.05} | settings,
    }
    result = run(load_scenario("quickstart", strategy=strategy, rounds=150, overrides=changes), out=tmp_path / "run")
    assert result.summary["stopped"]["reason"] == "target"
