"""Training on the events: what a trained run adds to a timing-only one, and how it ends."""

import json
from math import inf
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from click.testing import CliRunner
from safetensors.numpy import load_file

import hfedms_sim
from hfedms_sim.cli import main
from hfedms_sim.errors import InputError
from hfedms_sim.learning.evaluation import Evaluator
from hfedms_sim.loading import CHOICES, load_scenario
from hfedms_sim.models import spec_of
from hfedms_sim.result import RunResult
from hfedms_sim.run_directory import RunDirectory
from hfedms_sim.scenario import Scenario
from hfedms_sim.simulation import open_run, run
from hfedms_sim.system import native_library
from tests.conftest import FAST, tiny_scenario

LEARNING_COLUMNS = ["accuracy", "loss", "accuracy_p10", "accuracy_p50", "accuracy_p90", "probe_accuracy"]
FEDAVG = {"name": "fedavg", "sample_ratio": 0.5, "learning_rate": 0.1}


def trained(**changes: Any) -> RunResult:
    return run(tiny_scenario(**({"rounds": 4} | changes)))


@pytest.mark.parametrize(
    "strategy", [FEDAVG, {"name": "hfedms-s", "beta": 2}, {"name": "hfedms-d", "interval": 2, "beta": 2}]
)
def test_training_changes_nothing_of_what_happens_on_the_air(strategy: dict[str, Any]) -> None:
    scenario = tiny_scenario(rounds=5, strategy=strategy, compute={"device": "mcu"})
    timed, learnt = run(scenario, timing_only=True), run(scenario)
    for table in ("transfers", "work", "captures", "faults"):
        assert timed.arrow(table).equals(learnt.arrow(table))
    assert timed.rounds.drop(columns=LEARNING_COLUMNS).equals(learnt.rounds.drop(columns=LEARNING_COLUMNS))
    assert timed.rounds[LEARNING_COLUMNS].isna().all(axis=None)
    assert learnt.rounds[LEARNING_COLUMNS[:-1]].notna().all(axis=None)


def test_the_same_scenario_gives_the_same_tables_and_weights_bit_for_bit(tmp_path: Path) -> None:
    scenario = tiny_scenario(rounds=6, probe_round=2)
    first, second = (run(scenario, out=tmp_path / name) for name in ("first", "second"))
    for table in ("rounds", "transfers", "work", "captures", "faults"):
        assert first.arrow(table).equals(second.arrow(table))
    weights = [load_file(tmp_path / name / "learning" / "model.safetensors") for name in ("first", "second")]
    assert weights[0].keys() == weights[1].keys()
    assert all(np.array_equal(weights[0][name], weights[1][name]) for name in weights[0])
    assert sum(value.size for value in weights[0].values()) == spec_of(scenario.model).parameters


def test_a_model_learns() -> None:
    result = trained(rounds=30, strategy=FEDAVG, evaluate_every=10)
    accuracies = result.rounds["accuracy"].dropna().tolist()
    assert len(accuracies) == 3
    assert accuracies[-1] > 3 / 62
    losses = result.rounds["loss"].dropna().tolist()
    assert losses == sorted(losses, reverse=True)


def test_the_last_round_is_evaluated_whatever_the_step() -> None:
    measured = trained(rounds=5, evaluate_every=3).rounds["accuracy"].notna()
    assert measured.tolist() == [False, False, True, False, True]


def test_targets_tell_the_first_round_that_reached_them_and_what_it_had_cost() -> None:
    result = trained(rounds=20, strategy=FEDAVG, targets=[0.01, 0.1, 0.99])
    rounds = result.rounds
    for target in result.summary["targets"]:
        reached = rounds[rounds["accuracy"] >= target["accuracy"]]
        assert result.time_to_accuracy(target["accuracy"]) == target["simulated_s"]
        if len(reached):
            upto = rounds[rounds["round"] <= reached["round"].iloc[0]]
            assert target["round"] == reached["round"].iloc[0]
            assert target["simulated_s"] == upto["end_s"].iloc[-1]
            assert target["bytes"] == upto[["uplink_bytes", "downlink_bytes"]].to_numpy().sum()
            assert target["updated_parameters"] == upto["updated_parameters"].sum()
    assert result.summary["targets"][0]["round"] is not None
    spent = ("round", "simulated_s", "bytes", "energy_j", "updated_parameters")
    assert result.summary["targets"][-1] == {"accuracy": 0.99} | dict.fromkeys(spent)


