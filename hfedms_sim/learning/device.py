"""Where training computes: on the CPU, or on an accelerator. Weights, samples and all that comes of them live there."""

import torch
from torch import Tensor

from hfedms_sim.errors import InputError


def device_of(choice: str) -> str:
    """The choice `auto` is the accelerator if there is one."""
    if choice == "cpu" or (choice == "auto" and not torch.cuda.is_available()):
        return "cpu"
    if not torch.cuda.is_available():
        raise InputError(f"device = '{choice}': torch finds no such device here; allowed: auto, cpu")
    return "cuda"


def use_device(name: str) -> None:
    """New tensors live there from now on."""
    torch.set_default_device(name)


def on_device(tensor: Tensor) -> Tensor:
    """As it is on the CPU, else a copy: what comes from NumPy always begins there."""
    return tensor.to(torch.get_default_device())
