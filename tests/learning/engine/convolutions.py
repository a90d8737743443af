"""Convolutions to test kernels on, and torch's own way through them."""

from dataclasses import dataclass
from typing import NamedTuple

import torch
import torch.nn.functional as functional
from torch import Tensor

from hfedms_sim.learning.engine.kernels import Pooled


class Gradients(NamedTuple):
    """The pooled values as (samples, channels, height, width), and the gradients in the kernels' layouts."""

    pooled: Tensor
    dx: Tensor
    weights: Tensor
    bias: Tensor


@dataclass(frozen=True)
class Convolution:
    """A layer with the samples of some chains, and deltas at its pooled values (channels first)."""

    x: Tensor
    lengths: tuple[int, ...]
    weights: Tensor
    bias: Tensor
    deltas: Tensor

    @property
    def counts(self) -> Tensor:
        return torch.tensor(self.lengths, dtype=torch.int64)

    def deltas_as(self, channel_first: bool) -> Tensor:
        return self.deltas if channel_first else self.deltas.permute(0, 2, 3, 1).contiguous()

    def by_torch(self, dtype: torch.dtype) -> Gradients:
        """Autograd, chain by chain."""
        x, weights, bias = (t.detach().to(dtype).requires_grad_() for t in (self.x, self.weights, self.bias))
        images, filters = x.permute(0, 3, 1, 2), weights.permute(0, 1, 4, 2, 3)
        padding = weights.shape[2] // 2
        samples = zip(images.split(self.lengths), filters, bias, strict=True)
        convolved = torch.cat([functional.conv2d(own, w, b, padding=padding) for own, w, b in samples])
        pooled = functional.max_pool2d(functional.relu(convolved), 2)
        pooled.backward(self.deltas.to(dtype))
        gradients = [torch.zeros_like(t) if t.grad is None else t.grad for t in (x, weights, bias)]
        return Gradients(pooled.detach(), *gradients)


def convolution(
    counts: tuple[int, ...], image: tuple[int, int], channels: tuple[int, int], kernel: int = 5, seed: int = 0
) -> Convolution:
    """Random numbers of the sizes they have in training: Glorot weights, inputs that come out of a ReLU."""
    draw = torch.Generator().manual_seed(seed)
    samples, (height, width), (inputs, outputs) = sum(counts), image, channels
    bound = (6 / (kernel**2 * (inputs + outputs))) ** 0.5
    weights = (torch.rand(len(counts), outputs, kernel, kernel, inputs, generator=draw) * 2 - 1) * bound
    x = torch.randn(samples, height, width, inputs, generator=draw).relu()
    bias = torch.randn(len(counts), outputs, generator=draw) * 0.1 - 0.1
    deltas = torch.randn(samples, outputs, height // 2, width // 2, generator=draw)
    return Convolution(x, counts, weights, bias, deltas)


def channels_first(pooled: Pooled) -> Tensor:
    return pooled.values if pooled.channel_first else pooled.values.permute(0, 3, 1, 2)


def error(value: Tensor, oracle: Tensor) -> float:
    """Root mean square."""
    return float((value.double() - oracle).pow(2).mean().sqrt()) if value.numel() else 0.0


def accurate(value: Tensor, plain: Tensor, oracle: Tensor) -> bool:
    """At most three times as far from float64 as torch in float32, or one rounding of a number of this size."""
    rounding = 6e-8 * float(oracle.pow(2).mean().sqrt()) if oracle.numel() else 0.0
    return error(value, oracle) <= max(3 * error(plain, oracle), rounding)
