"""Strategies from outside the package: copies of shipped ones behave alike, edited ones differ, bad ones refused."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pandas as pd
import pytest

import hfedms_sim
from hfedms_sim.simulation import open_run

SOURCE = Path(hfedms_sim.__file__).parent / "strategies"
SMALL = ["--rounds", "7", "--set", "sensors.count=12", "--set", "model=tiny-mlp", "--set", "evaluate_every=7"]
COPIES: dict[str, tuple[str, dict[str, str]]] = {
    "fedprox": ("fedprox", {}),
    "hfedms": ("hfedms-d", {"strategy.beta": "2", "strategy.interval": "3"}),
}


def copied(directory: Path, module: str) -> None:
    """Write a shipped strategy with its learner as modules of one's own, under another name."""
    plan = (SOURCE / f"{module}.py").read_text()
    for name in ("fedprox", "hfedms-s", "hfedms-d"):
        plan = plan.replace(f'["{name}"] = "{name}"', f'["my-{name}"] = "my-{name}"')
    plan = plan.replace(f"hfedms_sim.strategies.learners.{module}:", f"my_{module}_learner:")
    (directory / f"my_{module}.py").write_text(plan)
    learner = (SOURCE / "learners" / f"{module}.py").read_text()
    (directory / f"my_{module}_learner.py").write_text(
        learner.replace(f"from hfedms_sim.strategies.{module} import", f"from my_{module} import")
    )


def command(directory: Path, *arguments: str) -> "subprocess.CompletedProcess[str]":
    environment = os.environ | {"OMP_NUM_THREADS": "1"}
    program = [sys.executable, "-m", "hfedms_sim.cli", *arguments]
    return subprocess.run(program, cwd=directory, env=environment, capture_output=True, text=True, check=False)


def played(directory: Path, strategy: str, out: str, *before: str, **settings: str) -> Path:
    changes = [part for key, value in settings.items() for part in ("--set", f"{key}={value}")]
    ended = command(
        directory, *before, "run", "paper-stream", "--strategy", strategy, *SMALL, *changes, "--out", out, "--quiet"
    )
    assert ended.returncode == 0, ended.stderr
    return directory / out


def tables(run: Path) -> dict[str, pd.DataFrame]:
    names = ("rounds", "transfers", "work", "captures")
    return {name: pd.read_parquet(run / f"{name}.parquet").drop(columns="lineage", errors="ignore") for name in names}


@pytest.mark.thorough
@pytest.mark.parametrize("module", COPIES)
def test_a_copy_of_a_shipped_strategy_brought_from_outside_gives_the_same_tables_and_weights(
    tmp_path: Path, module: str
) -> None:
    name, settings = COPIES[module]
    copied(tmp_path, module)
    shipped = played(tmp_path, name, "shipped", **settings)
    brought = played(tmp_path, f"my-{name}", "brought", "--import", f"my_{module}", **settings)
    for table, content in tables(shipped).items():
        pd.testing.assert_frame_equal(tables(brought)[table], content)
    weights = [(run / "learning" / "model.safetensors").read_bytes() for run in (shipped, brought)]
    assert weights[0] == weights[1]


@pytest.mark.thorough
def test_an_edited_strategy_has_another_lineage_and_its_absence_is_one_line(tmp_path: Path) -> None:
    copied(tmp_path, "fedprox")
    first = played(tmp_path, "my-fedprox", "first", "--import", "my_fedprox")
    learner = tmp_path / "my_fedprox_learner.py"
    learner.write_text(learner.read_text() + "\n# another edition\n")
    second = played(tmp_path, "my-fedprox", "second", "--import", "my_fedprox")
    lineages = [json.loads((run / "summary.json").read_text())["lineage"] for run in (first, second)]
    assert lineages[0] != lineages[1]
    plotted = command(tmp_path, "--import", "my_fedprox", "plot", "first", "second", "--out", "both.png")
    assert plotted.returncode == 0, plotted.stderr
    missing = command(tmp_path, "plot", "first", "--out", "first.png")
    assert missing.returncode == 2
    assert missing.stderr.count("\n") == 1
    assert "my_fedprox:FedProx" in missing.stderr
    with pytest.raises(hfedms_sim.errors.InputError, match="or import my_fedprox"):  # type: ignore[attr-defined]
        open_run(first)


BAD = {
    "raises": ("1 / 0", "bad_raises: cannot be imported (ZeroDivisionError"),
    "taken": (
        "from hfedms_sim.strategies.fedavg import *\n"
        "class Mine(Averaging):\n    paper = rule = ''\n    Settings = FedAvgSettings\n",
        "strategy 'fedavg': is defined twice",
    ),
    "signature": (
        "from typing import Literal\nfrom hfedms_sim.strategies.fedavg import *\n"
        "class S(AveragingSettings):\n    name: Literal['mine'] = 'mine'\n"
        "class Mine(Averaging):\n    Settings = S\n    def plan(self, state):\n        return None\n",
        "bad_signature:Mine: plan cannot be called",
    ),
    "bytes": (
        "from dataclasses import replace\nfrom typing import Literal\nfrom hfedms_sim.strategies.fedavg import *\n"
        "from hfedms_sim.rounds import Payload\n"
        "class S(AveragingSettings):\n    name: Literal['mine'] = 'mine'\n"
        "class Mine(Averaging):\n    Settings = S\n    def plan(self, state, context):\n"
        "        return replace(super().plan(state, context), payload=Payload('model', -1))\n",
        "bad_bytes:Mine: plan sends -1 bytes",
    ),
    "settings": (
        "from hfedms_sim.strategies.fedavg import *\nclass Mine(Averaging):\n    Settings = dict\n",
        "bad_settings:Mine: Settings must",
    ),
}


@pytest.mark.parametrize("kind", BAD)
def test_a_bad_module_is_refused_in_one_line_that_names_it(tmp_path: Path, kind: str) -> None:
    code, said = BAD[kind]
    (tmp_path / f"bad_{kind}.py").write_text(code)
    ended = command(tmp_path, "--import", f"bad_{kind}", "run", "quickstart", "--strategy", "mine", "--timing-only")
    assert ended.returncode == 2, ended.stderr
    assert [line for line in ended.stderr.splitlines() if line.startswith("error: ")] == ended.stderr.splitlines()[-1:]
    assert "Traceback" not in ended.stderr
    assert said in ended.stderr


def test_a_strategy_that_is_defined_again_as_in_a_notebook_is_the_last_one(tmp_path: Path) -> None:
    cell = (
        "class S(AveragingSettings):\n    name: Literal['mine'] = 'mine'\n    edition: int = {0}\n"
        "class Mine(Averaging):\n    Settings = S\n    paper = rule = 'none'\n"
    )
    (tmp_path / "notebook.py").write_text(
        "from typing import Literal\nfrom hfedms_sim import load_scenario\n"
        "from hfedms_sim.strategies.fedavg import Averaging, AveragingSettings\n"
        f"{cell.format(1)}first = Mine\n{cell.format(2)}"
        "print(load_scenario('quickstart', strategy='mine').strategy.edition)\n"
    )
    ended = subprocess.run([sys.executable, "notebook.py"], cwd=tmp_path, capture_output=True, text=True, check=False)
    assert (ended.stdout, ended.returncode) == ("2\n", 0), ended.stderr
