"""The plain loop: what one would write in an afternoon, and the reference of what a round must come to.

One network is loaded with the global weights for each client in turn, torch.optim.SGD takes the steps, and the server
keeps a running mean.
"""

from collections.abc import Iterator
from functools import partial

import torch
from torch import Tensor
from torch.nn import functional

from benchmarks.peers.rounds import Rounds
from benchmarks.peers.workload import Network, Outcome, Weights, Workload, load_workload, stored_order


def train_round(network: Network, start: Weights, workload: Workload, order: Tensor) -> Weights:
    mean: Weights = {name: torch.zeros_like(value) for name, value in start.items()}
    for number, end in enumerate(client_ends(network, start, workload, order), start=1):
        for name, value in end.items():
            mean[name].add_(value - mean[name], alpha=1 / number)
    return mean


def client_ends(network: Network, start: Weights, workload: Workload, order: Tensor) -> Iterator[Weights]:
    """Each client's model, until the next one is asked for. `order` (clients, samples) is how it takes its samples."""
    for client in range(workload.clients):
        network.load_state_dict(start)
        optimiser = torch.optim.SGD(network.parameters(), lr=workload.learning_rate)
        for batch in order[client].split(workload.batch_size):
            optimiser.zero_grad()
            logits = network(workload.images[client, batch])
            functional.cross_entropy(logits, workload.labels[client, batch]).backward()
            optimiser.step()
        yield {name: value.detach() for name, value in network.named_parameters()}


def main() -> None:
    workload = load_workload()
    network, weights, order = Network(), workload.start, stored_order(workload)
    rounds = Rounds()
    while rounds.between(partial(Outcome, weights, order)):
        weights = train_round(network, weights, workload, order)


if __name__ == "__main__":
    main()
