"""FedFusion's network: the features of two stacks of convolutions, one that trains and a frozen one, are fused.

    conv     1x1 convolution of [E_l; E_g], 2 C channels to C
    multi    gamma * E_g + (1 - gamma) * E_l, a gamma for each channel, at first 0
    single   the same with one gamma for all

E_l is the local stack, E_g that of the model which the round started from. The rest of the network follows as usual.
In evaluation both are the merged stack.
"""

from math import sqrt
from typing import Literal

import numpy as np
import torch
from torch import Tensor, nn

from hfedms_sim.learning.networks import StackNetwork, Weights
from hfedms_sim.learning.process import on_device
from hfedms_sim.scenario import ModelSpec
from hfedms_sim.seeds import Draws

Operator = Literal["conv", "multi", "single"]
GAMMA_KEPT = 0.9


class FusionNetwork(StackNetwork):
    def __init__(self, spec: ModelSpec, operator: Operator) -> None:
        super().__init__(spec)
        self._convolutions = 3 * len(spec.convolutions)  # modules: convolution, ReLU, pooling
        channels = spec.convolutions[-1].outputs
        self._frozen = (StackNetwork(spec).extractor[: self._convolutions],)  # in a tuple: no part of the model
        self._operator = operator
        if operator == "conv":
            with torch.device("meta"):  # without torch's own initialisation
                self.fusion = nn.Conv2d(2 * channels, channels, kernel_size=1)
            self.fusion.to_empty(device=torch.get_default_device())
        else:
            self.gamma = nn.Parameter(torch.zeros(channels if operator == "multi" else 1))

    @property
    def fusion_names(self) -> tuple[str, ...]:
        """The parameters of the operator."""
        return ("fusion.weight", "fusion.bias") if self._operator == "conv" else ("gamma",)

    @property
    def frozen(self) -> nn.Module:
        """The convolutions of the model that the round started from, which are never trained or sent."""
        return self._frozen[0]

    def forward(self, images: Tensor) -> Tensor:
        local = self.extractor[: self._convolutions](images)
        with torch.no_grad():
            frozen = self.frozen(images)
        logits: Tensor = self.classifier(self.extractor[self._convolutions :](self.fused(local, frozen)))
        return logits

    def load(self, weights: Weights) -> None:
        """Into the local stack and, as the model that a round starts from, into the frozen one."""
        super().load(weights)
        self.frozen.load_state_dict(self.extractor[: self._convolutions].state_dict())

    def fused(self, local: Tensor, frozen: Tensor) -> Tensor:
        """Return the features of both stacks as one."""
        if self._operator == "conv":
            fused: Tensor = self.fusion(torch.cat([local, frozen], dim=1))
            return fused
        gamma = self.gamma.reshape(1, -1, 1, 1)
        return gamma * frozen + (1 - gamma) * local


def fusion_weights(spec: ModelSpec, operator: Operator, draws: Draws) -> Weights:
    """Return the operator's weights at the start: Glorot uniform for the convolution, zero for gamma."""
    channels = spec.convolutions[-1].outputs
    if operator != "conv":
        return {"gamma": torch.zeros(channels if operator == "multi" else 1)}
    bound = sqrt(6 / (3 * channels))
    uniform = draws.uniform("weights/fusion", 0, np.arange(2 * channels * channels))
    values = ((2 * uniform - 1) * bound).astype(np.float32).reshape(channels, 2 * channels, 1, 1)
    return {"fusion.weight": on_device(torch.from_numpy(values)), "fusion.bias": torch.zeros(channels)}


def merged_gamma(before: Tensor, mean: Tensor) -> Tensor:
    """The server's gamma: a tenth of the round's mean, nine tenths of what it was."""
    return GAMMA_KEPT * before + (1 - GAMMA_KEPT) * mean
