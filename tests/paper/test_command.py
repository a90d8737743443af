"""hfedms-sim paper on the command line: what it lists, prints, writes and refuses."""

from pathlib import Path

import numpy as np
import pytest
from click.testing import CliRunner, Result

from hfedms_sim.cli import main
from hfedms_sim.commands.paper import _NAMES
from hfedms_sim.paper.catalogue import EXPERIMENTS, PAPER, listing
from hfedms_sim.paper.scales import SCALES
from hfedms_sim.paper.study import Study
from hfedms_sim.paper.tuned import Tuned


def paper(*arguments: str | Path) -> Result:
    return CliRunner().invoke(main, ["paper", *map(str, arguments)])


def refused(*arguments: str | Path) -> str:
    """Return the one line of a refusal."""
    result = paper(*arguments)
    assert result.exit_code == 2, result.output
    (line,) = result.output.strip().splitlines()
    assert line.startswith("error: ")
    return line


def test_without_a_name_it_lists_every_experiment_and_its_cost() -> None:
    result = paper()
    assert result.exit_code == 0
    assert all(name in result.output for name in EXPERIMENTS)
    assert "114 trials" in result.output


def test_all_is_listed_with_every_trial_once() -> None:
    rows = {row[0]: row for row in listing(Tuned()).rows}
    smoke = {name: int(str(row[3]).split()[0]) for name, row in rows.items() if "trials" in str(row[3])}
    apart = sum(smoke[name] for name in PAPER if name in smoke)
    study = Study(SCALES["smoke"])
    assert smoke["all"] == len({trial.name for each in PAPER.values() for trial in each.trials(study)}) < apart
    assert [*rows].index("all") == len(PAPER)


def test_the_names_are_the_experiments_and_two_more() -> None:
    assert set(_NAMES) == {*EXPERIMENTS, "all", "verdicts"}


@pytest.mark.thorough
def test_what_needs_no_training_is_there_in_seconds(tmp_path: Path) -> None:
    result = paper("efficiency", "--without-training", "--out", tmp_path)
    assert result.exit_code == 0, result.output
    assert "12 of 12 published figures" in result.output
    for name in ("efficiency-hours.csv", "efficiency-hours.tex", "efficiency.png", "efficiency.svg", "efficiency.pdf"):
        assert (tmp_path / "efficiency" / name).stat().st_size > 0


def test_a_directory_of_somebody_else_is_refused_and_left_alone(tmp_path: Path) -> None:
    (tmp_path / "scc").mkdir()
    (tmp_path / "scc" / "cells.csv").write_text("mine")
    for arguments in (["--resume"], []):
        assert "is no experiment's" in refused("scc", "--out", tmp_path, *arguments)
        assert "is no experiment's" in refused("all", "--out", tmp_path, *arguments)
    assert [path.name for path in tmp_path.rglob("*")] == ["scc", "cells.csv"]


def test_a_file_where_a_directory_should_be_is_one_line(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    result = paper("parameters", "--out", tmp_path / "file")
    assert result.exit_code == 1
    assert len(result.output.strip().splitlines()) <= 2  # its title, and what is wrong
    assert "cannot be written" in result.output


@pytest.mark.parametrize("shape", [(40, 32, 32), (40, 28)])
def test_data_of_another_shape_are_refused_before_anything_is_written(tmp_path: Path, shape: tuple[int, ...]) -> None:
    path = tmp_path / "other.npz"
    np.savez(path, images=np.zeros(shape, np.uint8), labels=np.zeros(40, np.uint8), device=np.arange(40) % 4,
             is_test=np.arange(40) % 5 == 0)  # fmt: skip
    assert "other.npz" in refused("scc", "--data", path, "--out", tmp_path / "out")
    assert not (tmp_path / "out").exists()


def test_data_of_too_few_devices_are_refused(tmp_path: Path) -> None:
    path = tmp_path / "few.npz"
    np.savez(path, images=np.zeros((40, 28, 28), np.uint8), labels=np.zeros(40, np.uint8), device=np.arange(40) % 4,
             is_test=np.arange(40) % 5 == 0)  # fmt: skip
    assert "4 devices" in refused("scc", "--data", path, "--out", tmp_path / "out")


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["scc", "--scale", "full"], "--scale full needs --data PATH"),
        (["scc", "--data", "absent.npz"], "absent.npz"),
        (["scc", "--seeds", "1,x"], "--seeds '1,x': must be whole numbers"),
        (["scc", "--seeds", "²"], "must be whole numbers"),
        (["scc", "--resume"], "--resume needs --out DIR"),
        (["scc", "--tuned", "absent.json"], "absent.json: no such file"),
        (["scc", "--out", "a", "--out", "b"], "--out: given twice"),
        (["verdicts"], "needs --out DIR"),
        (["verdicts", "--out", "absent"], "no claims.json"),
        (["nonsense"], "nonsense"),
    ],
)
def test_bad_arguments_are_one_line(
    arguments: list[str], message: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    assert message in refused(*arguments)
    assert not list(tmp_path.iterdir())
