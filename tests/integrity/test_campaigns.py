"""A campaign is verified in its own files, its records and its trials; what is not kept of a trial is played again."""

import json
import shutil
from dataclasses import replace
from hashlib import sha256
from pathlib import Path
from typing import Any

import pytest

from hfedms_sim import InputError, compare, verify
from hfedms_sim.campaign import read_records
from hfedms_sim.campaign.records import digest_of, write_record
from hfedms_sim.integrity import At
from hfedms_sim.system.checksums import write_checksums
from tests.campaign.factory import POISSON, write_factory, write_radios
from tests.conftest import without_checksums
from tests.contracts.toy import DEVICES, write_toy


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A trained campaign of two radios, and one that is refused; to be copied."""
    made = tmp_path_factory.mktemp("campaign")
    profiles = write_radios(made, (2e5, 5e5, 1e-3))
    compare(write_factory(made, stream=POISSON, rounds=3), profiles=profiles, out=made / "out")
    return made / "out"


@pytest.fixture
def copy(place: Path, tmp_path: Path) -> Path:
    return shutil.copytree(place, tmp_path / "copy")


def names(campaign: Path) -> list[str]:
    return list(read_records(campaign))


def flip(path: Path, place: int) -> None:
    content = bytearray(path.read_bytes())
    content[place] ^= 0x01
    path.write_bytes(content)


def rewritten_record(campaign: Path, name: str, **summary: Any) -> None:
    """Change the summary of a record as somebody would who knows how its own checksum is made."""
    record = read_records(campaign)[name]
    write_record(campaign, replace(record, summary=dict(record.summary) | summary))


def test_a_campaign_is_sound_with_every_trial_and_it_tells_how_far_it_is(place: Path) -> None:
    at: list[At] = []
    found = verify(place, on_progress=at.append)
    assert (found.problems, found.notes) == ((), ())
    lines = [check.line for check in found.checks]
    assert lines[:2] == [
        f"{place}: 6 files match their checksums",
        f"{place}: comparison.csv, trials.csv, curves.csv are what the records give",
    ]
    for name in names(place):
        assert f"{place}/records/{name}.json: agrees with its run" in lines
        assert f"{place}/trials/{name}: 3 rounds replayed, tables, lineage and summary are the same" in lines
    assert at == [At(number, 3, "trials") for number in range(3)]


def test_trials_whose_runs_are_not_kept_are_replayed_from_their_records(copy: Path) -> None:
    shutil.rmtree(copy / "trials")
    found = verify(copy)
    assert (found.problems, found.notes) == ((), ())
    said = "3 rounds replayed, costs, lineage and summary are the same"
    assert sum(said in check.line for check in found.checks) == 2
    quick = verify(copy, replay=False)
    assert sum("its checksum matches, and its run is not kept" in check.line for check in quick.checks) == 2


@pytest.mark.parametrize("name", ["campaign.json", "trials.csv", "comparison.csv", "curves.csv"])
def test_a_file_of_its_own_that_was_changed_is_found(copy: Path, name: str) -> None:
    flip(copy / name, -2)
    (line,) = verify(copy, replay=False).problems
    assert line == f"{copy / name}: damaged (its checksum in SHA256SUMS does not match)"


def test_a_record_and_a_trial_that_were_changed_are_found_once_each(copy: Path) -> None:
    first, second = names(copy)
    flip(copy / "records" / f"{first}.json", 100)
    flip(copy / "trials" / second / "work.parquet", 100)
    (copy / "records" / "stranger.txt").write_text("hello")
    found = verify(copy, replay=False)
    assert found.problems == (
        f"{copy}/records/{first}.json: damaged (its checksum in SHA256SUMS does not match)",
        f"{copy}/trials/{second}/work.parquet: damaged (its checksum in SHA256SUMS does not match)",
    )
    assert found.notes == (f"{copy}: records/stranger.txt is not listed, and not looked at",)


def test_records_that_do_not_agree_with_their_runs_or_with_a_replay_are_found(copy: Path) -> None:
    without_checksums(copy)
    first, second = names(copy)
    rewritten_record(copy, first, simulated_s=1.0)
    rewritten_record(copy, second, energy_j=1.0)
    shutil.rmtree(copy / "trials" / second)
    tables, with_run, replayed = verify(copy).problems
    assert "tables and records do not agree: comparison.csv is not what they give" in tables
    assert f"{first}.json: does not agree with its run: summary.simulated_s is 1.0" in with_run
    assert f"{second}.json: a replay does not agree: summary.energy_j is 1.0" in replayed


def test_another_lineage_is_a_problem_on_the_same_machine_and_a_note_on_another(
    copy: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    without_checksums(copy)
    for name in ("comparison.csv", "trials.csv", "curves.csv"):
        (copy / name).unlink()
    shutil.rmtree(copy / "trials")
    monkeypatch.setattr("hfedms_sim.simulation.session.instruction_set", lambda engine: "abacus")
    assert all("a replay agrees, but has another lineage" in line for line in verify(copy).problems)
    monkeypatch.setattr("hfedms_sim.integrity.campaigns.platform.platform", lambda: "another")
    found = verify(copy)
    assert found.is_sound
    assert sum("a replay agrees, but has another lineage; it was made on" in line for line in found.notes) == 2


def test_a_record_of_another_scenario_than_campaign_json_says_is_found(copy: Path) -> None:
    without_checksums(copy)
    manifest = json.loads((copy / "campaign.json").read_text())
    first = names(copy)[0]
    manifest["trials"][first]["seed"] = 9
    (copy / "campaign.json").write_text(json.dumps(manifest))
    problems = verify(copy, replay=False).problems
    assert any(f"{first}.json: is of another scenario or other options" in line for line in problems)


def test_trials_that_name_data_files_cannot_be_replayed_without_their_runs(tmp_path: Path) -> None:
    data = {"set": "npz", "path": str(write_toy(tmp_path / "toy.npz"))}
    source = write_factory(tmp_path, rounds=1, data=data, sensors={"count": DEVICES}, stream={"batch": 5})
    compare(source, seeds=[1, 2], timing_only=True, out=tmp_path / "out")
    assert verify(tmp_path / "out").notes == ()
    shutil.rmtree(tmp_path / "out" / "trials")
    found = verify(tmp_path / "out")
    assert found.is_sound
    assert len(found.notes) == 2
    assert "its checksum matches, but it cannot be replayed here: campaign.json has checksums" in found.notes[0]


def test_a_campaign_of_an_earlier_version_or_that_is_not_finished_is_looked_at_as_far_as_it_goes(copy: Path) -> None:
    without_checksums(copy)
    first, second = names(copy)
    (copy / "records" / f"{first}.json").unlink()
    (copy / "trials" / first / "summary.json").unlink()
    found = verify(copy)
    assert found.is_sound
    no_list, left, unfinished = found.notes
    assert no_list.startswith(f"{copy}: has no SHA256SUMS")
    assert "not finished, 1 of 3 trials are left" in left
    assert unfinished == f"{copy}/trials/{first}: is not finished"
    assert any(f"{second}.json: agrees with its run" in check.line for check in found.checks)


@pytest.mark.parametrize("content", ["{", "{}", '{"options": {}, "trials": {"../../x": {}}}'])
def test_a_manifest_that_nobody_has_written_is_one_problem(tmp_path: Path, content: str) -> None:
    (tmp_path / "campaign.json").write_text(content)
    (tmp_path / "records").mkdir()
    (line,) = verify(tmp_path).problems
    assert "campaign.json" in line


def test_what_a_stranger_put_into_a_record_is_one_problem_each(copy: Path) -> None:
    without_checksums(copy)
    manifest = json.loads((copy / "campaign.json").read_text())
    shutil.rmtree(copy / "trials")
    first, second = names(copy)
    rewritten_record(copy, first, rounds="many")
    manifest["trials"][second] = {"rounds": "many"}
    (copy / "campaign.json").write_text(json.dumps(manifest))
    record = json.loads((copy / "records" / f"{second}.json").read_text())
    record["digest"] = digest_of(manifest["trials"][second], manifest["options"])
    sealed(copy / "records" / f"{second}.json", record)
    problems = verify(copy).problems
    assert any(f"{first}.json: is not the record of a trial" in line for line in problems)
    assert not any("Traceback" in line for line in problems)


def sealed(path: Path, record: dict[str, Any]) -> None:
    """Write a record with a checksum that matches."""
    content = {key: value for key, value in record.items() if key != "sha256"}
    digest = sha256(json.dumps(content, sort_keys=True).encode()).hexdigest()
    path.write_text(json.dumps({"sha256": digest, **content}))


def test_a_directory_that_was_a_campaign_is_damaged_not_unknown(copy: Path) -> None:
    (copy / "campaign.json").unlink()
    (line,) = verify(copy).problems
    assert line == f"{copy}/campaign.json: damaged (it is missing, and SHA256SUMS lists it)"


def test_a_list_of_no_campaign_and_no_run_is_refused(tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_text("a")
    write_checksums(tmp_path, ["a.txt"])
    with pytest.raises(InputError, match="is neither a run nor a campaign"):
        verify(tmp_path)
