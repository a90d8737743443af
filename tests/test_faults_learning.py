"""What is learnt when things go wrong is what the record says: a shorter chain, a sensor less, or nothing at all."""

from collections import Counter
from math import isfinite
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from hfedms_sim.data import batches_of
from hfedms_sim.learning import Learner
from hfedms_sim.result import RunResult
from hfedms_sim.rounds import Participation, RoundRecord, lineage_after, lineage_root
from hfedms_sim.scenario import Scenario
from hfedms_sim.simulation import Progress, parts_of, play, resume, run
from hfedms_sim.simulation.engines import Computing
from hfedms_sim.simulation.session import lineage_settings
from hfedms_sim.strategies import SHIPPED
from hfedms_sim.strategies.learners import make_learner
from hfedms_sim.strategies.learners.hfedms import CalibratingLearner
from tests.conftest import some_of, tiny_scenario
from tests.contracts.test_memory_counts import Calibrated, held
from tests.contracts.test_strategies import CASES
from tests.contracts.toy import DEVICES, write_toy

BATCH, ROUNDS = 6, 3
RADIO = {"name": "second", "uplink_bps": 4e5, "downlink_bps": 4e5, "channels": "dedicated"}  # a model takes a second
CHAIN = {"name": "static-groups", "beta": 1, "learning_rate": 0.1}
IMPATIENT = {"timeout_s": 3.0}
TABLES = ("rounds", "transfers", "work", "captures", "faults", "sensors")
TROUBLE: list[dict[str, Any]] = [
    {"kind": "sensor-outage", "mean_up_s": 20.0, "mean_down_s": 3.0},
    {"kind": "sensor-crash", "mean_up_s": 30.0, "mean_down_s": 2.0},
    {"kind": "cell-outage", "mean_up_s": 25.0, "mean_down_s": 1.0},
    {"kind": "transfer-loss", "probability": 0.1},
]

Weights = dict[str, NDArray[Any]]


