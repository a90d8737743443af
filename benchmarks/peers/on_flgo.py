"""FLGo: its FedAvg on a benchmark made from a configuration file, as in its tutorials on customised tasks.

Everybody takes part in a round (`sample: full`), nothing is held out, nothing evaluated; `aggregate: uniform` spares
the scaled copy of each model that its default makes, for the same mean, as all clients have as many samples. Its
clients shuffle: the order in which the data set is asked for its samples is recorded, so that the outcome can be
checked. The exit condition, which FLGo asks before each round, is where the contest waits.
"""

import os
import sys
import tempfile
from importlib import import_module
from pathlib import Path

import flgo
import flgo.algorithm.fedavg
import torch
from flgo.benchmark.partition import BasicPartitioner
from flgo.benchmark.toolkits.cv.classification import FromDatasetPipe
from torch import Tensor

from benchmarks.peers.rounds import Rounds
from benchmarks.peers.workload import Outcome, Weights, Workload, load_workload

CONFIGURATION = Path(__file__).with_name("flgo_configuration.py")


class AsStored(BasicPartitioner):
    """Each client has its own samples, as they lie in the workload."""

    def __init__(self, workload: Workload) -> None:
        self.num_clients = workload.clients
        self._samples = workload.samples

    def __call__(self, dataset: object) -> list[list[int]]:
        return [list(range(n * self._samples, (n + 1) * self._samples)) for n in range(self.num_clients)]


def _fetch(samples: FromDatasetPipe.TaskDataset, numbers: list[int]) -> list[tuple[Tensor, int]]:
    return [samples[number] for number in numbers]


def main(directory: str) -> None:
    workload = load_workload()
    FromDatasetPipe.TaskDataset.__getitems__ = _fetch  # today's torch refuses a Subset without it; FLGo is older
    os.chdir(directory)
    sys.path.append(directory)
    rounds = Rounds(("flgo",))  # from here on, what FLGo prints does not go to the standard output
    name = flgo.gen_benchmark_from_file("workload", str(CONFIGURATION), data_type="cv", task_type="classification")
    benchmark = import_module(name)
    benchmark.visualize = lambda *_: None  # drawing who has which classes takes half a minute
    flgo.gen_task_by_(benchmark, AsStored(workload), "task")
    runner = flgo.init("task", flgo.algorithm.fedavg, _option(workload))
    visited: list[int] = import_module(f"{name}.config").train_data.visited

    def is_over(server: flgo.algorithm.fedavg.Server) -> bool:
        goes_on = rounds.between(lambda: Outcome(_weights(server), _order(visited, workload)))
        visited.clear()
        return not goes_on

    runner.register_exit_condition(is_over)
    runner.run()


def _option(workload: Workload) -> dict[str, object]:
    return {
        "sample": "full",
        "aggregate": "uniform",
        "num_epochs": 1,
        "batch_size": workload.batch_size,
        "learning_rate": workload.learning_rate,
        "train_holdout": 0.0,
        "eval_interval": -1,
        "no_tqdm": True,
    }


def _weights(server: flgo.algorithm.fedavg.Server) -> Weights:
    return {name.removeprefix("model."): value for name, value in server.model.named_parameters()}


def _order(visited: list[int], workload: Workload) -> Tensor:
    """FLGo trains one client after the other."""
    order = torch.tensor(visited).reshape(workload.clients, workload.samples)
    return order[order[:, 0].argsort()] % workload.samples


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as temporary:
        main(temporary)
