"""What a client of Flower does. A module of its own, so that Ray's worker imports it instead of unpickling a copy."""

from functools import cache

import torch
from flwr.app import ArrayRecord, Context, Message, MetricRecord, RecordDict
from flwr.clientapp import ClientApp
from torch.nn import functional
from torch.utils.data import DataLoader, TensorDataset

from benchmarks.peers.workload import Network, Workload, load_workload

app = ClientApp()


@app.train()
def train(message: Message, context: Context) -> Message:
    network = _network()
    network.load_state_dict(message.content["arrays"].to_torch_state_dict())
    workload, client = _workload(), int(context.node_config["partition-id"])
    samples = TensorDataset(workload.images[client], workload.labels[client])
    optimiser = torch.optim.SGD(network.parameters(), lr=float(message.content["config"]["lr"]))
    for images, labels in DataLoader(samples, batch_size=workload.batch_size):
        optimiser.zero_grad()
        functional.cross_entropy(network(images), labels).backward()
        optimiser.step()
    content = RecordDict({
        "arrays": ArrayRecord(network.state_dict()),
        "metrics": MetricRecord({"num-examples": len(samples)}),
    })  # fmt: skip
    return Message(content=content, reply_to=message)


@cache
def _workload() -> Workload:
    return load_workload()


@cache
def _network() -> Network:
    """Initialising one for each client would cost more than loading it."""
    torch.set_num_threads(1)
    return Network()
