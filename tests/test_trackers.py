"""The recipes for trackers of experiments, each read back from what it has written.

`make trackers` installs the trackers; without them there is nothing to test.
"""

import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

EXAMPLES = Path(__file__).resolve().parent.parent / "examples"
SPENT = {"simulated_s", "uplink_bytes", "downlink_bytes", "energy_j", "updated_parameters"}
MEASURED = {"accuracy", "loss"}
Curves = dict[str, dict[int, float]]
"""Name -> round -> figure."""


def told_by(recipe: str, directory: Path) -> Curves:
    """Run a recipe as somebody would, and return what the table of rounds of its result has of each figure."""
    code = f"import runpy; runpy.run_path({str(EXAMPLES / recipe)!r})['result'].rounds.to_parquet('rounds.parquet')"
    settings = {"OMP_NUM_THREADS": "1", "PYTHONPATH": str(EXAMPLES.parent), "MLFLOW_LOGGING_LEVEL": "ERROR"}
    program = [sys.executable, "-W", "error", "-c", code]
    said = subprocess.run(
        program, cwd=directory, env=os.environ | settings, capture_output=True, text=True, check=False
    )
    assert (said.returncode, said.stderr) == (0, "")
    assert said.stdout.startswith("RunResult(quickstart: hfedms-d over lte-cat-m2, rounds 12 of 12")
    rounds = pd.read_parquet(directory / "rounds.parquet").set_index("round")
    spent = rounds[sorted(SPENT - {"simulated_s"})].cumsum().assign(simulated_s=rounds["end_s"])
    figures = {name: column.astype(float).dropna() for name, column in spent.join(rounds[sorted(MEASURED)]).items()}
    assert [len(figures[name]) for name in sorted(MEASURED)] == [4, 4]
    return {str(name): {int(number): value for number, value in column.items()} for name, column in figures.items()}


@pytest.mark.filterwarnings("default")
def test_tensorboard_has_every_figure_of_the_run_by_round_and_simulated_time(tmp_path: Path) -> None:
    reading = pytest.importorskip("tensorboard.backend.event_processing.event_accumulator", reason="no TensorBoard")
    told = told_by("log_to_tensorboard.py", tmp_path)
    written = reading.EventAccumulator(str(tmp_path / "runs" / "tensorboard" / "quickstart-hfedms-d-seed1")).Reload()
    assert set(written.Tags()["scalars"]) == SPENT | MEASURED
    for name, figures in told.items():
        points = written.Scalars(name)
        expected = {number: float(np.float32(figure)) for number, figure in figures.items()}  # TensorBoard's precision
        assert {point.step: point.value for point in points} == expected, name
        assert [point.wall_time for point in points] == [told["simulated_s"][point.step] for point in points]


@pytest.mark.filterwarnings("default")
def test_mlflow_has_every_figure_of_the_run_by_round_and_its_settings(tmp_path: Path) -> None:
    tracking = pytest.importorskip("mlflow.tracking", reason="no MLflow")
    told = told_by("log_to_mlflow.py", tmp_path)
    store = tracking.MlflowClient(f"sqlite:///{tmp_path / 'runs' / 'mlflow.db'}")
    experiment = store.get_experiment_by_name("quickstart")
    (run,) = store.search_runs([experiment.experiment_id])
    assert run.info.status == "FINISHED"
    assert run.data.params["name"] == "hfedms-d"
    assert run.data.params["profile"] == "lte-cat-m2"
    assert run.data.metrics.keys() == SPENT | MEASURED
    for name, figures in told.items():
        history = store.get_metric_history(run.info.run_id, name)
        assert {point.step: point.value for point in history} == figures, name
