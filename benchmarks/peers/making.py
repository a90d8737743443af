"""The workload from a scenario: what its first sensors capture first, and its network's initial weights."""

import numpy as np
import torch

from benchmarks.peers.workload import Workload
from hfedms_sim.data import Batches, open_dataset
from hfedms_sim.learning.networks import as_tensor, initial_weights
from hfedms_sim.loading import load_scenario
from hfedms_sim.models import spec_of
from hfedms_sim.seeds import Draws


def make_workload(clients: int, samples: int = 50) -> Workload:
    scenario = load_scenario("paper-stream", strategy="fedavg")
    draws = Draws(scenario.seed)
    sensors = scenario.sensors
    dataset = open_dataset(scenario.data, sensors=sensors.count, types=sensors.types, seed=scenario.seed)
    batches = Batches(dataset, draws, scenario.stream.batch, augment=scenario.stream.augment)
    first = ((0, samples),)
    return Workload(
        torch.stack([as_tensor(batches.inputs(client, first)) for client in range(clients)]),
        torch.from_numpy(np.stack([batches.labels(client, first) for client in range(clients)])),
        initial_weights(spec_of(scenario.model, dataset.shape), draws),
        scenario.strategy.learning_rate,
        scenario.strategy.batch_size,
    )
