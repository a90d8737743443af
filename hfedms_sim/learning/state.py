"""Tensors as the arrays of a learner's state, and back. A tensor that comes back has the same bits."""

from collections.abc import Sequence
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from hfedms_sim.learning.networks import Weights
from hfedms_sim.learning.process import on_device
from hfedms_sim.lineage import State, prefixed, under


def arrays_of(prefix: str, weights: Weights) -> State:
    return prefixed(prefix, {name: array_of(value) for name, value in weights.items()})


def weights_under(prefix: str, state: State) -> Weights:
    return {name: tensor_of(value) for name, value in under(prefix, state).items()}


def array_of(tensor: Tensor) -> NDArray[Any]:
    array: NDArray[Any] = tensor.detach().cpu().numpy()
    return array


def tensor_of(array: NDArray[Any]) -> Tensor:
    return on_device(torch.from_numpy(np.array(array)))


def rows(table: Sequence[Sequence[int]], columns: int) -> NDArray[np.int64]:
    """A table of whole numbers, also of none."""
    return np.array(table, dtype=np.int64).reshape(-1, columns)


def stacked(tensors: Sequence[Tensor]) -> NDArray[Any]:
    """One after the other; nothing at all if there are none."""
    return array_of(torch.cat(list(tensors))) if tensors else np.zeros(0, dtype=np.float32)


def unstacked(state: State, name: str, sizes: Sequence[int]) -> Sequence[Tensor]:
    return tensor_of(state[name]).split(list(sizes)) if sizes else ()
