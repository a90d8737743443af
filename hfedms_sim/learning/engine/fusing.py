"""FedFusion's operator (learning/fusion.py), of which every chain trains its own copy, between convolutions and dense
layers. Its parameters are few, so gradients are left to autograd.
"""

from collections.abc import Sequence

import torch
from torch import Tensor

from hfedms_sim.learning.engine.base import Sgd
from hfedms_sim.learning.engine.steps import SgdStep


class ChainedFusion:
    def __init__(self, start: Sequence[Tensor], chains: int, sgd: Sgd) -> None:
        self.parameters = [value.expand(chains, *value.shape).clone() for value in start]
        """Those of all chains, stacked."""
        self._start = start
        self._sgd_step = SgdStep(sgd)
        self._passed: tuple[Tensor, list[Tensor]] | None = None

    def forward(self, local: Tensor, frozen: Tensor) -> Tensor:
        """Fuse the features, both (chains still going, samples, features)."""
        own = (value[: len(local)] for value in self.parameters)
        trained = [value.detach().requires_grad_() for value in (local, *own)]
        with torch.enable_grad():
            fused = fuse(trained[1:], trained[0], frozen)
        self._passed = (fused, trained)
        return fused.detach()

    def backward(self, deltas: Tensor) -> Tensor:
        """Make a step of the parameters. Return the deltas of the local features, by the parameters before it."""
        assert self._passed is not None
        local_deltas, *gradients = torch.autograd.grad(*self._passed, deltas)
        for value, gradient, origin in zip(self.parameters, gradients, self._start, strict=True):
            self._sgd_step.step(value[: len(deltas)], gradient, origin)
        self._passed = None
        return local_deltas.contiguous()


def fuse(parameters: Sequence[Tensor], local: Tensor, frozen: Tensor) -> Tensor:
    """Fuse features, (chains, samples, channels x pixels), by the parameters of each chain.

    These are weight and bias of a 1x1 convolution, or a gamma for each channel, or one for all.
    """
    channels = parameters[-1].shape[1]
    ours, theirs = (features.unflatten(2, (channels, -1)) for features in (local, frozen))
    if len(parameters) == 1:
        gamma = parameters[0][:, None, :, None]
        mixed: Tensor = gamma * theirs + (1 - gamma) * ours
        return mixed.flatten(2)
    weight, bias = parameters
    convolved = torch.einsum("goc,gscp->gsop", weight.flatten(2), torch.cat([ours, theirs], dim=2))
    return (convolved + bias[:, None, :, None]).flatten(2).contiguous()
