"""Campaigns: each round learnt once, every trial as if it were alone, and all of it resumable."""

import gc
import json
from pathlib import Path
from typing import Any

import pytest

from hfedms_sim.campaign import Axes, Campaign, Options, Standing, campaign_directory, trials_of
from hfedms_sim.campaign.calls import conduct
from hfedms_sim.campaign.csv_tables import write_tables
from hfedms_sim.campaign.grid import parse_grid
from hfedms_sim.campaign.records import TrialRecord
from hfedms_sim.campaign.training_tree import training_tree
from hfedms_sim.campaign.workers import LocalWorkers
from hfedms_sim.errors import InputError, RunError
from hfedms_sim.run_directory import RunDirectory
from hfedms_sim.simulation import run
from tests.campaign.factory import POISSON, HereWorkers, played, write_factory, write_radios
from tests.interrupted import outcome

HFEDMS = {"name": "hfedms-d", "interval": 3, "beta": 2, "sample_ratio": 0.5}


def trained(results: Any) -> list[int]:
    return [result.provenance["rounds_trained"] for result in results]


def test_with_saturated_streams_all_radios_cost_one_training(tmp_path: Path) -> None:
    source = write_factory(tmp_path)
    _, results = played(tmp_path / "out", source, Axes(profiles=write_radios(tmp_path)))
    assert trained(results) == [5, 0, 0, 0, 0]
    assert [result.provenance["rounds_reused"] for result in results] == [0, 5, 5, 5, 5]
    assert len({result.summary["final_accuracy"] for result in results}) == 1
    assert len({result.summary["simulated_s"] for result in results}) == 5


def distinct_lineages(source: str, axes: Axes) -> int:
    paths = [run(trial.scenario, timing_only=True).rounds["lineage"].tolist() for trial in trials_of(source, axes)]
    return len({lineage for path in paths for lineage in path})


def assert_each_is_as_if_alone(directory: Path, source: str, axes: Axes, place: Path) -> None:
    for trial in trials_of(source, axes):
        run(trial.scenario, out=place / trial.name)
        assert outcome(place / trial.name) == outcome(directory / "trials" / trial.name), trial.name


def test_where_slow_radios_make_streams_overflow_lineages_part_and_each_trial_is_as_if_alone(tmp_path: Path) -> None:
    source = write_factory(tmp_path, stream=POISSON)
    axes = Axes(profiles=write_radios(tmp_path))
    _, results = played(tmp_path / "out", source, axes)
    assert len({result.summary["lineage"] for result in results}) > 1
    assert sum(trained(results)) == distinct_lineages(source, axes) < 5 * 5
    assert_each_is_as_if_alone(tmp_path / "out", source, axes, tmp_path / "alone")


def test_settings_that_only_shape_later_rounds_branch_off_there(tmp_path: Path) -> None:
    source = write_factory(tmp_path, rounds=8, strategy=HFEDMS, probe_round=2)
    axes = Axes(grid=[parse_grid("strategy.alpha=1:3"), parse_grid("rounds=8,5")])
    _, results = played(tmp_path / "out", source, axes)
    assert sum(trained(results)) == distinct_lineages(source, axes) == 3 + 3 * 5
    assert_each_is_as_if_alone(tmp_path / "out", source, axes, tmp_path / "alone")


def csvs(directory: Path) -> tuple[bytes, bytes]:
    return (directory / "comparison.csv").read_bytes(), (directory / "trials.csv").read_bytes()


@pytest.mark.thorough
def test_the_tables_are_the_same_from_one_process_two_processes_and_none(tmp_path: Path) -> None:
    source = write_factory(tmp_path, stream=POISSON, targets=[0.01, 0.02])
    axes = Axes(profiles=write_radios(tmp_path)[:3], seeds=[1, 2])
    tables = []
    for name, workers in (("none", HereWorkers()), ("one", LocalWorkers(1, 1)), ("two", LocalWorkers(2, 1))):
        _, results = played(tmp_path / name, source, axes, workers)
        write_tables(results, tmp_path / name)
        tables.append(csvs(tmp_path / name))
    assert tables[0] == tables[1] == tables[2]


