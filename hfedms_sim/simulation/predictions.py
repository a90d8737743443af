"""What a run's model answers to every test sample of the data set, sensor by sensor.

The data set is opened again, and the answers are computed as in the run's own evaluation. Loads torch.
"""

from collections.abc import Mapping
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from hfedms_sim.data import Batches
from hfedms_sim.result import RunResult
from hfedms_sim.scenario import Scenario
from hfedms_sim.seeds import Draws
from hfedms_sim.simulation.engines import engine_of
from hfedms_sim.simulation.parts import Parts, parts_of


def predictions_of(result: RunResult, parts: Parts | None = None) -> pd.DataFrame:
    """Return sensor, label and predicted label of every test sample, in the order of the sensors.

    `parts` is what the scenario's names stand for, where that is open already.
    """
    scenario, weights = result.scenario, result.weights()
    parts = parts or parts_of(scenario)
    sensors = range(scenario.sensors.count)
    labels = [parts.dataset.test_labels(sensor) for sensor in sensors]
    inputs = np.concatenate([parts.dataset.test_inputs(sensor) for sensor in sensors])
    return pd.DataFrame(
        {
            "sensor": np.repeat(np.arange(len(labels)), [len(each) for each in labels]),
            "label": np.concatenate(labels).astype(np.int64),
            "predicted": _answers(scenario, parts, weights, inputs) if len(inputs) else np.zeros(0, np.int64),
        }
    )


def _answers(
    scenario: Scenario, parts: Parts, weights: Mapping[str, NDArray[Any]], inputs: NDArray[np.float32]
) -> NDArray[np.int64]:
    """Return the label that a model with these weights gives to each sample."""
    from hfedms_sim.learning import computing_with  # here: it loads torch
    from hfedms_sim.learning.networks import as_tensor
    from hfedms_sim.learning.state import array_of, tensor_of
    from hfedms_sim.strategies.learners import make_learner

    batches = Batches(parts.dataset, Draws(scenario.seed), scenario.stream.batch)
    with computing_with(threads=1, device="cpu"):
        learner = make_learner(scenario, parts.model, batches, engine_of(scenario, parts.model))
        tensors = {name: tensor_of(values) for name, values in weights.items()}
        answers: NDArray[np.int64] = array_of(learner.logits(tensors, as_tensor(inputs)).argmax(dim=1))
    return answers
