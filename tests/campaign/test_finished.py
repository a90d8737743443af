"""A campaign that was left in a directory is read again as it was returned."""

import json
from pathlib import Path

import pytest

from hfedms_sim import InputError, compare, open_campaign
from hfedms_sim.campaign import is_campaign
from tests.campaign.factory import write_factory, write_radios


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Path:
    directory = tmp_path_factory.mktemp("campaign")
    radios = write_radios(directory, (4e3, 4e6))
    compare(write_factory(directory), profiles=radios, seeds=[1, 2], timing_only=True, out=directory / "radios")
    return directory / "radios"


def test_it_has_the_tables_and_runs_of_the_one_that_was_returned(tmp_path: Path) -> None:
    radios = write_radios(tmp_path, (4e3, 4e6))
    made = compare(write_factory(tmp_path), profiles=radios, timing_only=True, out=tmp_path / "radios")
    again = open_campaign(tmp_path / "radios")
    assert again.played == made.played
    assert again.comparison.equals(made.comparison)
    assert {name: run.summary for name, run in again.runs().items()} == {
        name: run.summary for name, run in made.runs().items()
    }


def test_its_rows_are_those_of_the_csv(place: Path) -> None:
    opened = open_campaign(place)
    rows = opened.rows()
    assert [row.target for row in rows] == opened.comparison["target"].tolist()
    assert [row.measures["simulated_s"] is not None for row in rows] == [True, True]
    means = [row.measures["simulated_s"].mean for row in rows if row.measures["simulated_s"]]
    assert means == opened.comparison["simulated_s"].tolist()


def test_trials_that_were_refused_are_rows_with_their_reason(tmp_path: Path) -> None:
    radios = write_radios(tmp_path, (1e6, 1e-2))
    compare(write_factory(tmp_path), profiles=radios, timing_only=True, out=tmp_path / "radios")
    rows = open_campaign(tmp_path / "radios").rows()
    assert [dict(row.variant)["profile"] for row in rows] == radios
    assert rows[0].reason is None
    assert str(rows[1].reason).startswith("the first round takes 4,033 d")


def test_a_run_directory_is_no_campaign(place: Path) -> None:
    assert is_campaign(place)
    (run, *_) = (place / "trials").iterdir()
    assert not is_campaign(run)
    with pytest.raises(InputError, match=r"not a campaign, campaign\.json is missing"):
        open_campaign(run)


def test_one_that_is_not_finished_is_refused(place: Path, tmp_path: Path) -> None:
    (tmp_path / "records").mkdir()
    (tmp_path / "campaign.json").write_text((place / "campaign.json").read_text())
    with pytest.raises(InputError, match="not finished, 4 of 4 trials are left"):
        open_campaign(tmp_path)


def test_a_manifest_with_another_content_is_refused(place: Path, tmp_path: Path) -> None:
    content = json.loads((place / "campaign.json").read_text())
    next(iter(content["trials"].values()))["rounds"] = "many"
    (tmp_path / "records").symlink_to(place / "records")
    (tmp_path / "campaign.json").write_text(json.dumps(content))
    with pytest.raises(InputError, match=r"campaign\.json: damaged"):
        open_campaign(tmp_path)