def test_a_failed_trial_is_tried_once_more_and_then_left_out_while_the_others_go_on(tmp_path: Path) -> None:
    source, axes = write_factory(tmp_path), Axes(profiles=write_radios(tmp_path)[:3])
    first, second, third = (trial.name for trial in trials_of(source, axes))
    campaign, results = played(tmp_path / "out", source, axes, HereWorkers({first: 2, second: 1}))
    assert campaign.failures == {first: "lightning struck"}
    assert [result.trial.name for result in results] == [second, third]
    again, results = played(tmp_path / "out", source, axes)
    assert not again.failures
    assert len(results) == 3


def test_a_trial_whose_input_is_at_fault_is_not_tried_again(tmp_path: Path) -> None:
    source = write_factory(tmp_path)
    axes = Axes(profiles=write_radios(tmp_path, (1e5, 1e-3)))
    campaign, results = played(tmp_path / "out", source, axes)
    assert ["first round takes" in why for why in campaign.failures.values()] == [True]
    assert len(results) == 1


@pytest.mark.parametrize("timing_only", [True, False])
def test_a_trial_is_refused_for_its_scenario_but_fails_for_anything_else(tmp_path: Path, timing_only: bool) -> None:
    source, standings = write_factory(tmp_path), list[Standing]()
    trials = trials_of(source, Axes(profiles=write_radios(tmp_path, (1e5, 1e-3, 2e5))))
    struck = HereWorkers({trials[0].name: 2})
    directory = campaign_directory("c", tmp_path / "out", resume=False)
    campaign = Campaign(directory, trials, Options(timing_only=timing_only), standings.append)
    results = campaign.run(struck)
    assert [result.trial for result in results] == [trials[2]]
    assert [refusal.trial for refusal in campaign.refusals] == [trials[1]]
    assert campaign.refused.items() < campaign.failures.items()
    assert set(campaign.failures) == {trials[0].name, trials[1].name}
    assert campaign.common_fault is None
    assert (standings[-1].done, standings[-1].failed) == (2, 1)  # a refusal is an answer
    assert not (tmp_path / "out" / "records" / f"{trials[1].name}.json").exists()


def test_a_fault_is_common_if_every_trial_has_it_in_the_same_words(tmp_path: Path) -> None:
    source, timing = write_factory(tmp_path), Options(timing_only=True)
    alike, _ = played(
        tmp_path / "a", source, Axes(profiles=write_radios(tmp_path, (1e-3,)), seeds=[1, 2]), None, timing
    )
    assert alike.common_fault is not None
    assert "the first round takes" in alike.common_fault
    unlike, _ = played(tmp_path / "b", source, Axes(profiles=write_radios(tmp_path, (1e-3, 2e-3))), None, timing)
    assert len(unlike.refusals) == 2
    assert unlike.common_fault is None


def test_a_campaign_goes_on_and_finished_trials_are_not_played_again(tmp_path: Path) -> None:
    source, axes = write_factory(tmp_path, stream=POISSON), Axes(profiles=write_radios(tmp_path)[:3])
    names = [trial.name for trial in trials_of(source, axes)]
    played(tmp_path / "out", source, axes, HereWorkers({names[1]: 2}))
    workers = HereWorkers()
    _, results = played(tmp_path / "out", source, axes, workers)
    assert workers.performed == [names[1]]
    assert len(results) == 3
    (tmp_path / "out" / "records" / f"{names[0]}.json").write_text("{")
    (tmp_path / "out" / "training_tree.json").write_text("{")
    workers = HereWorkers()
    _, results = played(tmp_path / "out", source, axes, workers)
    assert workers.performed == [names[0]]
    assert trained(results)[0] == 0


def test_a_campaign_holds_no_records_while_it_plays(tmp_path: Path) -> None:
    source, held = write_factory(tmp_path), list[int]()
    trials = trials_of(source, Axes(seeds=range(1, 9)))

    def count_records(_: Standing) -> None:
        held.append(sum(type(each) is TrialRecord for each in gc.get_objects()))

    campaign = Campaign(RunDirectory.at(tmp_path / "out"), trials, Options(timing_only=True), count_records)
    results = campaign.run(HereWorkers())
    assert len(results) == 8
    assert len(held) >= 8
    assert max(held) == held[0]  # whatever other tests have left


