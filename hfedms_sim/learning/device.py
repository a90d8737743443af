"""Where training computes: on the CPU, or on an accelerator. Weights, samples and all that comes of them live there."""

import torch
from torch import Tensor


def has_accelerator() -> bool:
    """Return whether torch can compute on something else than the CPU here."""
    return torch.cuda.is_available()


def on_device(tensor: Tensor) -> Tensor:
    """Return the tensor as it is on the CPU, else a copy: what comes from NumPy always begins there."""
    return tensor.to(torch.get_default_device())
