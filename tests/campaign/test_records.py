"""Records: what is kept of a finished trial is enough to go on from, and is not believed unread."""

import json
import shutil
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from hfedms_sim.campaign import (
    Axes,
    Campaign,
    Options,
    Trial,
    campaign_directory,
    read_records,
    trials_of,
    write_tables,
)
from hfedms_sim.campaign.curves import COLUMNS, Curve, curve_of
from hfedms_sim.campaign.records import write_record
from hfedms_sim.campaign.workers import LocalWorkers
from hfedms_sim.errors import InputError
from hfedms_sim.simulation import open_run, run
from tests.campaign.factory import POISSON, HereWorkers, played, write_factory, write_radios
from tests.conftest import tiny_scenario

CSVS = ("comparison.csv", "trials.csv", "curves.csv")


def csvs(directory: Path) -> list[bytes]:
    return [(directory / name).read_bytes() for name in CSVS]


@pytest.fixture
def finished(tmp_path: Path) -> tuple[Path, str, Axes]:
    source = write_factory(tmp_path, stream=POISSON, targets=[0.01, 0.02], evaluate_every=2)
    axes = Axes(profiles=write_radios(tmp_path)[:3])
    _, results = played(tmp_path / "out", source, axes)
    write_tables(results, tmp_path / "out")
    return tmp_path / "out", source, axes


def names_of(out: Path) -> list[str]:
    return sorted(path.stem for path in (out / "records").iterdir())


def test_a_record_has_what_its_run_directory_has_and_no_path_or_command(finished: tuple[Path, str, Axes]) -> None:
    out, *_ = finished
    for name, record in read_records(out).items():
        result = open_run(out / "trials" / name)
        assert record.summary == {key: value for key, value in result.summary.items() if key != "wall_s"}
        assert record.provenance.items() <= result.provenance.items()
        assert {"versions", "started", "ended", "wall_s", "rounds_trained"} <= set(record.provenance)
        assert record.curve == curve_of(result.arrow("rounds"))
        assert str(out.parent) not in json.dumps([record.summary, record.provenance])
        assert "command" not in record.provenance


def test_a_record_of_an_earlier_version_is_read_with_why_it_stopped_as_data(finished: tuple[Path, str, Axes]) -> None:
    out, *_ = finished
    name = names_of(out)[0]
    record = read_records(out)[name]
    sentence = {**record.summary, "stopped": "diverged in round 2: a weight is not finite"}
    write_record(out, replace(record, summary=sentence))
    before = (out / "records" / f"{name}.json").read_bytes()
    read = read_records(out)[name]
    assert read.summary["stopped"] == {"reason": "diverged", "round": 2, "detail": "a weight is not finite"}
    assert (out / "records" / f"{name}.json").read_bytes() == before
    write_record(out, replace(record, summary={**record.summary, "stopped": "bored"}))
    with pytest.raises(InputError, match="is not the record of a trial"):
        read_records(out)


def test_a_curve_is_the_running_sum_of_the_rounds_at_those_that_were_evaluated_and_at_the_last() -> None:
    result = run(tiny_scenario(rounds=5, evaluate_every=3))
    curve, rounds = curve_of(result.arrow("rounds")), result.rounds
    assert [row.round for row in curve.rows] == [3, 5]
    for row in curve.rows:
        sums = rounds[rounds["round"] <= row.round][["uplink_bytes", "downlink_bytes", "updated_parameters"]].sum()
        assert (row.uplink_bytes, row.downlink_bytes, row.updated_parameters) == tuple(sums)
        own = rounds[rounds["round"] == row.round].iloc[0]
        assert (row.simulated_s, row.phase, row.accuracy, row.loss) == (
            own["end_s"], own["phase"], own["accuracy"], own["loss"],
        )  # fmt: skip
    assert curve.final("simulated_s") == result.summary["simulated_s"]
    assert Curve.from_json(json.loads(json.dumps(curve.as_json()))) == curve


def test_a_timing_only_curve_is_its_last_round() -> None:
    curve = curve_of(run(tiny_scenario(rounds=5), timing_only=True).arrow("rounds"))
    assert [row.round for row in curve.rows] == [5]
    assert curve.final("accuracy") is None
    assert curve.first_at(0.0) is None
    assert curve.points("accuracy") == ()


def test_points_and_the_first_row_at_an_accuracy() -> None:
    nothing = [None] * 3
    columns: dict[str, Any] = dict.fromkeys(COLUMNS, nothing) | {
        "round": [2, 4, 5], "simulated_s": [1.0, 2.0, 3.0], "accuracy": [0.5, 0.7, None],
    }  # fmt: skip
    curve = Curve.from_json(columns)
    assert curve.points("accuracy") == ((2, 0.5), (4, 0.7))
    assert curve.points("accuracy", against="simulated_s") == ((1.0, 0.5), (2.0, 0.7))
    assert curve.points("simulated_s") == ((2, 1.0), (4, 2.0), (5, 3.0))
    first = curve.first_at(0.6)
    assert first is not None
    assert first.round == 4
    assert curve.first_at(0.8) is None
    assert curve.final("accuracy") == 0.7


def test_energy_that_is_unknown_in_one_round_is_unknown_from_there_on() -> None:
    rounds = run(tiny_scenario(rounds=3), timing_only=True).arrow("rounds")
    assert rounds["energy_j"].null_count == 3
    assert curve_of(rounds).final("energy_j") is None


def test_campaign_json_and_records_alone_are_a_finished_campaign(
    finished: tuple[Path, str, Axes], tmp_path: Path
) -> None:
    out, source, axes = finished
    carried = tmp_path / "carried"
    carried.mkdir()
    shutil.copy(out / "campaign.json", carried)
    shutil.copytree(out / "records", carried / "records")
    workers = HereWorkers()
    _, results = played(carried, source, axes, workers)
    write_tables(results, carried)
    assert workers.performed == []
    assert csvs(carried) == csvs(out)


