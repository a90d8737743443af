"""A disk that is full is no fault of the input, whatever is being written: one line, and exit code 1."""

import os
import subprocess
import sys
from pathlib import Path

import pytest
from click.testing import CliRunner

from hfedms_sim.cli import main
from hfedms_sim.simulation import run
from tests.conftest import some_of, tiny_scenario

ROOT = Path(__file__).resolve().parent.parent.parent


@pytest.fixture(scope="module")
def finished(tmp_path_factory: pytest.TempPathFactory) -> str:
    out = tmp_path_factory.mktemp("finished") / "run"
    run(tiny_scenario(), timing_only=True, out=out)
    return str(out)


@pytest.mark.parametrize(
    ("command", "target"),
    [
        (["report", "RUN", "--quiet", "--out"], "page.html"),
        (["plot", "RUN", "--kind", "transfers", "--out"], "picture.png"),
        (["paper", "settings", "--quiet", "--out"], "paper"),
        (["validate", "T8", "--csv"], "table.csv"),
        (["compare", "RUN/scenario.yaml", "--timing-only", "--quiet", "--out"], "campaign"),
    ],
)
def test_a_full_disk_is_one_line_and_exit_code_1(
    finished: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, command: list[str], target: str
) -> None:
    def full(_: int) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fsync", full)
    words = [word.replace("RUN", finished) for word in command]
    result = CliRunner().invoke(main, [*words, str(tmp_path / target)])
    assert result.exit_code == 1, result.output
    (line,) = result.stderr.splitlines()
    assert line.startswith(f"error: {tmp_path / target}")
    assert line.endswith("cannot be written (No space left on device)")


@pytest.fixture(scope="module")
def fonts(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    """An environment in which matplotlib has noted this machine's fonts; where it cannot, it says so itself."""
    environment = os.environ | {"MPLCONFIGDIR": str(tmp_path_factory.mktemp("fonts"))}
    subprocess.run([sys.executable, "-c", "import matplotlib.font_manager"], env=environment, check=True)
    return environment


@pytest.mark.parametrize("ending", some_of(("png", "svg", "pdf"), kept=("svg",)))
def test_a_picture_that_has_no_room_is_one_line_whatever_matplotlib_makes_of_it(
    finished: str, fonts: dict[str, str], tmp_path: Path, ending: str
) -> None:
    command = ["plot", finished, "--kind", "transfers", "--out", str(tmp_path / f"picture.{ending}")]
    limited = [sys.executable, "-m", "soak.limited", "1000", sys.executable, "-m", "hfedms_sim.cli", *command]
    ended = subprocess.run(limited, capture_output=True, text=True, cwd=ROOT, env=fonts)
    assert ended.returncode == 1
    assert ended.stderr == f"error: {tmp_path / f'picture.{ending}'}: cannot be written (File too large)\n"
    assert not list(tmp_path.iterdir())


def test_a_path_that_cannot_be_is_a_fault_of_the_input(finished: str, tmp_path: Path) -> None:
    result = CliRunner().invoke(main, ["report", finished, "--out", str(tmp_path / "missing" / "page.html"), "--quiet"])
    assert result.exit_code == 2
    assert "cannot be written (No such file or directory)" in result.stderr
