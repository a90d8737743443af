"""verify as a user meets it: a line for each thing, the last line, and the exit code."""

import shutil
from io import StringIO
from pathlib import Path

import pytest
from click.testing import CliRunner, Result
from rich.console import Console

from hfedms_sim.cli import main
from hfedms_sim.integrity import At
from hfedms_sim.report.progress.verification import verification_progress
from hfedms_sim.simulation import run
from tests.conftest import tiny_scenario, without_checksums
from tests.interrupted import error_of


def hfedms_sim(*arguments: str | Path) -> Result:
    return CliRunner().invoke(main, ["verify", *map(str, arguments)])


@pytest.fixture(scope="module")
def finished(tmp_path_factory: pytest.TempPathFactory) -> Path:
    out = tmp_path_factory.mktemp("runs") / "one"
    run(tiny_scenario(), timing_only=True, out=out)
    return out


@pytest.fixture
def copy(finished: Path, tmp_path: Path) -> Path:
    return shutil.copytree(finished, tmp_path / "copy")


def test_sound_runs_end_with_ok_and_exit_code_0(finished: Path, copy: Path) -> None:
    result = hfedms_sim(finished, without_checksums(copy))
    assert (result.exit_code, result.stderr) == (0, "")
    lines = result.stdout.splitlines()
    assert [line.partition(": ")[0] for line in lines] == [*[str(finished)] * 3, "note", *[str(copy)] * 2, "ok"]
    assert lines[0] == f"{finished}: 9 files match their checksums"
    assert lines[2] == f"{finished}: 6 rounds replayed, tables, lineage and summary are the same"


def test_problems_are_counted_and_the_exit_code_is_1(finished: Path, copy: Path) -> None:
    for name in ("rounds.parquet", "summary.json"):
        (copy / name).write_bytes((copy / name).read_bytes() + b"\n")
    result = hfedms_sim(copy, finished)
    assert (result.exit_code, result.stderr) == (1, "")
    one, other, *_, last = result.stdout.splitlines()
    assert one == f"problem: {copy}/rounds.parquet: damaged (its checksum in SHA256SUMS does not match)"
    assert other.startswith(f"problem: {copy}/summary.json: damaged")
    assert last == "2 problems"
    (copy / "rounds.parquet").unlink()
    (copy / "summary.json").write_bytes((finished / "summary.json").read_bytes())
    assert hfedms_sim(copy).stdout.splitlines()[-1] == "1 problem"


def test_without_a_replay_there_is_a_line_less(finished: Path) -> None:
    assert len(hfedms_sim(finished, "--no-replay").stdout.splitlines()) == 3


def test_bad_input_is_one_line_before_anything_is_looked_at(finished: Path, tmp_path: Path) -> None:
    for bad, said in ((tmp_path / "nothing", "no such directory"), (tmp_path, "is neither a run nor a campaign")):
        result = hfedms_sim(finished, bad)
        assert said in error_of(result)
        assert result.stdout == ""
    assert CliRunner().invoke(main, ["verify"]).exit_code == 2


@pytest.mark.parametrize("is_terminal", [True, False])
def test_progress_is_a_bar_on_a_terminal_and_nothing_elsewhere(is_terminal: bool) -> None:
    screen = StringIO()
    with verification_progress(Console(file=screen, force_terminal=is_terminal, width=80)) as on_progress:
        on_progress(At(3, 7, "trials"))
    assert ("3/7 trials" in screen.getvalue()) == is_terminal
    assert bool(screen.getvalue()) == is_terminal
