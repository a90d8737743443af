"""Terminals, pipes and directories of all kinds: what is printed and written comes out in each of them."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from hfedms_sim.commands.terminal import OWN_MISTAKE, TRACEBACK
from hfedms_sim.simulation import run
from tests.conftest import FAST, some_of, tiny_scenario
from tests.hardening.attacked import hfedms_sim, refused, written

NO_TEXT = os.fsdecode(b"bad\xff\xfename")
ASCII = [
    {"PYTHONIOENCODING": "ascii"},
    {"PYTHONIOENCODING": "ascii:strict", "LC_ALL": "POSIX"},
    {"LC_ALL": "C", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0"},
    {"PYTHONIOENCODING": "latin-1"},
]


@pytest.fixture(autouse=True)
def _in_an_empty_directory(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def process(*arguments: str, **environment: str) -> "subprocess.CompletedProcess[bytes]":
    command = [sys.executable, "-m", "hfedms_sim.cli", *arguments]
    return subprocess.run(command, capture_output=True, env=os.environ | environment, timeout=120)


@pytest.mark.thorough
@pytest.mark.parametrize("environment", ASCII, ids=lambda environment: " ".join(environment))
def test_tables_come_out_on_a_terminal_that_knows_few_signs(environment: dict[str, str]) -> None:
    lossy = FAST | {"blocks": {"uplink_bits": 1_000, "downlink_bits": 1_000, "error_rate": 0.3}}
    source = written(Path("s.yaml"), rounds=1, cells=[{"name": "hall", "profile": lossy}])
    compared = process("compare", f"./{source}", "--seeds", "1,2,3", "--timing-only", "--out", "out", **environment)
    shown = process("show", "out", **environment)
    for done in (compared, shown):
        assert done.returncode == 0, done.stderr
        assert b"Traceback" not in done.stderr
        text = done.stdout.decode("latin-1" if "latin-1" in environment.values() else "ascii")
        assert ("s ± " if "latin-1" in environment.values() else "s +- ") in text


def test_an_error_comes_out_on_a_terminal_that_knows_few_signs() -> None:
    done = process("run", "./Größe-±-工場.yaml", PYTHONIOENCODING="ascii")
    assert done.returncode == 2
    assert done.stderr == b"error: Groe?e-+--??.yaml: no such file\n"


@pytest.mark.parametrize(
    "command", some_of(("schema", "list profiles", "show quickstart", "--help"), kept=("schema", "--help"))
)
def test_a_reader_who_goes_away_ends_a_command_without_a_traceback(command: str) -> None:
    for shell in ("{} | true", "{} | head -c 1 > /dev/null", "{} > /dev/full"):
        line = shell.format(f"{sys.executable} -m hfedms_sim.cli {command}")
        done = subprocess.run(["bash", "-c", f"set -o pipefail; {line}"], capture_output=True, timeout=120)
        assert b"Traceback" not in done.stderr
        assert b"Exception ignored" not in done.stderr
        assert len(done.stderr.splitlines()) <= 1


def test_outputs_that_are_closed_end_in_no_traceback() -> None:
    for closing in (">&-", "2>&-", ">&- 2>&-"):
        line = f"{sys.executable} -m hfedms_sim.cli list strategies {closing}"
        done = subprocess.run(["bash", "-c", line], capture_output=True, timeout=120)
        assert b"Traceback" not in done.stdout + done.stderr


@pytest.mark.thorough
@pytest.mark.parametrize("is_absolute", [False, True])
def test_everything_works_in_a_directory_whose_name_is_no_text(
    is_absolute: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    place = tmp_path / NO_TEXT
    place.mkdir()
    monkeypatch.chdir(place)
    prefix = f"{place}/" if is_absolute else ""
    source = written(Path("s.yaml"), rounds=2)
    out, camp = f"{prefix}out", f"{prefix}camp"
    for command in (
        ("check", f"./{source}"),
        ("run", f"./{source}", "--out", out, "--quiet"),
        ("run", f"./{source}", "--out", out, "--quiet", "--resume"),
        ("run", f"./{source}", "--out", f"{prefix}more", "--quiet", "--learn-from", out),
        ("show", out),
        ("explain", out, "--no-what-ifs"),
        ("report", out, "--quiet"),
        ("plot", out, "--kind", "utilisation", "--out", f"{prefix}x.svg"),
        ("trace", out, "--format", "csv"),
        ("trace", out, "--format", "parquet"),
        ("trace", out, "--format", "perfetto"),
        ("compare", f"./{source}", "--timing-only", "--out", camp, "--quiet"),
        ("compare", f"./{source}", "--timing-only", "--out", camp, "--quiet", "--resume"),
        ("show", camp),
        ("report", camp, "--quiet"),
    ):
        done = hfedms_sim(*command)
        assert done.exit_code == 0, done.output
    assert (place / "out" / "trace-csv" / "rounds.csv").is_file()


def test_a_long_argument_is_not_repeated_in_full() -> None:
    line = refused("run", "quickstart", "--seed", "1" * 5_000)
    assert line.startswith("error: Invalid value for '--seed'")
    assert " ... " in line


def test_an_error_that_nobody_foresaw_is_one_line_and_shown_to_who_asks(monkeypatch: pytest.MonkeyPatch) -> None:
    from click.testing import CliRunner

    from hfedms_sim.cli import main

    def broken(*_: object, **__: object) -> None:
        raise KeyError("lost\x1b[31m")

    run(tiny_scenario(rounds=1), out="out", timing_only=True)
    monkeypatch.setattr("hfedms_sim.simulation.opening.open_known_run", broken)
    monkeypatch.delenv(TRACEBACK, raising=False)
    done = CliRunner().invoke(main, ["trace", "out", "--format", "csv"])
    assert done.exit_code == 1
    (line,) = done.stderr.splitlines()
    assert line.startswith("error: KeyError: ")
    assert OWN_MISTAKE in line
    with pytest.raises(KeyError):
        hfedms_sim("trace", "out", "--format", "csv")
