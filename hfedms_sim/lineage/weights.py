"""The model within a learner's state, and the model on disk, as safetensors: read without running what is in it."""

from pathlib import Path

import numpy as np
from safetensors.numpy import save

from hfedms_sim.lineage.checkpoints import State
from hfedms_sim.system.files import atomic_write

WEIGHTS = "weights"
"""Under which name every learner's state holds its global model."""


def prefixed(prefix: str, arrays: State) -> State:
    return {f"{prefix}/{name}": value for name, value in arrays.items()}


def under(prefix: str, state: State) -> State:
    """Those of the arrays whose names begin with `prefix` and a slash, by the rest of their names."""
    start = f"{prefix}/"
    return {name.removeprefix(start): value for name, value in state.items() if name.startswith(start)}


def save_weights(weights: State, path: Path) -> None:
    with atomic_write(path) as file:
        file.write(save({name: np.ascontiguousarray(value) for name, value in weights.items()}))
