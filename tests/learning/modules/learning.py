"""A small problem that a network of a few steps should get hold of."""

from collections.abc import Callable

import torch
from torch import nn
from torch.nn import functional

CLASSES = 3


def losses(make: Callable[[tuple[int, ...], int], nn.Module], input_shape: tuple[int, ...], steps: int) -> list[float]:
    """Return the loss before each step of plain SGD on noisy samples around one pattern a class."""
    generator = torch.Generator().manual_seed(1)
    patterns = torch.randn(CLASSES, *input_shape, generator=generator)
    labels = torch.arange(30) % CLASSES
    samples = patterns[labels] + 0.3 * torch.randn(30, *input_shape, generator=generator)
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(1)
        network = make(input_shape, CLASSES)
    optimiser = torch.optim.SGD(network.parameters(), lr=0.1)
    seen = []
    for _ in range(steps):
        optimiser.zero_grad()
        loss = functional.cross_entropy(network(samples), labels)
        loss.backward()
        optimiser.step()
        seen.append(loss.item())
    return seen
