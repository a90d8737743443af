"""RunResult: costs to an accuracy, the model, what it answers, and how a notebook shows it."""

import subprocess
import sys
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from hfedms_sim.data import open_dataset
from hfedms_sim.errors import InputError
from hfedms_sim.loading import load_scenario
from hfedms_sim.result import RunResult
from hfedms_sim.simulation import open_run, run
from tests.conftest import tiny_scenario, without_checksums

SMALL = {
    "model": "tiny-mlp",
    "sensors.count": 12,
    "targets": [0.06, 0.1, 0.99],
    "strategy": {"name": "fedavg", "learning_rate": 0.1, "sample_ratio": 1.0},
}


@pytest.fixture(scope="module")
def in_memory() -> RunResult:
    return run(load_scenario("quickstart", rounds=8, overrides=SMALL))


@pytest.fixture(scope="module")
def on_disk(tmp_path_factory: pytest.TempPathFactory) -> RunResult:
    out = tmp_path_factory.mktemp("runs") / "one"
    run(load_scenario("quickstart", rounds=8, overrides=SMALL), out=out)
    return open_run(out)


@pytest.fixture(scope="module")
def timed() -> RunResult:
    return run(tiny_scenario(), timing_only=True)


def test_costs_to_an_accuracy_are_those_of_the_summary(in_memory: RunResult) -> None:
    reached = [target for target in in_memory.summary["targets"] if target["round"] is not None]
    assert len(reached) == 2
    for target in in_memory.summary["targets"]:
        accuracy = target["accuracy"]
        assert in_memory.time_to_accuracy(accuracy) == target["simulated_s"]
        assert in_memory.bytes_to_accuracy(accuracy) == target["bytes"]
        expected_j = None if target["energy_j"] is None else pytest.approx(target["energy_j"])
        assert in_memory.energy_to_accuracy_j(accuracy) == expected_j


def test_no_joules_are_known_where_the_radio_has_no_currents(on_disk: RunResult) -> None:
    unknown = RunResult(
        on_disk.scenario, on_disk.summary, on_disk.provenance, {"rounds": on_disk.arrow("rounds").drop(["energy_j"])}
    )
    unknown.rounds["energy_j"] = float("nan")
    assert unknown.energy_to_accuracy_j(0.06) is None
    assert unknown.bytes_to_accuracy(0.06) == on_disk.bytes_to_accuracy(0.06)


def test_a_run_without_training_reaches_no_accuracy(timed: RunResult) -> None:
    assert (timed.time_to_accuracy(0), timed.bytes_to_accuracy(0), timed.energy_to_accuracy_j(0)) == (None, None, None)


def test_a_run_in_memory_has_the_model_that_one_on_disk_has(in_memory: RunResult, on_disk: RunResult) -> None:
    assert in_memory.weights().keys() == on_disk.weights().keys()
    for name, array in on_disk.weights().items():
        np.testing.assert_array_equal(in_memory.weights()[name], array)


def test_the_model_is_read_without_torch(on_disk: RunResult) -> None:
    code = (
        "import sys; from hfedms_sim import open_run;"
        "print(len(open_run(sys.argv[1]).weights()), 'torch' in sys.modules)"
    )
    said = subprocess.run([sys.executable, "-c", code, str(on_disk.directory)], capture_output=True, text=True)
    assert said.stdout.split() == [str(len(on_disk.weights())), "False"], said.stderr


def test_a_run_without_training_has_no_model_and_says_so(timed: RunResult, tmp_path: Path) -> None:
    for call in (timed.weights, timed.predictions, timed.confusion_matrix):
        with pytest.raises(InputError, match="tiny: has no model, it was not trained"):
            call()


def test_a_damaged_model_is_one_line(tmp_path: Path) -> None:
    run(tiny_scenario(rounds=1), out=tmp_path / "out")
    (without_checksums(tmp_path / "out") / "learning" / "model.safetensors").write_bytes(b"x")
    with pytest.raises(InputError, match=r"model\.safetensors: damaged"):
        open_run(tmp_path / "out").weights()


def test_predictions_are_of_all_test_data_and_as_good_as_the_run_says(on_disk: RunResult) -> None:
    scenario, found = on_disk.scenario, on_disk.predictions()
    assert list(found) == ["sensor", "label", "predicted"]
    data = open_dataset(scenario.data, sensors=12, types=scenario.sensors.types, seed=scenario.seed)
    for sensor, own in found.groupby("sensor"):
        assert own["label"].tolist() == data.test_labels(int(str(sensor))).tolist()
    assert found["sensor"].nunique() == 12
    assert (found["label"] == found["predicted"]).mean() == on_disk.summary["final_accuracy"]


def test_a_run_in_memory_predicts_what_one_on_disk_predicts(in_memory: RunResult, on_disk: RunResult) -> None:
    pd.testing.assert_frame_equal(in_memory.predictions(), on_disk.predictions())


def test_who_changes_predictions_changes_a_copy(on_disk: RunResult) -> None:
    on_disk.predictions()["predicted"] = -1
    assert (on_disk.predictions()["predicted"] >= 0).all()


def test_accuracies_and_the_confusion_matrix_count_the_same_answers(on_disk: RunResult) -> None:
    found, matrix = on_disk.predictions(), on_disk.confusion_matrix()
    assert matrix.to_numpy().sum() == len(found)
    assert list(matrix.index) == list(matrix.columns)
    for label, accuracy in on_disk.accuracy_by_class().items():
        own = found[found["label"] == label]
        assert accuracy == (own["predicted"] == label).sum() / len(own)
        assert matrix.loc[label].sum() == len(own)
        assert matrix.loc[label, label] == (own["predicted"] == label).sum()
    last = on_disk.rounds.iloc[-1]
    percentiles = np.percentile(on_disk.accuracy_by_sensor(), [10, 50, 90])
    np.testing.assert_allclose(percentiles, last[["accuracy_p10", "accuracy_p50", "accuracy_p90"]].astype(float))


def test_a_run_is_shown_in_one_line(timed: RunResult, in_memory: RunResult) -> None:
    assert repr(timed).startswith("RunResult(tiny: hfedms-d over fast, rounds 6 of 6, simulated time ")
    assert repr(timed).endswith(", accuracy not measured)")
    assert f"accuracy {in_memory.summary['final_accuracy']:.3f})" in repr(in_memory)
    assert "\n" not in repr(in_memory)


def test_a_notebook_shows_a_table_whose_text_is_escaped(timed: RunResult) -> None:
    evil = RunResult(timed.scenario, timed.summary | {"profile": "<script>x</script>"}, timed.provenance, timed.tables)
    html = evil._repr_html_()
    assert html.startswith("<table>")
    assert html.count("<tr>") == 3
    assert "&lt;script&gt;" in html
    assert "<script>" not in html
