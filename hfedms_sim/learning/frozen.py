"""A model that is only asked, never trained: what losses compare the local model with."""

from collections.abc import Callable

import torch
from torch import Tensor

from hfedms_sim.learning.networks import Network, Weights
from hfedms_sim.scenario import ModelSpec


def frozen(weights: Weights, model: ModelSpec) -> Callable[[Tensor], Tensor]:
    """From images to logits, without gradients."""
    network = Network(model)
    network.load(weights)

    def logits(images: Tensor) -> Tensor:
        with torch.no_grad():
            answer: Tensor = network(images)
        return answer

    return logits
