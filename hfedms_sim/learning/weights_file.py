"""A model on disk, as safetensors: read without running anything that the file contains."""

from pathlib import Path

from safetensors.torch import save

from hfedms_sim.learning.networks import Weights


def save_weights(weights: Weights, path: Path) -> None:
    temporary = path.with_name(f".{path.name}.part")
    try:
        temporary.write_bytes(save({name: value.contiguous() for name, value in weights.items()}))
        temporary.replace(path)
    finally:
        temporary.unlink(missing_ok=True)
