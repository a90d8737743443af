"""Accuracy, loss and percentiles by hand."""

import numpy as np
import pytest
import torch
from numpy.typing import NDArray
from torch.nn import functional

from hfedms_sim.learning.evaluation import Evaluator
from hfedms_sim.learning.networks import StackNetwork
from tests.learning.tiny_factory import SPEC, START, parts

pytestmark = pytest.mark.usefixtures("every_engine")

SIZES = [70, 0, 1, 30]


class SensorImages:
    """Sensors with very different test parts, one of them without a test sample."""

    def test_inputs(self, sensor: int) -> NDArray[np.float32]:
        return np.random.default_rng(sensor).random((SIZES[sensor], 1, 28, 28), dtype=np.float32)

    def test_labels(self, sensor: int) -> NDArray[np.int64]:
        return np.random.default_rng(100 + sensor).integers(0, 3, SIZES[sensor])


class NoImages:
    def test_inputs(self, sensor: int) -> NDArray[np.float32]:
        return np.empty((0, 1, 28, 28), dtype=np.float32)

    def test_labels(self, sensor: int) -> NDArray[np.int64]:
        return np.empty(0, dtype=np.int64)


def test_accuracy_and_loss_are_means_over_all_samples_and_percentiles_over_sensors() -> None:
    network = StackNetwork(SPEC)
    network.load(START)
    weights = dict(START)
    weights["classifier.bias"] = torch.tensor([1.0 * (label < 3) for label in range(62)])
    network.load(weights)
    metrics = Evaluator(parts().engine.logits, SensorImages(), len(SIZES)).evaluate(weights)
    source, correct, losses, of_sensor = SensorImages(), [], [], []
    for sensor, size in enumerate(SIZES):
        if size:
            logits = network(torch.from_numpy(source.test_inputs(sensor)))
            labels = torch.from_numpy(source.test_labels(sensor))
            right = (logits.argmax(dim=1) == labels).double()
            correct += right.tolist()
            of_sensor.append(float(right.mean()))
            losses += functional.cross_entropy(logits, labels, reduction="none").tolist()
    assert 0 < metrics.accuracy < 1  # type: ignore[operator]
    assert metrics.accuracy == pytest.approx(np.mean(correct))
    assert metrics.loss == pytest.approx(np.mean(losses), rel=1e-5)
    assert metrics[2:5] == pytest.approx(np.percentile(of_sensor, [10, 50, 90]))


def test_without_test_data_there_are_no_metrics() -> None:
    metrics = Evaluator(parts().engine.logits, NoImages(), 3).evaluate(START)
    assert metrics.accuracy is None
    assert metrics.loss is None
