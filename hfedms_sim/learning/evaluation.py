"""Accuracy and loss of the global model on the test part of every sensor, and on the probe of forgetting."""

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor
from torch.nn import functional

from hfedms_sim.learning.networks import Weights, as_tensor
from hfedms_sim.learning.process import on_device
from hfedms_sim.learning.samples import SampleSource, TestSource, captured_samples
from hfedms_sim.lineage import Metrics
from hfedms_sim.rounds import RoundRecord


class Evaluator:
    """Keeps the test data in memory. A data set without any gives metrics of None."""

    def __init__(self, logits: Callable[[Weights, Tensor], Tensor], source: TestSource, sensors: int) -> None:
        self._logits = logits
        labels = [source.test_labels(sensor) for sensor in range(sensors)]
        self._sizes = np.array([len(each) for each in labels], dtype=np.int64)
        self._labels = on_device(torch.from_numpy(np.concatenate(labels)))
        self._inputs = as_tensor(np.concatenate([source.test_inputs(sensor) for sensor in range(sensors)]))

    @property
    def has_data(self) -> bool:
        return len(self._labels) > 0

    def evaluate(self, weights: Weights, probe: "Probe | None" = None) -> Metrics:
        probed = None if probe is None else float(self._test(weights, probe.inputs, probe.labels)[0].mean())
        if not self.has_data:
            return Metrics(None, None, None, None, None, probed)
        correct, losses = self._test(weights, self._inputs, self._labels)
        tested = self._sizes > 0
        ends = np.cumsum(self._sizes)
        right = np.concatenate([[0], np.cumsum(correct)])
        of_sensor = (right[ends] - right[ends - self._sizes])[tested] / self._sizes[tested]
        p10, p50, p90 = np.percentile(of_sensor, [10, 50, 90]).tolist()
        return Metrics(float(correct.mean()), float(losses.mean()), p10, p50, p90, probed)

    def _test(
        self, weights: Weights, inputs: Tensor, labels: Tensor
    ) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Return for each sample whether it was recognised, and its loss."""
        logits = self._logits(weights, inputs)
        correct = logits.argmax(dim=1) == labels
        losses = functional.cross_entropy(logits, labels, reduction="none")
        return correct.double().cpu().numpy(), losses.double().cpu().numpy()


class Probe(NamedTuple):
    """What one round was trained on: its accuracy ever after shows forgetting."""

    inputs: Tensor
    labels: Tensor

    @classmethod
    def of(cls, record: RoundRecord, source: SampleSource) -> "Probe | None":
        """Return what a round trained on, as a probe; None if nobody captured anything."""
        batches = [captured_samples(source, each) for each in record.participations if each.captured]
        if not batches:
            return None
        return cls(torch.cat([inputs for inputs, _ in batches]), torch.cat([labels for _, labels in batches]))