@pytest.fixture(scope="module")
def toy(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_toy(tmp_path_factory.mktemp("toy") / "toy.npz")


def scenario_of(toy: Path, strategy: dict[str, Any], *faults: dict[str, Any], **changes: Any) -> Scenario:
    """The generic engine trains, which is what `make_learner` makes."""
    keys: dict[str, Any] = {
        "rounds": ROUNDS,
        "model": "small-cnn" if strategy["name"] == "fedfusion" else "tiny-mlp",
        "engine": "generic",
        "sensors": {"count": DEVICES},
        "data": {"set": "npz", "path": str(toy)},
        "stream": {"batch": BATCH, "augment": False},
        "cells": [{"name": "hall", "profile": RADIO}],
        "strategy": strategy,
        "faults": list(faults),
        "recovery": IMPATIENT,
    }
    return tiny_scenario(**keys | changes)


def gone(*sensors: int, at_s: float = 0.0, for_s: float | None = None, kind: str = "sensor-crash") -> dict[str, Any]:
    return {"kind": kind, "at_s": at_s, "sensors": list(sensors)} | ({} if for_s is None else {"for_s": for_s})


def away(path: Path, *sensors: int, **keys: Any) -> dict[str, Any]:
    """Return that these sensors are only there in some years."""
    path.write_text("sensor,from_s,until_s\n" + "".join(f"{sensor},1e8,2e8\n" for sensor in sensors))
    return {"kind": "csv", "path": str(path)} | keys


def new_learner(scenario: Scenario) -> Learner:
    parts = parts_of(scenario)
    return make_learner(scenario, parts.model, batches_of(scenario, parts.dataset))


def assert_same_weights(one: Weights, other: Weights) -> None:
    assert one.keys() == other.keys()
    for name, value in one.items():
        assert np.array_equal(value, other[name]), name


def weights_of(learner: Learner) -> Weights:
    return {name: value.numpy() for name, value in learner.weights.items()}


def whole(round_number: int, *chains: tuple[int, ...]) -> RoundRecord:
    """Return the record of a full round in which all of these trained and handed over, and nobody else was there."""
    samples = (((round_number - 1) * BATCH, BATCH),)
    return RoundRecord(
        round=round_number,
        cycle=round_number,
        phase="full",
        chains=tuple(tuple(Participation(sensor, samples, True, False) for sensor in chain) for chain in chains),
        arrived=(True,) * len(chains),
        start_s=0.0,
        end_s=1.0,
    )


def root_of(scenario: Scenario) -> str:
    """Return the lineage that a run begins from."""
    parts = parts_of(scenario)
    return lineage_root(lineage_settings(scenario, parts, Computing.of(scenario, parts.model, 1, "cpu")))


def assert_learnt(scenario: Scenario, records: list[RoundRecord]) -> RunResult:
    """Check that a run has the weights of a learner that is given these records, and their lineages."""
    result, lineage = run(scenario), root_of(scenario)
    learner, lineages = new_learner(scenario), []
    for record in records:
        learner.learn(record)
        lineage = lineage_after(lineage, record)
        lineages.append(lineage)
    assert_same_weights(result.weights(), weights_of(learner))
    assert result.rounds["lineage"].tolist() == lineages
    return result


def order_of(scenario: Scenario) -> list[int]:
    transfers = run(scenario, timing_only=True).transfers
    first = transfers[(transfers["round"] == 1) & (transfers["direction"] == "down")]
    return [int(sensor) for sensor in first["sensor"]]


# -------------------------------------------------------------------------------------------- somebody is not there


@pytest.mark.parametrize("name", ["fedavg", "fedadam", "ida"])
def test_sensors_that_never_answer_are_as_if_they_had_not_been_drawn(name: str, toy: Path, tmp_path: Path) -> None:
    strategy = {"name": name, "sample_ratio": 1.0, "learning_rate": 0.1}
    crashed = run(scenario_of(toy, strategy, gone(4, 7)))
    announced = run(scenario_of(toy, strategy, availability=away(tmp_path / "p.csv", 4, 7)))
    surprising = run(scenario_of(toy, strategy, availability=away(tmp_path / "q.csv", 4, 7, announced=False)))
    everybody = run(scenario_of(toy, strategy))
    for other in (announced, surprising):
        assert_same_weights(crashed.weights(), other.weights())
        assert crashed.rounds["lineage"].equals(other.rounds["lineage"])
    assert crashed.rounds["lineage"].iloc[0] != everybody.rounds["lineage"].iloc[0]
    assert crashed.rounds["end_s"].iloc[-1] > announced.rounds["end_s"].iloc[-1]
    assert announced.faults.empty


def test_fedavg_without_an_answer_learns_what_the_others_teach_it(toy: Path) -> None:
    scenario = scenario_of(toy, {"name": "fedavg", "sample_ratio": 1.0, "learning_rate": 0.1}, gone(4, 7))
    there = [sensor for sensor in range(DEVICES) if sensor not in (4, 7)]
    assert_learnt(scenario, [whole(n, *((each,) for each in there)) for n in range(1, ROUNDS + 1)])


@pytest.mark.parametrize("place", [0, 4, DEVICES - 1], ids=["the first", "one in the middle", "the last"])
def test_a_chain_that_skips_a_sensor_learns_what_the_shorter_chain_learns(place: int, toy: Path) -> None:
    order = order_of(scenario_of(toy, CHAIN))
    scenario = scenario_of(toy, CHAIN, gone(order[place]))
    shorter = tuple(order[:place] + order[place + 1 :])
    result = assert_learnt(scenario, [whole(number, shorter) for number in range(1, ROUNDS + 1)])
    assert result.faults["kind"].tolist() == ["skip"] * ROUNDS
    assert result.rounds["skipped"].tolist() == [1] * ROUNDS


def test_a_holder_that_dies_for_long_is_as_if_it_had_never_been_asked(toy: Path) -> None:
    """It crashes in the middle of its uplink; the chain goes on from the model it was given."""
    plain = scenario_of(toy, CHAIN, rounds=1)
    order, transfers = order_of(plain), run(plain, timing_only=True).transfers
    (sent,) = transfers[(transfers["sensor"] == order[4]) & (transfers["direction"] == "up")].itertuples()
    fault = gone(order[4], at_s=(sent.start_s + sent.end_s) / 2)
    scenario = scenario_of(toy, CHAIN, fault, rounds=1)
    result = assert_learnt(scenario, [whole(1, tuple(order[:4] + order[5:]))])
    assert result.faults["kind"].tolist() == ["lost work", "skip"]


def test_a_detour_learns_what_the_chain_in_that_order_learns(toy: Path) -> None:
    """The second is out until the tenth has the model."""
    order = order_of(scenario_of(toy, CHAIN))
    fault = gone(order[1], at_s=1.0, for_s=18.0, kind="sensor-outage")
    scenario = scenario_of(toy, CHAIN, fault, rounds=1, recovery=IMPATIENT | {"on_gap": "reorder"})
    result = assert_learnt(scenario, [whole(1, (order[0], *order[2:], order[1]))])
    assert result.faults["kind"].tolist() == ["detour"]


@pytest.mark.parametrize("kind", ["sensor-crash", "sensor-outage", "cell-outage", "backbone-outage", "server-outage"])
def test_whatever_comes_back_in_time_changes_nothing_that_is_learnt(kind: str, toy: Path) -> None:
    """A second of it in the middle of an uplink. The holder that crashes trains again, on the same batch."""
    plain = run(scenario_of(toy, CHAIN))
    sent = plain.transfers[plain.transfers["direction"] == "up"].iloc[4]
    where = {"sensors": [int(sent["sensor"])]} if kind.startswith("sensor") else {}
    fault = {"kind": kind, "at_s": (sent["start_s"] + sent["end_s"]) / 2, "for_s": 1.0} | where
    hit = run(scenario_of(toy, CHAIN, fault))
    assert hit.rounds["lineage"].equals(plain.rounds["lineage"])
    assert_same_weights(hit.weights(), plain.weights())
    waits = kind in ("sensor-crash", "sensor-outage", "cell-outage")
    assert (hit.summary["simulated_s"] > plain.summary["simulated_s"]) == waits


# ------------------------------------------------------------------------------------------------------ void rounds


@pytest.mark.parametrize("case", ["fedavg", "fedadam", "fedyogi", "fedadagrad", "ida", "static-groups", "hfedms-d"])
def test_a_void_round_leaves_the_model_as_it_was(case: str, toy: Path) -> None:
    """Nobody can be reached from the second round on."""
    strategy = {"name": case} | CASES[case]
    first = run(scenario_of(toy, strategy, rounds=1))
    fault = {"kind": "sensor-outage", "at_s": first.summary["simulated_s"] + 1e-3, "for_s": 1e6}
    second = run(scenario_of(toy, strategy, fault, rounds=2))
    assert second.rounds["void"].tolist() == [False, True]
    assert second.rounds["arrived"].tolist()[1] == 0
    assert_same_weights(first.weights(), second.weights())
    assert second.rounds["loss"].iloc[0] == second.rounds["loss"].iloc[1]


def test_a_run_of_void_rounds_ends_with_the_weights_it_began_with(toy: Path) -> None:
    scenario = scenario_of(
        toy,
        {"name": "fedavg", "sample_ratio": 1.0},
        {"kind": "sensor-outage", "at_s": 0.0, "for_s": 1e6},
        recovery=IMPATIENT | {"void_rounds": 2},
        rounds=5,
    )
    result = run(scenario)
    assert result.rounds["void"].tolist() == [True, True]
    assert result.summary["stopped"]["reason"] == "stalled"
    assert_same_weights(result.weights(), weights_of(new_learner(scenario)))


@pytest.mark.parametrize("name", ["fedavg", "hfedms-s", "hfedms-d"])
def test_a_run_that_stalls_before_anything_was_learnt_has_the_model_it_began_with(name: str, toy: Path) -> None:
    """Where sensors report, not even the first round is ever complete."""
    lost = {"kind": "transfer-loss", "probability": 1.0}
    result = run(scenario_of(toy, {"name": name}, lost, recovery=IMPATIENT | {"void_rounds": 2}, rounds=5))
    assert result.summary["stopped"]["reason"] == "stalled"
    assert_same_weights(result.weights(), weights_of(new_learner(result.scenario)))


def test_below_the_quorum_what_did_arrive_is_not_learnt(toy: Path) -> None:
    strategy = {"name": "fedavg", "sample_ratio": 1.0, "learning_rate": 0.1}
    result = run(scenario_of(toy, strategy, gone(4), quorum=1.0, rounds=2))
    assert result.rounds["arrived"].tolist() == [DEVICES - 1] * 2
    assert result.rounds["void"].all()
    assert_same_weights(result.weights(), weights_of(new_learner(result.scenario)))


def test_a_chain_whose_push_is_given_up_is_not_learnt(toy: Path) -> None:
    """The server goes while HFedMS-D's second cycle trains, and stays away for longer than anybody waits."""
    strategy = {"name": "hfedms-d"} | CASES["hfedms-d"]
    plain = run(scenario_of(toy, strategy, rounds=4), timing_only=True)
    sent = plain.transfers[(plain.transfers["round"] == 4) & (plain.transfers["payload"] == "model")]
    fault = {"kind": "server-outage", "at_s": float(sent[sent["direction"] == "up"]["start_s"].min()) + 1e-3}
    cycle = run(scenario_of(toy, strategy, fault, rounds=3))
    beyond = run(scenario_of(toy, strategy, fault | {"for_s": 100.0}, rounds=4))
    assert beyond.rounds["void"].tolist() == [False, False, False, True]
    assert set(beyond.faults["kind"]) == {"outage", "not delivered", "void"}
    assert_same_weights(cycle.weights(), beyond.weights())


# -------------------------------------------------------------------------------------------------------- memories

MEMORIES = [
    ("on", "empty", "round"),
    ("on", "empty", "cycle"),
    ("on", "local-set", "round"),
    ("off", "empty", "round"),
    ("oracle", "empty", "round"),
    ("oracle", "empty", "cycle"),
]


@pytest.mark.parametrize(("scc", "initial", "new_batch"), MEMORIES)
def test_the_planned_memory_is_the_learners_whoever_is_missing(
    scc: str, initial: str, new_batch: str, toy: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """In every round of six cycles with sensors that come and go, and miss the scatter."""
    strategy = {
        "name": "hfedms-d", "interval": 3, "beta": 3, "sample_ratio": 0.7, "alpha": 0.0, "memory": 15,
        "scc": scc, "initial_memory": initial, "new_batch": new_batch,
    }  # fmt: skip
    scenario = scenario_of(toy, strategy, *TROUBLE, rounds=18)
    timed = run(scenario, timing_only=True)
    assert "missed scatter" in set(timed.faults["kind"])
    dataset, learner = parts_of(scenario).dataset, new_learner(scenario)
    assert isinstance(learner, CalibratingLearner)
    calibrated = Calibrated(monkeypatch)
    for plan, record, _ in play(scenario):
        assert {k: n for k, n in plan.memory_fill.items() if n} == held(learner, scenario, dataset), plan.round
        calibrated.sizes = []
        learner.learn(record)
        work = timed.work[(timed.work["round"] == plan.round) & (timed.work["kind"] == "calibrate")]
        assert not Counter(calibrated.sizes) - Counter(work["samples"].tolist()), plan.round


def test_who_missed_the_scatter_takes_no_part_until_the_next_cycle(toy: Path) -> None:
    strategy = {"name": "hfedms-d", "interval": 4, "beta": 3, "sample_ratio": 1.0, "alpha": 0.0}
    scenario = scenario_of(toy, strategy, *TROUBLE, rounds=24)
    missed = 0
    for plan, record, _ in play(scenario):
        present = {p.sensor for p in record.participations}
        if plan.phase == "full":
            served = {p.sensor for p in record.participations if p.got_scatter}
            assert served <= present
            missed += len(present - served)
        else:
            assert present <= served
    assert missed


# --------------------------------------------------------------------------------------------------- all strategies


def troubled(toy: Path, name: str, **changes: Any) -> Scenario:
    return scenario_of(toy, {"name": name} | CASES[name], *TROUBLE, rounds=4, compute={"device": "mcu"}, **changes)


@pytest.mark.parametrize("name", some_of(SHIPPED, kept=("fedavg", "hfedms-d", "fedbuff")))
def test_every_strategy_learns_through_trouble_alike_twice_and_from_a_checkpoint(
    name: str, toy: Path, tmp_path: Path
) -> None:
    def interrupt(progress: Progress) -> None:
        if progress.round == 2:
            raise KeyboardInterrupt

    scenario = troubled(toy, name)
    first, second = run(scenario), run(scenario)
    with pytest.raises(KeyboardInterrupt):
        run(scenario, out=tmp_path / "run", on_round=interrupt)
    resumed = resume(tmp_path / "run")
    for other in (second, resumed):
        assert [table for table in TABLES if not first.arrow(table).equals(other.arrow(table))] == []
        assert_same_weights(first.weights(), other.weights())
    assert len(first.faults) > 0
    assert all(isfinite(loss) for loss in first.rounds["loss"])
    assert first.rounds["loss"].nunique() > 1


@pytest.mark.parametrize("name", ["fedavg", "static-icg", "hfedms-s", "hfedms-d"])
def test_training_changes_nothing_of_what_goes_wrong(name: str, toy: Path) -> None:
    learnt, timed = run(troubled(toy, name)), run(troubled(toy, name), timing_only=True)
    for table in ("transfers", "work", "captures", "faults", "sensors"):
        assert timed.arrow(table).equals(learnt.arrow(table)), table
    assert timed.rounds["lineage"].equals(learnt.rounds["lineage"])
