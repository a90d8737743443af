"""What becomes of numbers that are sent in fewer bytes: the values that arrive, not their bits on the air.

    float16   the nearest number of IEEE 754 half precision; beyond +-65504 that
    int8      of a tensor of two or more dimensions: scale s = max |w| / 127 of each output channel, the first
              dimension; w becomes s floor(w / s + u), u uniform on [0, 1). So E[C(w)] = w and |C(w) - w| <= s.
              Tensors of fewer dimensions stay as they are
    topk      of all numbers together the k largest in absolute value; of equal ones those of the lower index, tensors
              in the order of their names. The others become 0

The u are keyed, never drawn "next": by the content of a tensor where the server sends it, so that the same one arrives
the same at everybody; by the seed of the sender's round where a sensor does. A number that is not finite stays so: a
run that diverges has to show it.

Sizes are in scenario/compression.py. Left out: entropy coding, and headers.
"""

from collections.abc import Callable
from hashlib import blake2b
from typing import Literal

import numpy as np
import torch
from torch import Tensor

from hfedms_sim.learning.networks import Weights
from hfedms_sim.learning.process import on_device
from hfedms_sim.learning.state import array_of
from hfedms_sim.seeds import Draws

Uniforms = Callable[[str, Tensor], Tensor]
"""Takes a tensor and its name to numbers in [0, 1), one for each of its own."""
Leg = Literal["downlink", "relay", "uplink"]

_LARGEST_HALF = 65_504.0
_STEPS = 127
_RANDOM_BITS = 24  # as many as a float32 holds exactly


def quantised(codec: Literal["float16", "int8"], weights: Weights, uniforms: Uniforms) -> Weights:
    """Return what arrives of weights."""
    if codec == "float16":
        return {name: half(value) for name, value in weights.items()}
    return {
        name: stepped(value, uniforms(name, value)) if value.dim() > 1 else value for name, value in weights.items()
    }


def half(value: Tensor) -> Tensor:
    """Return the nearest numbers of half precision, in the precision that they came in."""
    nearest = value.clamp(-_LARGEST_HALF, _LARGEST_HALF).half().to(value.dtype)
    return torch.where(value.isfinite(), nearest, value)


def stepped(value: Tensor, uniform: Tensor) -> Tensor:
    """Return the numbers of a tensor rounded up or down to whole steps of their channel's scale.

    A channel in which all numbers are too small for a scale of full precision becomes zeros.
    """
    channels = value.flatten(1)
    scale = channels.abs().amax(dim=1, keepdim=True) / _STEPS
    is_small = scale < torch.finfo(value.dtype).tiny
    steps = (channels / scale.masked_fill(is_small, 1.0)).clamp_(-_STEPS, _STEPS)
    rounded = steps.floor()
    rounded += uniform.reshape(channels.shape) < steps.sub_(rounded)
    return rounded.mul_(scale.masked_fill(is_small, 0.0)).reshape(value.shape)


def largest(values: Weights, count: int) -> Weights:
    """Return the largest numbers, this many, and 0 for the others; all of them if one is not finite."""
    names = sorted(values)
    flat = torch.cat([values[name].flatten() for name in names])
    if not bool(flat.isfinite().all()):
        return values
    sizes, place = flat.abs(), len(flat) - count
    least = float(np.partition(array_of(sizes), place)[place])  # several times as fast as torch.topk
    chosen = sizes > least
    chosen[(sizes == least).nonzero().flatten()[: count - int(chosen.sum())]] = True
    kept = flat.masked_fill_(~chosen, 0.0).split([values[name].numel() for name in names])
    return {name: part.reshape(values[name].shape) for name, part in zip(names, kept, strict=True)}


def by_content(draws: Draws) -> Uniforms:
    """Return draws that are the same for the same tensor, whoever asks and when."""

    def uniforms(name: str, value: Tensor) -> Tensor:
        digest = blake2b(array_of(value).tobytes(), digest_size=8).digest()
        return _uniform(draws, "downlink", name, int.from_bytes(digest, "little"), value)

    return uniforms


def by_seed(draws: Draws, leg: Leg, seed: int) -> Uniforms:
    """Return the draws of a sender; the seed is that of its round."""
    return lambda name, value: _uniform(draws, leg, name, seed, value)


def _uniform(draws: Draws, leg: Leg, name: str, key: int, value: Tensor) -> Tensor:
    """Return numbers on [0, 1); each 64 random bits make two."""
    count = value.numel()
    bits = draws.bits(f"compression/{leg}/{name}", key, np.arange(-(-count // 2))).view(np.uint32)[:count]
    unit = (bits >> np.uint32(32 - _RANDOM_BITS)).astype(np.float32) * np.float32(2.0**-_RANDOM_BITS)
    return on_device(torch.from_numpy(unit.reshape(tuple(value.shape))))
