"""The generic engine against the plain loop on a network that is no stack: `resnet8` on colour images of 32x32.

The plain loop is what one writes first: one nn.Module reloaded from the global state for each client, torch.optim.SGD,
zero_grad / backward / step, a running mean on the server. Both train the same clients, in turn, on one core.
"""

from statistics import median

import torch
from torch.nn import functional

from benchmarks.bars import at_least
from benchmarks.spent import timed
from hfedms_sim.learning.engine import GenericEngine, LocalSet, Sgd
from hfedms_sim.learning.networks import Weights, initial_weights, network_of
from hfedms_sim.learning.process import keep_freed_memory
from hfedms_sim.models import spec_of
from hfedms_sim.scenario import DataShape
from hfedms_sim.seeds import Draws

REPEATS, CLIENTS, SAMPLES = 7, 4, 50
SGD = Sgd(0.01, 5)
SPEC = spec_of("resnet8", DataShape((3, 32, 32), 10))
BAR = 0.95


def benchmark_modules() -> bool:
    torch.set_num_threads(1)
    keep_freed_memory()
    clients = [_client(number) for number in range(CLIENTS)]
    start, engine = initial_weights(SPEC, Draws(1)), GenericEngine(network_of(SPEC))
    module = network_of(SPEC).root
    chains = [[client] for client in clients]
    plain, ours = [], []
    for _ in range(REPEATS):
        plain.append(timed(lambda: _plain_loop(module, start, clients)).cpu_s)
        ours.append(timed(lambda: engine.train_models(start, chains, [1.0] * CLIENTS, SGD)).cpu_s)
    ratio = median(plain) / median(ours)
    rate = CLIENTS * SAMPLES / median(ours)
    print(f"(m) resnet8 on 3x32x32: generic engine {rate:.0f} samples/s")
    return at_least("the generic engine against the plain loop", ratio, BAR)


def _client(number: int) -> LocalSet:
    random = torch.Generator().manual_seed(number)
    images = torch.rand((SAMPLES, 3, 32, 32), generator=random)
    labels = torch.randint(0, SPEC.classes, (SAMPLES,), generator=random)
    return LocalSet(images, labels, (torch.randperm(SAMPLES, generator=random),))


def _plain_loop(module: torch.nn.Module, start: Weights, clients: list[LocalSet]) -> Weights:
    mean = {name: torch.zeros_like(value) for name, value in start.items()}
    module.train()
    for client in clients:
        module.load_state_dict(start, strict=False)  # without the counters of batches
        optimiser = torch.optim.SGD(module.parameters(), lr=SGD.learning_rate)
        for order in client.epochs:
            for chosen in order.split(SGD.batch_size):
                optimiser.zero_grad()
                functional.cross_entropy(module(client.inputs[chosen]), client.labels[chosen]).backward()
                optimiser.step()
        for name, value in module.state_dict().items():
            if name in mean:
                mean[name] += value.detach() / len(clients)
    return mean