def test_a_run_stops_when_the_model_is_good_enough() -> None:
    whole = trained(rounds=20, strategy=FEDAVG)
    enough = float(whole.rounds["accuracy"].iloc[4:10].max())
    first = int((whole.rounds["accuracy"] >= enough).idxmax()) + 1
    result = trained(rounds=20, strategy=FEDAVG, stop_at=enough)
    assert len(result.rounds) == result.summary["rounds"] == first
    assert result.summary["stopped"] == {"reason": "target", "round": first, "detail": f"accuracy {enough:g}"}
    assert result.rounds.equals(whole.rounds.iloc[:first])
    assert result.summary["closed_form"]["bytes"] == result.summary["bytes"]["total"]


def test_the_probe_follows_what_one_round_was_trained_on() -> None:
    probed = trained(rounds=6, strategy=FEDAVG, probe_round=3).rounds["probe_accuracy"]
    assert probed.notna().tolist() == [False, False, True, True, True, True]
    assert probed.dropna().between(0, 1).all()


def slow_and_fast(stream: dict[str, Any]) -> tuple[RunResult, RunResult]:
    """One radio takes minutes for a model, the other milliseconds."""
    slow, fast = (FAST | {"uplink_bps": rate, "downlink_bps": rate} for rate in (4e3, 4e6))
    return tuple(  # type: ignore[return-value]
        trained(cells=[{"name": "hall", "profile": profile}], stream=stream, strategy=FEDAVG)
        for profile in (slow, fast)
    )


def test_a_slow_radio_that_makes_buffers_overflow_learns_from_other_samples() -> None:
    stream = {"arrival": "poisson", "rate_hz": 0.5, "batch": 10, "buffer": 20}
    slow, fast = slow_and_fast(stream)
    assert slow.captures["overflowed"].sum() > 0
    assert slow.summary["lineage"] != fast.summary["lineage"]
    assert slow.rounds["loss"].tolist() != fast.rounds["loss"].tolist()


def test_with_saturated_streams_the_radio_does_not_matter_for_what_is_learnt() -> None:
    slow, fast = slow_and_fast({"arrival": "saturated", "batch": 10})
    assert slow.summary["simulated_s"] > 100 * fast.summary["simulated_s"]
    assert slow.rounds["lineage"].tolist() == fast.rounds["lineage"].tolist()
    assert slow.rounds[LEARNING_COLUMNS].equals(fast.rounds[LEARNING_COLUMNS])


def test_a_diverging_run_ends_in_order_and_says_so(tmp_path: Path) -> None:
    out, path = tmp_path / "run", tmp_path / "scenario.yaml"
    path.write_text(
        hfedms_sim.scenario.scenario_yaml(tiny_scenario(rounds=50, strategy=FEDAVG | {"learning_rate": 1e12}))
    )
    done = CliRunner().invoke(main, ["run", str(path), "--out", str(out)])
    assert done.exit_code == 1
    assert "training diverged in round" in done.output
    assert "a lower strategy.learning_rate may help" in done.output
    result = open_run(out)
    assert 1 <= result.summary["rounds"] < 50
    assert result.faults["kind"].tolist() == ["diverged"]
    assert len(result.rounds) == result.summary["rounds"]


def test_a_loss_that_is_not_finite_ends_a_run_too(monkeypatch: pytest.MonkeyPatch) -> None:
    """Weights may be finite and their logits overflow all the same."""
    tested = Evaluator.evaluate
    monkeypatch.setattr(Evaluator, "evaluate", lambda *given: tested(*given)._replace(loss=inf))
    result = trained(rounds=5, strategy=FEDAVG)
    assert result.summary["stopped"] == {"reason": "diverged", "round": 1, "detail": "the loss is not finite"}
    assert result.summary["final_loss"] is None


