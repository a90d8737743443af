"""compare and sweep in Python: the commands' campaigns, as tables and runs."""

import gc
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pandas as pd
import pytest
from click.testing import CliRunner

import hfedms_sim.campaign.workers
from hfedms_sim.campaign import CampaignResult, Standing, compare, sweep
from hfedms_sim.campaign.tasks import Task
from hfedms_sim.cli import main
from hfedms_sim.errors import InputError, RunError
from hfedms_sim.loading import load_scenario
from hfedms_sim.scenario import Scenario, load_profile
from hfedms_sim.simulation import run
from tests.campaign.factory import FEDAVG, SATURATED, write_factory, write_radios
from tests.conftest import tiny_scenario


@pytest.fixture(scope="module")
def tiny() -> Scenario:
    return tiny_scenario(rounds=4, strategy=FEDAVG, stream=SATURATED, targets=[0.01, 0.99])


@pytest.fixture(scope="module")
def compared(tiny: Scenario) -> CampaignResult:
    return compare(tiny, strategies=["fedavg", "fedprox"], seeds=[1, 2])


def command(*arguments: str) -> None:
    ended = CliRunner().invoke(main, arguments)
    assert ended.exit_code == 0, ended.output


@pytest.mark.thorough
def test_the_tables_are_those_of_the_command(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    factory, radios = write_factory(tmp_path, targets=[0.01, 0.99]), write_radios(tmp_path)[1:3]
    command("compare", factory, "--profiles", ",".join(radios), "--seeds", "1,2", "--out", "told", "--quiet")
    compare(factory, profiles=radios, seeds=[1, 2], out="called")
    for name in ("trials", "comparison", "curves"):
        assert (tmp_path / "called" / f"{name}.csv").read_bytes() == (tmp_path / "told" / f"{name}.csv").read_bytes()


@pytest.mark.thorough
def test_a_sweep_is_that_of_the_command(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    factory = write_factory(tmp_path)
    grid = ["--grid", "strategy.sample_ratio=0.25,0.5", "--grid", "strategy.weights=uniform,samples"]
    command("sweep", factory, *grid, "--timing-only", "--out", "told", "--quiet")
    swept = sweep(
        factory,
        {"strategy.sample_ratio": (0.25, 0.5), "strategy.weights": ["uniform", "samples"]},
        timing_only=True,
        out="called",
    )
    assert (tmp_path / "called" / "trials.csv").read_bytes() == (tmp_path / "told" / "trials.csv").read_bytes()
    assert swept.trials["strategy.sample_ratio"].tolist() == [0.25, 0.25, 0.5, 0.5]
    assert swept.trials["strategy.weights"].tolist() == ["uniform", "samples"] * 2


def test_trials_have_one_row_each_with_the_figures_of_their_runs(compared: CampaignResult, tiny: Scenario) -> None:
    assert compared.trials[["strategy", "seed"]].to_numpy().tolist() == [
        ["fedavg", 1], ["fedavg", 2], ["fedprox", 1], ["fedprox", 2],
    ]  # fmt: skip
    for (name, result), (_, row) in zip(compared.runs().items(), compared.trials.iterrows(), strict=True):
        summary = result.summary
        assert (row["trial"], row["simulated_s"], row["accuracy"], row["bytes"], row["lineage"]) == (
            name, summary["simulated_s"], summary["final_accuracy"], summary["bytes"]["total"], summary["lineage"],
        )  # fmt: skip
    alone = run(tiny.replacing({"strategy.name": "fedprox", "seed": 2}))
    assert compared.trials.iloc[-1]["accuracy"] == alone.summary["final_accuracy"]


def test_targets_say_what_each_trial_took(compared: CampaignResult) -> None:
    assert compared.targets["target"].tolist() == [0.01, 0.99] * 4
    runs = compared.runs()
    for _, row in compared.targets.iterrows():
        expected = runs[row["trial"]].time_to_accuracy(row["target"])
        assert row["simulated_s"] == expected if expected is not None else pd.isna(row["simulated_s"])


def test_rounds_are_those_of_all_trials_with_what_tells_them_apart(compared: CampaignResult) -> None:
    rounds = compared.rounds
    assert list(rounds)[:5] == ["trial", "profile", "strategy", "seed", "round"]
    assert len(rounds) == 4 * 4
    for name, result in compared.runs().items():
        own = rounds[rounds["trial"] == name].reset_index(drop=True)
        pd.testing.assert_frame_equal(own[list(result.rounds)], result.rounds, check_dtype=False)
        assert set(own["seed"]) == {result.scenario.seed}


def test_what_trials_have_in_common_is_trained_once(tiny: Scenario) -> None:
    fast = tiny.cells[0].profile
    faster = fast.model_copy(update={"name": "faster", "uplink_bps": 1e6})
    trained = [result.provenance["rounds_trained"] for result in compare(tiny, profiles=[fast, faster]).runs().values()]
    assert sorted(trained) == [0, 4]


@pytest.mark.thorough
def test_several_processes_come_to_the_same_tables(compared: CampaignResult, tiny: Scenario) -> None:
    together = compare(tiny, strategies=["fedavg", "fedprox"], seeds=[1, 2], jobs=2)
    pd.testing.assert_frame_equal(together.trials, compared.trials)


def test_a_temporary_campaign_goes_with_its_result_and_its_runs_stay(tiny: Scenario) -> None:
    result = compare(tiny, seeds=[1])
    place = result.directory
    assert place.is_dir()
    (kept,) = result.runs().values()
    del result
    gc.collect()
    assert not place.parent.exists()
    assert len(kept.rounds) == 4
    assert kept.directory is None
    assert kept.weights()
    assert len(kept.transfers)


def test_a_campaign_that_comes_to_nothing_leaves_no_temporary_directory(
    tiny: Scenario, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    slow = tiny.replacing({"cells.0.profile.uplink_bps": 0.1})
    with pytest.raises(InputError, match=r"the first round takes .*; allow_infeasible=True goes on all the same"):
        compare(slow)
    assert list(tmp_path.iterdir()) == []


def test_a_refused_trial_is_a_row_with_the_reason(tiny: Scenario) -> None:
    fast = tiny.cells[0].profile
    slow = fast.model_copy(update={"name": "slow", "uplink_bps": 0.1})
    result = compare(tiny, profiles=[fast, slow], timing_only=True)
    refused = result.trials.iloc[1]
    assert refused["refused"].endswith("; allow_infeasible=True goes on all the same")
    assert pd.isna(refused["simulated_s"])
    assert list(result.runs()) == list(result.played) == [result.trials["trial"].iloc[0]]
    assert set(result.rounds["profile"]) == {"fast"}
    assert repr(result) == "CampaignResult(1 trials, 1 refused, in a temporary directory)"


def test_progress_is_told_until_all_is_done(tiny: Scenario) -> None:
    told: list[Standing] = []
    compare(tiny, seeds=[1, 2], timing_only=True, on_progress=told.append)
    assert (told[-1].done, told[-1].trials, told[-1].rounds_done) == (2, 2, 8)


def failing(of: str) -> Callable[[Task, Any], Any]:
    perform = hfedms_sim.campaign.workers.attempt

    def attempt(task: Task, on_round: Any = lambda progress: None) -> Any:
        if task.scenario.strategy.name == of and hasattr(task, "directory"):
            return None, RunError("lightning struck"), False
        return perform(task, on_round)

    return attempt


def test_a_failed_trial_is_an_error_and_can_be_tried_again(
    tiny: Scenario, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    both = ["fedavg", "fedprox"]
    with monkeypatch.context() as patch:
        patch.setattr(hfedms_sim.campaign.workers, "attempt", failing("fedprox"))
        with pytest.raises(RunError, match=r"^0002-fast-fedprox-seed1: failed, lightning struck$"):
            compare(tiny, strategies=both, out=tmp_path / "out")
    with pytest.raises(InputError, match="exists already; choose another out, or resume to go on with it"):
        compare(tiny, strategies=both, out=tmp_path / "out")
    assert len(compare(tiny, strategies=both, out=tmp_path / "out", resume=True).runs()) == 2


@pytest.mark.parametrize(
    ("arguments", "line"),
    [
        ({"grid": {}}, "grid: needs at least one key with its values"),
        ({"grid": {"strategy.epochs": []}}, "grid 'strategy.epochs': has no values"),
        ({"grid": {"strategy.weights": "uniform"}}, "grid 'strategy.weights': must be a list of values, not 'uniform'"),
        ({"grid": {"rounds": 3}}, "grid 'rounds': must be a list of values, not 3"),
        ({"grid": {"rounds": [3, 3]}}, "grid 'rounds': has a value twice"),
        ({"grid": {"rounds": [object]}}, "is no value of a scenario"),
        ({"grid": {"rounds": [0]}}, "rounds = 0: must be at least 1"),
        ({"grid": {"seed": [1, 2]}}, "grid seed: seeds are repetitions, and have an argument of their own, seeds"),
        ({"strategies": ["fedavgg"]}, "unknown strategy 'fedavgg'. Did you mean 'fedavg'?"),
        ({"profiles": ["ethernet", load_profile("ethernet")]}, "profiles: ethernet is given twice"),
        ({"seeds": [-1]}, "seed = -1: must be at least 0"),
        ({"jobs": 0}, "jobs = 0: must be at least 1"),
        ({"threads": 0}, "threads = 0: must be at least 1"),
        ({"resume": True}, "resume=True needs out, the directory of the campaign to go on with"),
    ],
)
def test_what_cannot_be_used_is_one_line_that_names_the_argument(
    tiny: Scenario, arguments: dict[str, Any], line: str
) -> None:
    with pytest.raises(InputError) as caught:
        sweep(tiny, **({"grid": {"rounds": [1]}} | arguments))
    assert line in str(caught.value)
    assert "--" not in str(caught.value)


def test_a_grid_of_texts_that_look_like_numbers_keeps_them_texts(tiny: Scenario) -> None:
    swept = sweep(tiny, {"description": ["3", "a: b", "", "plain"], "stop_at": [None]}, timing_only=True)
    assert [each.scenario.description for each in swept.runs().values()] == ["3", "a: b", "", "plain"]


def test_nothing_given_is_one_trial_as_the_scenario_has_it() -> None:
    small = load_scenario("quickstart", rounds=1, overrides={"sensors.count": 8})
    assert len(compare(small, timing_only=True).trials) == 1
