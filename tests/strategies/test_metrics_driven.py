"""A strategy that plans by what the model has measured: trained runs have it, everything else says no in one line."""

import os
import subprocess
import sys
from pathlib import Path

import pandas as pd
import pytest

STRATEGY = '''
from typing import ClassVar, Literal
from hfedms_sim.strategies.fedavg import Averaging, AveragingSettings

class CautiousSettings(AveragingSettings):
    name: Literal["cautious"] = "cautious"

class Cautious(Averaging[CautiousSettings]):
    """Lets one sensor take part until the loss is known, and from then on as many as its whole part."""
    paper = rule = "none"
    Settings: ClassVar = CautiousSettings
    needs_metrics = True

    def participants(self, state, context):
        loss = context.metrics.get("loss")
        return super().participants(state, context)[: 1 if loss is None else 1 + int(loss)]
'''
RUN = [
    "run", "paper-stream", "--strategy", "cautious", "--rounds", "5", "--set", "sensors.count=20",
    "--set", "model=tiny-mlp", "--set", "evaluate_every=2",
]  # fmt: skip


def command(directory: Path, *arguments: str) -> "subprocess.CompletedProcess[str]":
    (directory / "cautious.py").write_text(STRATEGY)
    program = [sys.executable, "-m", "hfedms_sim.cli", "--import", "cautious", *arguments]
    environment = os.environ | {"OMP_NUM_THREADS": "1"}
    return subprocess.run(program, cwd=directory, env=environment, capture_output=True, text=True, check=False)


def test_without_training_it_is_refused_in_one_line(tmp_path: Path) -> None:
    ended = command(tmp_path, *RUN, "--timing-only", "--out", "run", "--quiet")
    assert ended.returncode == 2
    assert ended.stderr.count("\n") == 1
    assert "strategy.name = cautious: plans by what the model has measured" in ended.stderr
    assert "leave out --timing-only" in ended.stderr
    assert not (tmp_path / "run").exists()


def test_a_trained_run_plans_by_what_was_last_measured(tmp_path: Path) -> None:
    ended = command(tmp_path, *RUN, "--out", "run", "--quiet")
    assert ended.returncode == 0, ended.stderr
    rounds = pd.read_parquet(tmp_path / "run" / "rounds.parquet")
    measured = [1 if pd.isna(loss) else 1 + int(loss) for loss in rounds["loss"].shift(1).ffill()]
    assert rounds["participants"].tolist() == measured
    assert len(set(measured)) > 1


@pytest.mark.thorough
def test_a_trained_run_is_verified_but_cannot_be_replayed(tmp_path: Path) -> None:
    assert command(tmp_path, *RUN, "--out", "run", "--quiet").returncode == 0
    verified = command(tmp_path, "verify", "run")
    assert verified.returncode == 0, verified.stdout
    *_, why, end = verified.stdout.splitlines()
    assert why.startswith("note: run: cannot be replayed here: strategy.name = cautious: plans by what the model has")
    assert end == "ok"
