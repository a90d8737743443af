"""The command `report`: where the page goes, and what is refused in one line."""

import os
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from hfedms_sim import compare, run
from hfedms_sim.cli import main
from tests.campaign.factory import write_factory, write_radios
from tests.conftest import tiny_scenario


def report(*arguments: object) -> Result:
    return CliRunner().invoke(main, ["report", *map(str, arguments)])


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    place = tmp_path_factory.mktemp("runs")
    run(tiny_scenario(), timing_only=True, out=place / "one")
    run(tiny_scenario(seed=2), timing_only=True, out=place / "two")
    compare(write_factory(place), profiles=write_radios(place, (8e3, 8e4)), timing_only=True, out=place / "radios")
    return place


@pytest.mark.parametrize("name", ["one", "radios"])
def test_a_page_of_one_directory_goes_into_it(made: Path, name: str) -> None:
    result = report(made / name, "--quiet")
    assert (result.exit_code, result.stdout) == (0, f"{made / name / 'report.html'}\n")
    assert (made / name / "report.html").read_text(encoding="utf-8").startswith("<!doctype html>")


def test_several_runs_are_compared_in_a_file_of_ones_own(made: Path, tmp_path: Path) -> None:
    assert report(made / "one", made / "two", "--out", tmp_path / "both.html", "--quiet").exit_code == 0
    text = (tmp_path / "both.html").read_text(encoding="utf-8")
    assert "Settings that differ" in text


def test_the_same_runs_give_the_same_bytes(made: Path, tmp_path: Path) -> None:
    for name in ("a.html", "b.html"):
        assert report(made / "one", "--out", tmp_path / name, "--quiet").exit_code == 0
    assert (tmp_path / "a.html").read_bytes() == (tmp_path / "b.html").read_bytes()


def test_what_ifs_are_on_the_page_if_they_are_asked_for(made: Path, tmp_path: Path) -> None:
    assert report(made / "one", "--out", tmp_path / "page.html", "--what-ifs", "--quiet").exit_code == 0
    assert "What would help" in (tmp_path / "page.html").read_text(encoding="utf-8")


@pytest.mark.parametrize(
    ("arguments", "line"),
    [
        (["one", "two"], "a page of several runs needs --out FILE"),
        (["radios", "one", "--out", "x.html"], "is a campaign, which has a page of its own"),
        (["nowhere"], "no such run directory"),
        (["one", "--out", "one/scenario.yaml/page.html"], "cannot be written"),
    ],
)
def test_what_cannot_be_used_is_one_line(
    made: Path, monkeypatch: pytest.MonkeyPatch, arguments: list[str], line: str
) -> None:
    monkeypatch.chdir(made)
    before = sorted(os.listdir(made))  # noqa: PTH208
    result = report(*arguments, "--quiet")
    assert result.exit_code == 2
    assert line in result.stderr
    assert len(result.stderr.splitlines()) == 1
    assert sorted(os.listdir(made)) == before  # noqa: PTH208


def test_a_campaign_whose_runs_are_gone_says_what_is_missing(made: Path, tmp_path: Path) -> None:
    for name in ("campaign.json", "records", "trials.csv"):
        (tmp_path / name).symlink_to(made / "radios" / name)
    result = report(tmp_path, "--quiet")
    assert result.exit_code == 2
    assert "is not there, only its record; a page needs runs" in result.stderr
