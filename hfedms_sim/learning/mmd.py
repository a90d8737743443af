"""Maximum mean discrepancy between two sets of outputs, as FedMMD has it.

    MMD^2(X, Y) = mean k(x, x') + mean k(y, y') - 2 mean k(x, y)        all pairs, diagonals included
    k(x, y) = sum over s of exp(-|x - y|^2 / (2 s))

with nineteen widths s from 1e-6 to 1e6. The authors' program cuts the value off below 1e-4, which leaves no gradient
while the two streams are still alike; here it may go down to zero.
"""

import torch
from torch import Tensor
from torch.nn import functional

from hfedms_sim.learning.engine.base import Loss
from hfedms_sim.learning.frozen import frozen
from hfedms_sim.learning.networks import Network, Weights
from hfedms_sim.scenario import ModelSpec

WIDTHS = (1e-6, 1e-5, 1e-4, 1e-3, 1e-2, 1e-1, 1, 5, 10, 15, 20, 25, 30, 35, 100, 1e3, 1e4, 1e5, 1e6)


def squared_discrepancy(one: Tensor, other: Tensor) -> Tensor:
    value = _mean_kernel(one, one) + _mean_kernel(other, other) - 2 * _mean_kernel(one, other)
    return value.clamp(min=0)


def two_streams(start: Weights, model: ModelSpec, weight: float) -> Loss:
    """Cross-entropy of the local stream, and the discrepancy of its logits from the frozen stream's."""
    frozen_logits = frozen(start, model)

    def loss(network: Network, images: Tensor, labels: Tensor) -> Tensor:
        logits = network(images)
        return functional.cross_entropy(logits, labels) + weight * squared_discrepancy(frozen_logits(images), logits)

    return loss


def _mean_kernel(one: Tensor, other: Tensor) -> Tensor:
    distance = (one.unsqueeze(1) - other.unsqueeze(0)).square().sum(dim=2)
    widths = torch.tensor(WIDTHS, dtype=one.dtype).reshape(-1, 1, 1)
    return torch.exp(-distance / (2 * widths)).sum(dim=0).mean()