def test_a_campaign_that_was_carried_elsewhere_goes_on_and_children_of_what_is_gone_train_by_themselves(
    tmp_path: Path,
) -> None:
    source, axes = write_factory(tmp_path), Axes(profiles=write_radios(tmp_path)[:3])
    played(tmp_path / "whole", source, axes)
    _, whole = played(tmp_path / "whole", source, axes)
    write_tables(whole, tmp_path / "whole")
    first, second, third = names_of(tmp_path / "whole")
    for with_kinship in (False, True):
        carried = tmp_path / f"carried-{with_kinship}"
        (carried / "records").mkdir(parents=True)
        for name in ["campaign.json", f"records/{first}.json", *(["training_tree.json"] if with_kinship else [])]:
            shutil.copy(tmp_path / "whole" / name, carried / name)
        workers = HereWorkers()
        _, results = played(carried, source, axes, workers)
        write_tables(results, carried)
        assert workers.performed == [second, third]
        assert [each.provenance["rounds_trained"] for each in results] == [5, 5, 0]  # the third learns from the second
        assert csvs(carried) == csvs(tmp_path / "whole")


@pytest.mark.parametrize("what", ["accuracy", "no JSON", "name"])
def test_a_record_that_is_damaged_or_of_another_trial_is_named_and_the_trial_played_again(
    finished: tuple[Path, str, Axes], what: str
) -> None:
    out, source, axes = finished
    first, second, _ = names_of(out)
    before = csvs(out)
    path = out / "records" / f"{first}.json"
    if what == "accuracy":
        path.write_text(path.read_text().replace('"best_accuracy": 0.', '"best_accuracy": 0.9'))
    elif what == "no JSON":
        path.write_text("{")
    else:
        shutil.copy(out / "records" / f"{second}.json", path)
    workers, notices = HereWorkers(), list[str]()
    directory = campaign_directory("c", out, resume=True)
    results = Campaign(directory, trials_of(source, axes), on_notice=notices.append).run(workers)
    assert workers.performed == [first]
    assert len(notices) == 1
    assert "the trial is played again" in notices[0]
    write_tables(results, out)
    assert csvs(out) == before


def test_a_record_of_other_options_is_not_taken_for_this_trials(tmp_path: Path) -> None:
    source, axes = write_factory(tmp_path), Axes(profiles=write_radios(tmp_path)[:1])
    for name, options in (("one", Options(timing_only=True)), ("two", Options(timing_only=True, threads=2))):
        played(tmp_path / name, source, axes, options=options)
    (name,) = names_of(tmp_path / "one")
    shutil.copy(tmp_path / "one" / "records" / f"{name}.json", tmp_path / "two" / "records")
    workers, notices = HereWorkers(), list[str]()
    directory = campaign_directory("c", tmp_path / "two", resume=True)
    Campaign(directory, trials_of(source, axes), options, on_notice=notices.append).run(workers)
    assert workers.performed == [name]
    assert ["other options" in line for line in notices] == [True]


def test_line_ends_do_not_matter_to_a_record(finished: tuple[Path, str, Axes]) -> None:
    out, *_ = finished
    before = read_records(out)
    for path in (out / "records").iterdir():
        path.write_bytes(path.read_bytes().replace(b"\n", b"\r\n"))
    assert read_records(out) == before


def test_reading_records_refuses_damage_and_what_has_none(finished: tuple[Path, str, Axes], tmp_path: Path) -> None:
    out, *_ = finished
    with pytest.raises(InputError, match="has no records"):
        read_records(tmp_path)
    path = next((out / "records").iterdir())
    path.write_text(path.read_text().replace('"rounds": 5', '"rounds": 6'))
    with pytest.raises(InputError, match="checksum"):
        read_records(out)


def test_a_finished_run_directory_without_a_record_gets_one_without_training(
    finished: tuple[Path, str, Axes],
) -> None:
    out, source, axes = finished
    before = csvs(out)
    shutil.rmtree(out / "records")
    _, results = played(out, source, axes)
    assert [each.provenance["rounds_trained"] for each in results] == [0, 0, 0]
    write_tables(results, out)
    assert csvs(out) == before


@pytest.mark.thorough
def test_campaigns_follow_each_other_in_one_process_with_trials_made_by_hand(tmp_path: Path) -> None:
    made = [
        Trial(f"T={interval}", (("T", str(interval)),), tiny_scenario(rounds=2, seed=interval), cost=interval)
        for interval in (1, 2)
    ]
    for name in ("one", "two"):
        campaign = Campaign(campaign_directory(name, tmp_path / name, resume=False), made)
        results = campaign.run(LocalWorkers(2, 1))
        assert [result.trial for result in results] == made
        assert not campaign.failures
    assert {name: record.curve for name, record in read_records(tmp_path / "one").items()} == {
        name: record.curve for name, record in read_records(tmp_path / "two").items()
    }


@pytest.mark.parametrize("names", [("a/b",), ("",), (".hidden",), ("a", "A"), ("a b",), ("x" * 201,), ("..",)])
def test_names_that_are_no_file_names_are_refused_and_leave_nothing(tmp_path: Path, names: tuple[str, ...]) -> None:
    made = [Trial(name, (), tiny_scenario()) for name in names]
    with pytest.raises(InputError, match="trial"):
        Campaign(campaign_directory("c", tmp_path / "out", resume=False), made).run(HereWorkers())
    assert not (tmp_path / "out").exists()