def test_tables_that_cannot_be_written_are_one_line(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(*_: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("hfedms_sim.campaign.calls.write_tables", full)
    trials = trials_of(write_factory(tmp_path), Axes())
    campaign = Campaign(RunDirectory.at(tmp_path / "out"), trials, Options(timing_only=True))
    with pytest.raises(RunError, match=r"out: cannot be written \(No space left on device\)"):
        conduct(campaign, HereWorkers())


def test_the_training_tree_of_an_earlier_version_is_gone_by(tmp_path: Path) -> None:
    source, axes = write_factory(tmp_path, stream=POISSON), Axes(profiles=write_radios(tmp_path)[:3])
    names = [trial.name for trial in trials_of(source, axes)]
    played(tmp_path / "out", source, axes, HereWorkers({names[1]: 2}))
    (tmp_path / "out" / "training_tree.json").rename(tmp_path / "out" / "kinship.json")
    workers = HereWorkers()
    played(tmp_path / "out", source, axes, workers)
    assert workers.performed == [names[1]]
    assert not (tmp_path / "out" / "training_tree.json").exists()  # it would be, had trials been timed again


def test_another_campaign_is_refused_with_the_difference(tmp_path: Path) -> None:
    source, radios = write_factory(tmp_path), write_radios(tmp_path)
    played(tmp_path / "out", source, Axes(profiles=radios[:2]), options=Options(timing_only=True))
    with pytest.raises(InputError, match=r"was run with another trials\.0001-\S*seed1\.rounds: 5, now 2"):
        played(tmp_path / "out", source, Axes(profiles=radios[:2], rounds=2), options=Options(timing_only=True))
    with pytest.raises(InputError, match=r"was run with another trials\.0003-\S*seed1: None, now "):
        played(tmp_path / "out", source, Axes(profiles=radios[:3]), options=Options(timing_only=True))
    with pytest.raises(InputError, match=r"was run with another options\.threads: 1, now 2"):
        played(tmp_path / "out", source, Axes(profiles=radios[:2]), options=Options(timing_only=True, threads=2))


def test_timing_only_trials_are_played_once_and_need_no_training_tree(tmp_path: Path) -> None:
    source, workers = write_factory(tmp_path), HereWorkers()
    axes = Axes(profiles=write_radios(tmp_path), seeds=[1, 2])
    _, results = played(tmp_path / "out", source, axes, workers, Options(timing_only=True))
    assert len(results) == len(workers.performed) == 10
    assert not (tmp_path / "out" / "training_tree.json").exists()
    assert all(result.summary["final_accuracy"] is None for result in results)


def test_kin_is_what_the_timing_says(tmp_path: Path) -> None:
    source, axes = write_factory(tmp_path, stream=POISSON), Axes(profiles=write_radios(tmp_path))
    played(tmp_path / "out", source, axes)
    paths = {
        trial.name: run(trial.scenario, timing_only=True).rounds["lineage"].tolist()
        for trial in trials_of(source, axes)
    }
    written = json.loads((tmp_path / "out" / "training_tree.json").read_text())
    assert written == {name: branch.as_json() for name, branch in training_tree(paths).items()}
    for name, branch in written.items():
        pinned = {
            path.stem.partition("-")[2] for path in (tmp_path / "out" / "trials" / name).glob("learning/pinned/*")
        }
        assert set(branch["pins"]) <= pinned


def test_trials_whose_lineages_are_known_are_not_timed_and_share_all_the_same(tmp_path: Path) -> None:
    source, axes = write_factory(tmp_path, stream=POISSON), Axes(profiles=write_radios(tmp_path)[:3])
    trials = trials_of(source, axes)
    played(tmp_path / "timed", source, axes)
    lineages = {each.name: run(each.scenario, timing_only=True).rounds["lineage"].tolist() for each in trials}
    phases: list[str] = []

    def note(standing: Standing) -> None:
        phases.append(standing.phase)

    known = Campaign(RunDirectory.at(tmp_path / "known"), trials, Options(), note, lineages=lineages)
    known.run(HereWorkers())
    assert set(phases) == {"running"}
    trees = [(tmp_path / name / "training_tree.json").read_bytes() for name in ("timed", "known")]
    assert trees[0] == trees[1]
    for trial in trials:
        one, other = (outcome(tmp_path / name / "trials" / trial.name) for name in ("timed", "known"))
        assert one == other
