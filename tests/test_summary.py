"""A run whose summary.json somebody else wrote: one line that names the key, whoever reads it."""

import json
import shutil
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from hfedms_sim import open_run, run
from hfedms_sim.cli import main
from hfedms_sim.summary import checked_summary
from tests.conftest import tiny_scenario, without_checksums


@pytest.fixture(scope="module")
def finished(tmp_path_factory: pytest.TempPathFactory) -> Path:
    place = tmp_path_factory.mktemp("summary") / "run"
    run(tiny_scenario(), timing_only=True, out=place)
    return place


FOREIGN: list[tuple[dict[str, Any], str]] = [
    ({"simulated_s": "long"}, "simulated_s"),
    ({"targets": None}, "targets"),
    ({"limited_by": {"cause": "x"}}, "limited_by"),
    ({"energy_by_state": {"transmit": "lots"}}, "energy_by_state.transmit"),
    ({"bytes": 7}, "bytes"),
    ({"cells": [{"name": "hall"}]}, "cells.0.sensors"),
    ({"stopped": "tired"}, "stopped"),
]
COMMANDS = (["explain", "--no-what-ifs"], ["report", "--out", "x.html"], ["show"],
            ["plot", "--kind", "utilisation", "--out", "x.png"])  # fmt: skip


@pytest.mark.parametrize("command", COMMANDS, ids=lambda command: command[0])
@pytest.mark.parametrize(("changes", "key"), FOREIGN, ids=lambda each: each if isinstance(each, str) else "")
def test_a_foreign_value_is_one_line_with_its_key(
    finished: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    changes: dict[str, Any],
    key: str,
    command: list[str],
) -> None:
    shutil.copytree(finished, tmp_path / "run")
    summary = json.loads((finished / "summary.json").read_text())
    (without_checksums(tmp_path / "run") / "summary.json").write_text(json.dumps(summary | changes))
    monkeypatch.chdir(tmp_path)
    result = CliRunner().invoke(main, [command[0], "run", *command[1:]])
    assert result.exit_code == 2
    assert f"summary.json: damaged ({key}" in result.stderr
    assert len(result.stderr.splitlines()) == 1


def test_another_object_is_no_summary(finished: Path) -> None:
    with pytest.raises(ValueError, match=r"^scenario: field required$"):
        checked_summary({"x": 1})


def test_the_summary_of_a_run_is_as_it_was_written(finished: Path) -> None:
    assert open_run(finished).summary == json.loads((finished / "summary.json").read_text())


def test_keys_of_later_versions_stay(finished: Path) -> None:
    summary = json.loads((finished / "summary.json").read_text())
    assert checked_summary(summary | {"later": [1, "two"]})["later"] == [1, "two"]


def test_control_characters_are_replaced(finished: Path) -> None:
    summary = json.loads((finished / "summary.json").read_text())
    assert (
        checked_summary(summary | {"strategy": "a\x1b[31mb\x9b"})["strategy"]
        == "a\N{REPLACEMENT CHARACTER}[31mb\N{REPLACEMENT CHARACTER}"
    )
