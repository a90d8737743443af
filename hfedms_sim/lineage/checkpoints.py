"""A learner's state on disk: a safetensors file that knows whose state it is and whether it is whole.

The header's metadata has the round, the lineage, and a SHA-256 over both and over every array's name, type, shape
and bytes. A file that was cut off or changed in any byte that matters does not match it.
"""

import json
from hashlib import sha256
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np
from numpy.typing import NDArray
from safetensors import SafetensorError, safe_open
from safetensors.numpy import save

from hfedms_sim.system.files import atomic_write

_ALIGNMENT_BYTES = 8
_TYPES = {"<f4": "F32", "<f8": "F64", "<i8": "I64", "<i4": "I32", "|u1": "U8", "|b1": "BOOL"}

State = dict[str, NDArray[Any]]
"""Everything a learner needs to go on, by name. Not to be changed in place."""
WEIGHTS = "weights"
"""Under which name every learner's state holds its global model."""


class DamagedCheckpointError(Exception):
    """The file cannot be trusted."""


def write_checkpoint(path: Path, round_number: int, lineage: str, state: State) -> None:
    arrays = {name: np.ascontiguousarray(value) for name, value in state.items()}
    identity = {"round": str(round_number), "lineage": lineage}
    with atomic_write(path) as file:
        _write_safetensors(file, arrays, identity | {"sha256": _digest(identity, arrays)})


def read_checkpoint(path: Path, lineage: str) -> State:
    """What the file holds if it can be trusted; FileNotFoundError if it is gone."""
    try:
        with safe_open(path, framework="numpy") as file:
            metadata: dict[str, str] = file.metadata() or {}
            arrays: State = {name: file.get_tensor(name) for name in file.keys()}  # noqa: SIM118 it is no mapping
    except FileNotFoundError:
        raise
    except (SafetensorError, OSError, ValueError, TypeError, KeyError) as error:
        raise DamagedCheckpointError(f"cannot be read ({error})") from None
    identity = {key: metadata.get(key, "") for key in ("round", "lineage")}
    if metadata.get("sha256") != _digest(identity, arrays):
        raise DamagedCheckpointError("its checksum does not match")
    if identity["lineage"] != lineage:
        raise DamagedCheckpointError("holds another lineage than its name says")
    return arrays


def _write_safetensors(file: BinaryIO, arrays: State, metadata: dict[str, str]) -> None:
    """The format by hand, array after array: safetensors' own writer copies a state of half a gigabyte twice."""
    header: dict[str, Any] = {"__metadata__": metadata}
    names = sorted(arrays, key=lambda name: (-arrays[name].itemsize, name))
    offset = 0
    for name in names:
        array = arrays[name]
        extent = [offset, offset + array.nbytes]
        header[name] = {"dtype": _TYPES[array.dtype.str], "shape": array.shape, "data_offsets": extent}
        offset += array.nbytes
    text = json.dumps(header).encode()
    text += b" " * (-len(text) % _ALIGNMENT_BYTES)
    file.write(len(text).to_bytes(8, "little") + text)
    for name in names:
        file.write(arrays[name].data)


def _digest(identity: dict[str, str], arrays: State) -> str:
    digest = sha256(f"{identity['round']}/{identity['lineage']}".encode())
    for name in sorted(arrays):
        array = arrays[name]
        digest.update(f"\n{name} {array.dtype.str} {array.shape}\n".encode())
        digest.update(np.ascontiguousarray(array).data)
    return digest.hexdigest()


def prefixed(prefix: str, arrays: State) -> State:
    return {f"{prefix}/{name}": value for name, value in arrays.items()}


def under(prefix: str, state: State) -> State:
    """Those of the arrays whose names begin with `prefix` and a slash, by the rest of their names."""
    start = f"{prefix}/"
    return {name.removeprefix(start): value for name, value in state.items() if name.startswith(start)}


def save_weights(weights: State, path: Path) -> None:
    with atomic_write(path) as file:
        file.write(save({name: np.ascontiguousarray(value) for name, value in weights.items()}))