def test_the_native_engine_without_compiled_kernels_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(native_library.SETTING, "off")
    with pytest.raises(InputError, match="engine = 'native': there are no compiled kernels here; allowed: auto"):
        trained(engine="native")


def test_a_kernel_variant_that_does_not_exist_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(native_library.SETTING, "mmx")
    with pytest.raises(InputError, match=r"HFEDMS_SIM_KERNELS='mmx' cannot be used here\. Allowed: off"):
        trained()


def test_without_kernels_auto_takes_the_low_rank_engine(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(native_library.SETTING, "off")
    assert trained(rounds=1).summary["lineage"] == trained(rounds=1, engine="lowrank").summary["lineage"]


def test_auto_takes_the_fast_engine_where_it_knows_the_loss() -> None:
    fastest = "native" if native_library.available() else "lowrank"
    automatic, fast, plain = (trained(rounds=1, engine=engine) for engine in ("auto", fastest, "generic"))
    assert automatic.summary["lineage"] == fast.summary["lineage"] != plain.summary["lineage"]
    assert fast.summary["final_loss"] == pytest.approx(plain.summary["final_loss"], rel=1e-5)


OWN_LOSS = [{"name": "fedmmd"}, {"name": "fedfusion"}, {"name": "hfedms-d", "beta": 2, "distillation": 0.5}]


@pytest.mark.parametrize("strategy", OWN_LOSS, ids=lambda strategy: strategy["name"])
def test_a_loss_or_network_of_its_own_is_trained_by_the_fast_engine_too(strategy: dict[str, Any]) -> None:
    fastest = "native" if native_library.available() else "lowrank"
    automatic, fast, plain = (
        trained(rounds=1, strategy=strategy, engine=engine, model="small-cnn")
        for engine in ("auto", fastest, "generic")
    )
    assert automatic.summary["lineage"] == fast.summary["lineage"] != plain.summary["lineage"]
    assert fast.summary["final_loss"] == pytest.approx(plain.summary["final_loss"], rel=1e-5)


@pytest.mark.parametrize(
    "strategy", [{"name": "fedavg"}, {"name": "hfedms-d", "beta": 2}], ids=lambda each: each["name"]
)
def test_adam_is_known_to_the_generic_engine_alone(strategy: dict[str, Any]) -> None:
    adam = strategy | {"local_optimiser": "adam"}
    automatic, plain = (trained(rounds=1, strategy=adam, engine=engine) for engine in ("auto", "generic"))
    assert automatic.summary["lineage"] == plain.summary["lineage"]
    for engine in ("lowrank", "native"):
        with pytest.raises(InputError) as refused:
            trained(strategy=adam, engine=engine)
        expected = f"engine = '{engine}': does not know strategy.local_optimiser: adam; allowed: auto, generic"
        assert str(refused.value) == expected


def test_fedmmd_without_its_term_is_plain_sgd() -> None:
    trained(rounds=1, strategy={"name": "fedmmd", "lambda": 0}, engine="lowrank")


@pytest.mark.parametrize(
    "strategy", [FEDAVG, {"name": "hfedms-d", "interval": 2, "beta": 2}], ids=["fedavg", "hfedms-d"]
)
def test_two_threads_learn_the_same_twice_and_nearly_what_one_learns(strategy: dict[str, Any]) -> None:
    scenario = tiny_scenario(rounds=3, strategy=strategy)
    one, *two = (run(scenario, threads=threads) for threads in (1, 2, 2))
    assert two[0].arrow("rounds").equals(two[1].arrow("rounds"))
    assert two[0].summary["final_loss"] == pytest.approx(one.summary["final_loss"], rel=1e-5)
    assert two[0].summary["lineage"] != one.summary["lineage"]


@pytest.mark.skipif(torch.cuda.is_available(), reason="has an accelerator")
def test_a_device_that_is_not_there_is_refused() -> None:
    with pytest.raises(InputError, match="device = 'cuda': torch finds no such device here; allowed: auto, cpu"):
        run(tiny_scenario(rounds=1), device="cuda")
    assert run(tiny_scenario(rounds=1), device="auto").summary["lineage"] == trained(rounds=1).summary["lineage"]


@pytest.mark.slow
@pytest.mark.parametrize("engine", ["lowrank", "native"])
def test_over_five_seeds_the_engines_reach_the_same_accuracy(engine: str) -> None:
    """Their last bits differ, and so does what grows out of them; on average by less than a hundredth."""

    if engine == "native" and not native_library.available():
        pytest.skip("no compiled kernels here")

    def accuracy(seed: int, engine: str) -> float:
        overrides = [f"engine={engine}", "evaluate_every=60", "stop_at=null"]
        found = run(load_scenario("quickstart", seed=seed, rounds=60, overrides=overrides)).summary["final_accuracy"]
        return float(found)

    differences = [accuracy(seed, "generic") - accuracy(seed, engine) for seed in range(1, 6)]
    assert abs(sum(differences)) / len(differences) <= 0.01


def test_a_timing_only_run_does_not_undo_a_trained_one(tmp_path: Path) -> None:
    scenario, out = tiny_scenario(rounds=2), tmp_path / "run"
    run(scenario, out=out)
    before = {path: path.read_bytes() for path in out.rglob("*") if path.is_file()}
    with pytest.raises(InputError, match="was trained; timing_only=True would undo that, choose another out"):
        run(scenario, timing_only=True, out=RunDirectory.resumed(out, scenario, CHOICES))
    assert {path: path.read_bytes() for path in out.rglob("*") if path.is_file()} == before


def no_arrivals(tmp_path: Path) -> dict[str, Any]:
    path = tmp_path / "arrivals.csv"
    path.write_text("sensor,time_s\n0,1e9\n")
    return {"arrival": "trace", "path": str(path), "batch": 5, "short": "take"}


@pytest.mark.parametrize("strategy", [FEDAVG, {"name": "hfedms-d", "interval": 2, "beta": 2}])
def test_rounds_in_which_nobody_has_samples_leave_the_model_as_it_was(tmp_path: Path, strategy: dict[str, Any]) -> None:
    result = trained(stream=no_arrivals(tmp_path), strategy=strategy)
    assert result.captures["captured"].sum() == 0
    assert result.rounds["accuracy"].nunique() == 1
    assert result.rounds["skipped"].equals(result.rounds["participants"])


def test_without_test_data_a_run_trains_and_measures_nothing(tmp_path: Path) -> None:
    path, out = tmp_path / "no-test.npz", tmp_path / "run"
    rng = np.random.default_rng(1)
    np.savez(
        path,
        images=rng.integers(0, 50, (80, 28, 28), dtype=np.uint8),
        labels=np.arange(80) % 10,
        device=np.arange(80) // 10,
        is_test=np.zeros(80, dtype=bool),
    )
    (tmp_path / "own.yaml").write_text(
        "{name: own, rounds: 2, model: tiny-mlp, sensors: {count: 8}, data: {set: npz, path: no-test.npz}, "
        "strategy: {name: fedavg}, cells: [{name: hall, profile: ethernet}]}"
    )
    done = CliRunner().invoke(main, ["run", str(tmp_path / "own.yaml"), "--out", str(out)])
    assert done.exit_code == 0, done.output
    assert "not measured" in done.output
    assert json.loads((out / "summary.json").read_text())["final_accuracy"] is None
    assert open_run(out).rounds["loss"].isna().all()


def test_the_package_offers_what_a_notebook_needs() -> None:
    scenario = hfedms_sim.load_scenario("quickstart", rounds=2)
    assert isinstance(scenario, Scenario)
    result = hfedms_sim.run(scenario, timing_only=True)
    assert isinstance(result, hfedms_sim.RunResult)
    assert result.time_to_accuracy(0.7) is None
    assert set(hfedms_sim.__all__) <= set(dir(hfedms_sim)) | set(hfedms_sim.__all__)
    with pytest.raises(AttributeError, match="no attribute 'nothing'"):
        hfedms_sim.nothing  # noqa: B018
