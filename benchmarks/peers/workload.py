"""What every contestant trains: one FedAvg round of the paper's network, each client once through its samples.

Imports nothing but NumPy and torch, as it is loaded in the environments of the peers. The file's path is in the
environment variable PEERS_WORKLOAD, which worker processes inherit.
"""

import os
from pathlib import Path
from typing import NamedTuple

import numpy as np
import torch
from torch import Tensor, nn

PATH_VARIABLE = "PEERS_WORKLOAD"
_WEIGHTS = "weights/"

Weights = dict[str, Tensor]


class Workload(NamedTuple):
    """Images (clients, samples, 1, 28, 28) and labels (clients, samples), in the order in which a client learns."""

    images: Tensor
    labels: Tensor
    start: Weights
    learning_rate: float
    batch_size: int

    @property
    def clients(self) -> int:
        return len(self.labels)

    @property
    def samples(self) -> int:
        """Return how many samples one client has."""
        return self.labels.shape[1]


class Outcome(NamedTuple):
    """The model after a round, and the order (clients, samples) in which each client's samples were visited."""

    weights: Weights
    order: Tensor


class Network(nn.Module):
    """hfedms_sim's `cnn`, with the same names of its 6.7 million parameters."""

    def __init__(self) -> None:
        super().__init__()
        self.extractor = nn.Sequential(
            *(nn.Conv2d(1, 32, 5, padding=2), nn.ReLU(), nn.MaxPool2d(2)),
            *(nn.Conv2d(32, 64, 5, padding=2), nn.ReLU(), nn.MaxPool2d(2)),
            *(nn.Flatten(), nn.Linear(64 * 7 * 7, 2048), nn.ReLU(), nn.Linear(2048, 100), nn.ReLU()),
        )
        self.classifier = nn.Linear(100, 62)

    def forward(self, images: Tensor) -> Tensor:
        logits: Tensor = self.classifier(self.extractor(images))
        return logits


def save_workload(path: Path, workload: Workload) -> None:
    weights = {_WEIGHTS + name: value.numpy() for name, value in workload.start.items()}
    np.savez(
        path,
        images=workload.images.numpy(),
        labels=workload.labels.numpy(),
        learning_rate=workload.learning_rate,
        batch_size=workload.batch_size,
        **weights,
    )


def load_workload(path: Path | None = None) -> Workload:
    with np.load(path or os.environ[PATH_VARIABLE], allow_pickle=False) as arrays:
        return Workload(
            torch.from_numpy(arrays["images"]),
            torch.from_numpy(arrays["labels"]),
            _weights(arrays),
            float(arrays["learning_rate"]),
            int(arrays["batch_size"]),
        )


def save_outcome(path: Path, outcome: Outcome) -> None:
    weights = {_WEIGHTS + name: value.detach().numpy() for name, value in outcome.weights.items()}
    np.savez(path, order=outcome.order.numpy(), **weights)


def load_outcome(path: Path) -> Outcome:
    with np.load(path, allow_pickle=False) as arrays:
        return Outcome(_weights(arrays), torch.from_numpy(arrays["order"]))


def stored_order(workload: Workload) -> Tensor:
    return torch.arange(workload.samples).expand(workload.clients, -1).contiguous()


def _weights(arrays: "np.lib.npyio.NpzFile") -> Weights:
    names = [name for name in arrays.files if name.startswith(_WEIGHTS)]
    return {name.removeprefix(_WEIGHTS): torch.from_numpy(arrays[name]) for name in names}
