"""The command line as a user meets it."""

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from hfedms_sim.cli import main
from hfedms_sim.simulation import open_run
from tests.conftest import without_checksums


@pytest.fixture(autouse=True)
def _in_an_empty_directory(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def hfedms_sim(*arguments: str) -> Result:
    return CliRunner().invoke(main, arguments)


def one_error_line(result: Result) -> str:
    """The error, after checking that it is one line, exit code 2 and no traceback."""
    assert result.exit_code == 2
    assert isinstance(result.exception, SystemExit)
    lines = result.stderr.strip().splitlines()
    assert len(lines) == 1
    assert lines[0].startswith("error: ")
    return lines[0]


def test_a_run_ends_with_a_table_and_says_where_its_files_are() -> None:
    result = hfedms_sim("run", "quickstart", "--timing-only", "--rounds", "3")
    assert result.exit_code == 0
    for words in (
        "simulated time",
        "bytes up",
        "bytes down",
        "busiest cell",
        "saturated",
        "limited by",
        "runs/quickstart-001",
    ):
        assert words in result.stdout
    assert open_run(Path("runs/quickstart-001")).summary["rounds"] == 3


def test_every_run_gets_a_fresh_directory() -> None:
    for _ in range(2):
        hfedms_sim("run", "quickstart", "--timing-only", "--rounds", "1", "--quiet")
    assert sorted(path.name for path in Path("runs").iterdir()) == ["quickstart-001", "quickstart-002"]


def test_quiet_prints_nothing() -> None:
    result = hfedms_sim("run", "quickstart", "--timing-only", "--rounds", "2", "--quiet")
    assert result.output == ""


def test_progress_is_plain_lines_where_there_is_no_terminal() -> None:
    result = hfedms_sim("run", "quickstart", "--timing-only", "--rounds", "20")
    assert [line.split(",")[0] for line in result.stderr.splitlines()[2:]] == [f"round {n}/20" for n in range(2, 21, 2)]
    assert "\x1b" not in result.output


def test_options_change_the_scenario() -> None:
    hfedms_sim("run", "quickstart", "--timing-only", "--out", "out", "--profile", "ethernet", "--strategy", "fedavg",
               "--rounds", "2", "--seed", "7", "--set", "sensors.count=9", "--quiet")  # fmt: skip
    scenario = open_run(Path("out")).scenario
    assert (scenario.profile_names, scenario.strategy.name, scenario.rounds) == ("ethernet", "fedavg", 2)
    assert (scenario.seed, scenario.sensors.count) == (7, 9)


def test_an_existing_directory_is_refused_and_left_alone() -> None:
    Path("out").mkdir()
    Path("out/keep.txt").write_text("mine")
    assert "exists already" in one_error_line(hfedms_sim("run", "quickstart", "--timing-only", "--out", "out"))
    assert [path.name for path in Path("out").iterdir()] == ["keep.txt"]
    Path("file").write_text("mine")
    assert "exists already" in one_error_line(hfedms_sim("run", "quickstart", "--timing-only", "--out", "file"))
    assert "cannot be created" in one_error_line(hfedms_sim("run", "quickstart", "--timing-only", "--out", "file/out"))


def test_a_trained_run_prints_what_each_target_took() -> None:
    output = hfedms_sim("run", "quickstart", "--rounds", "2", "--set", "model=tiny-mlp").stdout
    assert "not reached in 2 rounds" in output
    assert "at the end" in output
    assert Path("runs/quickstart-001/learning/model.safetensors").exists()


def test_runs_are_drawn_and_compared(tmp_path: Path) -> None:
    for strategy in ("fedavg", "hfedms-d"):
        changes = ("--set", "model=tiny-mlp", "--set", "targets=[0.01]", "--rounds", "3", "--strategy", strategy)
        hfedms_sim("run", "quickstart", *changes, "--out", strategy, "--quiet")
    for against in ("time", "bytes", "energy", "parameters", "rounds"):
        drawn = hfedms_sim("plot", "fedavg", "hfedms-d", "--against", against, "--out", f"{against}.png")
        assert drawn.exit_code == 0, drawn.output
        assert "Until the model was good enough" in drawn.stdout
        assert Path(f"{against}.png").read_bytes().startswith(b"\x89PNG")


def test_a_timing_only_run_has_nothing_to_draw() -> None:
    hfedms_sim("run", "quickstart", "--timing-only", "--rounds", "2", "--out", "timed", "--quiet")
    assert "nothing to plot" in one_error_line(hfedms_sim("plot", "timed", "--out", "timed.png"))
    assert not Path("timed.png").exists()


def test_resume_completes_a_run_and_refuses_another_or_none() -> None:
    hfedms_sim("run", "quickstart", "--timing-only", "--rounds", "2", "--out", "out", "--quiet")
    Path("out/summary.json").unlink()
    same = ("run", "quickstart", "--timing-only", "--rounds", "2", "--resume", "--quiet")
    assert hfedms_sim(*same, "--out", "out").exit_code == 0
    assert Path("out/summary.json").exists()
    assert "another seed" in one_error_line(hfedms_sim(*same, "--out", "out", "--seed", "2"))
    assert "no run to resume" in one_error_line(hfedms_sim(*same, "--out", "nothing"))
    assert "--resume needs --out" in one_error_line(hfedms_sim(*same))


@pytest.mark.parametrize("trace_format", ["csv", "parquet", "perfetto"])
def test_a_trace_is_exported_once_and_never_overwritten(trace_format: str) -> None:
    hfedms_sim("run", "quickstart", "--timing-only", "--rounds", "2", "--out", "out", "--quiet")
    first = hfedms_sim("trace", "out", "--format", trace_format)
    assert first.exit_code == 0
    assert Path(first.stdout.strip()).exists()
    assert "exists already" in one_error_line(hfedms_sim("trace", "out", "--format", trace_format))
    assert hfedms_sim("trace", "out", "--format", trace_format, "--out", "new/place").exit_code == 0


def test_a_trace_of_something_else_is_refused() -> None:
    assert "no such run directory" in one_error_line(hfedms_sim("trace", "nothing", "--format", "csv"))
    Path("empty").mkdir()
    assert "not a finished run" in one_error_line(hfedms_sim("trace", "empty", "--format", "csv"))
    hfedms_sim("run", "quickstart", "--timing-only", "--rounds", "1", "--out", "out", "--quiet")
    (without_checksums(Path("out")) / "work.parquet").write_bytes(b"PAR1 damaged")
    assert "work.parquet: damaged" in one_error_line(hfedms_sim("trace", "out", "--format", "csv"))
    Path("out/summary.json").write_text("{")
    assert "damaged" in one_error_line(hfedms_sim("trace", "out", "--format", "csv"))


@pytest.mark.parametrize("what", ["scenarios", "profiles", "strategies", "models"])
def test_list_names_what_is_shipped(what: str) -> None:
    expected = {"scenarios": "paper-stream", "profiles": "lte-cat-m2-paper", "strategies": "hfedms-d"}
    expected["models"] = "6,687,834"
    assert expected[what] in hfedms_sim("list", what).stdout


def test_show_prints_figures_with_sources_settings_with_defaults_and_scenarios_in_full() -> None:
    assert "mbedded.ninja" in hfedms_sim("show", "lte-cat-m2").stdout
    assert "strategy.interval" in hfedms_sim("show", "hfedms-d").stdout
    assert "sample_ratio: 0.3" in hfedms_sim("show", "quickstart").stdout
    Path("p.yaml").write_text("{name: mine, uplink_bps: 1, downlink_bps: 1}")
    assert "mine" in hfedms_sim("show", "p.yaml").stdout
    assert "Did you mean 'quickstart'?" in one_error_line(hfedms_sim("show", "quikstart"))


def test_check_says_ok_or_what_is_wrong() -> None:
    good = hfedms_sim("check", "quickstart", "ethernet")
    assert (good.exit_code, good.stdout.count(": ok")) == (0, 2)
    Path("bad.yaml").write_text("{name: x, rounds: 0, cells: []}")
    bad = hfedms_sim("check", "quickstart", "bad.yaml")
    assert bad.exit_code == 2
    assert [line for line in bad.stderr.splitlines() if not line.startswith("quickstart: a run takes about ")] == [
        "error: bad.yaml: rounds = 0: must be at least 1",
        "error: bad.yaml: cells = []: needs at least 1",
    ]


def test_schema_is_json() -> None:
    assert json.loads(hfedms_sim("schema").stdout)["title"] == "hfedms_sim scenario"


def test_ctrl_c_leaves_a_resumable_directory_and_exits_with_130() -> None:
    command = [sys.executable, "-m", "hfedms_sim.cli", "run", "paper-stream", "--timing-only", "--strategy", "fedavg",
               "--rounds", "100000", "--out", "out"]  # fmt: skip
    process = subprocess.Popen(command, stderr=subprocess.PIPE, env=os.environ | {"PYTHONUNBUFFERED": "1"}, text=True)
    while not Path("out/.transfers.parquet.part").exists():
        assert process.poll() is None
        time.sleep(0.05)
    time.sleep(0.5)
    process.send_signal(signal.SIGINT)
    _, errors = process.communicate(timeout=60)
    assert process.returncode == 130
    assert "--out out --resume" in errors.splitlines()[-1]
    assert "Traceback" not in errors
    assert {path.name for path in Path("out").iterdir()} == {"scenario.yaml", "provenance.json", "learning"}


def test_help_does_not_load_what_only_a_run_needs() -> None:
    code = (
        "import sys; from hfedms_sim.cli import main\n"
        "main(['--help'], standalone_mode=False)\n"
        "heavy = {'numpy', 'pandas', 'pyarrow', 'simpy', 'pydantic', 'rich', 'torch'} & set(sys.modules)\n"
        "sys.exit(f'loaded {heavy}' if heavy else 0)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr


def test_no_command_prints_the_help() -> None:
    result = hfedms_sim()
    assert result.exit_code == 0
    assert "Commands:" in result.stdout


@pytest.mark.parametrize("arguments", [("bogus",), ("run",), ("run", "quickstart", "--rounds", "x"), ("list", "what")])
def test_wrong_usage_is_one_line(arguments: tuple[str, ...]) -> None:
    assert "hfedms-sim --help" in one_error_line(hfedms_sim(*arguments))


def test_brackets_in_a_file_are_text_and_long_lines_stay_whole() -> None:
    Path("p.yaml").write_text(
        "{name: p, uplink_bps: 1, downlink_bps: 1, sources: {uplink_bps: 'see [/x] and [rfc 7668]'}}"
    )
    assert "see [/x] and [rfc 7668]" in hfedms_sim("show", "p.yaml").stdout
    Path("s.yaml").write_text(f"{{name: s, description: {'x' * 500}, cells: [{{name: a, profile: ethernet}}]}}")
    Path("shown.yaml").write_text(hfedms_sim("show", "s.yaml").stdout)
    assert hfedms_sim("check", "shown.yaml").exit_code == 0
