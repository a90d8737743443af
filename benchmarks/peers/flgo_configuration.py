"""Data and model of FLGo's benchmark: FLGo copies this file and imports the copy."""

import torch
from torch import Tensor

from benchmarks.peers.workload import Network, load_workload

_WORKLOAD = load_workload()


class _Samples(torch.utils.data.Dataset[tuple[Tensor, int]]):
    """All clients' samples, one after the other; remembers which were asked for."""

    def __init__(self) -> None:
        self.images = _WORKLOAD.images.flatten(0, 1)
        self.labels: list[int] = _WORKLOAD.labels.flatten().tolist()
        self.visited: list[int] = []

    def __len__(self) -> int:
        return len(self.labels)

    def __getitem__(self, number: int) -> tuple[Tensor, int]:
        self.visited.append(number)
        return self.images[number], self.labels[number]


train_data = _Samples()


def get_model() -> Network:
    network = Network()
    network.load_state_dict(_WORKLOAD.start)
    return network
