"""The same samples in each of the formats that can be loaded."""

import json
from io import BytesIO
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from numpy.typing import NDArray
from PIL import Image

from hfedms_sim.data.loaders.arrays import ArrayDataset, Reading
from hfedms_sim.data.loaders.leaf import read_leaf
from hfedms_sim.data.loaders.npz import read_npz
from hfedms_sim.data.loaders.parquet import read_parquet

LOADERS = {"npz": read_npz, "leaf": read_leaf, "parquet": read_parquet}


class Raw(NamedTuple):
    pixels: NDArray[np.uint8]
    labels: NDArray[np.int64]
    owners: NDArray[np.str_]
    is_test: NDArray[np.bool_] | None


def raw_samples(*, devices: int = 5, samples: int = 60, split: bool = True, seed: int = 0) -> Raw:
    """Dark ink on white, owners in no order; every device has a few samples, and at least one to train with."""
    random = np.random.default_rng(seed)
    pixels = np.full((samples, 28, 28), 255, dtype=np.uint8)
    pixels[:, 8:20, 8:20] = random.integers(0, 256, (samples, 12, 12))
    device = np.append(np.arange(devices), random.integers(0, devices, samples - devices))
    is_test = random.random(samples) < 0.3
    is_test[:devices] = False
    owners = np.array([f"w{7 * d % devices:03d}" for d in device])
    return Raw(pixels, random.integers(0, 62, samples), owners, is_test if split else None)


def png(pixels: NDArray[np.uint8]) -> bytes:
    content = BytesIO()
    Image.fromarray(pixels).save(content, format="PNG")
    return content.getvalue()


def leaf_json(raw: Raw, chosen: NDArray[np.bool_]) -> str:
    user_data = {}
    for user in np.unique(raw.owners[chosen])[::-1].tolist():
        rows = chosen & (raw.owners == user)
        x = (raw.pixels[rows].reshape(-1, 784) / 255).tolist()
        user_data[user] = {"x": x, "y": raw.labels[rows].tolist()}
    counts = [len(data["y"]) for data in user_data.values()]
    return json.dumps({"users": list(user_data), "num_samples": counts, "user_data": user_data})


def write(kind: str, raw: Raw, directory: Path) -> Path:
    """The path to open."""
    directory.mkdir(parents=True, exist_ok=True)
    return {"npz": _write_npz, "leaf": _write_leaf, "parquet": _write_parquet}[kind](raw, directory)


def load(kind: str, path: Path, **how: Any) -> ArrayDataset:
    return LOADERS[kind](path, Reading(**how))


def _write_npz(raw: Raw, directory: Path) -> Path:
    arrays: dict[str, Any] = {"images": raw.pixels, "labels": raw.labels, "device": raw.owners}
    np.savez(directory / "data.npz", **arrays | ({} if raw.is_test is None else {"is_test": raw.is_test}))
    return directory / "data.npz"


def _write_leaf(raw: Raw, directory: Path) -> Path:
    if raw.is_test is None:
        (directory / "all.json").write_text(leaf_json(raw, np.ones(len(raw.labels), dtype=bool)))
        return directory
    for half, chosen in (("train", ~raw.is_test), ("test", raw.is_test)):
        (directory / half).mkdir()
        (directory / half / f"all_data_0_niid_{half}_9.json").write_text(leaf_json(raw, chosen))
    return directory


def _write_parquet(raw: Raw, directory: Path) -> Path:
    columns: dict[str, Any] = {
        "image": [{"bytes": png(pixels), "path": None} for pixels in raw.pixels],
        "writer_id": raw.owners.tolist(),
        "hsf_id": [0] * len(raw.labels),
        "character": raw.labels.tolist(),
    }
    if raw.is_test is not None:
        columns["is_test"] = raw.is_test.tolist()
    table = pa.table(columns)
    half = len(raw.labels) // 2
    pq.write_table(table[:half], directory / "train-00000-of-00002.parquet")
    pq.write_table(table[half:], directory / "train-00001-of-00002.parquet")
    return directory
