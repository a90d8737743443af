"""A training run as a process of its own, to be killed, and what must be the same however often it was."""

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

from click.testing import Result

from hfedms_sim.scenario import scenario_yaml
from hfedms_sim.trace import TABLES
from tests.conftest import tiny_scenario


def error_of(result: Result) -> str:
    """The one line of bad input."""
    assert result.exit_code == 2, result.output
    (line,) = result.stderr.strip().splitlines()
    assert line.startswith("error: ")
    return line


def write_scenario(path: Path, **changes: Any) -> Path:
    path.write_text(scenario_yaml(tiny_scenario(**changes)))
    return path


def started(scenario: Path, out: Path, *options: str) -> "subprocess.Popen[str]":
    command = [sys.executable, "-m", "hfedms_sim.cli", "run", str(scenario), "--out", str(out), "--quiet", *options]
    return subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)


def exit_code(process: "subprocess.Popen[str]") -> int:
    process.communicate()
    return process.returncode


def outcome(run: Path) -> dict[str, Any]:
    """Everything of a run directory that does not depend on wall time."""
    summary = json.loads((run / "summary.json").read_text())
    del summary["wall_s"]
    files = [f"{name}.parquet" for name in TABLES] + ["learning/model.safetensors", "scenario.yaml"]
    return {"summary": summary} | {name: (run / name).read_bytes() for name in files}
