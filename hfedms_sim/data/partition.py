"""How flat data, or data dealt anew, come to N devices: `partition` in a scenario's `data`.

`iid`: the samples, in random order, are dealt in turn. Devices differ by one sample at most.

`dirichlet`: each class c is shared out by a draw p_c of the symmetric Dirichlet law of concentration a: normalised
gammas of shape a, one for each device. The samples of the class, in random order, are cut at n_c (p_c1 + ... + p_ck),
rounded. The mean share of a device is 1 / N, and the variance of a share (N - 1) / (N^2 (N a + 1)): the larger a, the
more alike the devices; as a goes to 0, each class goes to a single device. A device that would get nothing to train
with then takes a sample of the device that has most, one empty device after the other.

`shards`: the samples, sorted by label and in random order within a label, are cut into N s shards of equal size (to
one sample), of which each device gets s at random. With few shards a device sees few classes.

`column`: another array or column of the file names the device.

Where the data have a test part of their own, it is dealt by the same law: by the same shares p_c, or by the same
places among the shards; then a device's test samples are of the classes that it trains with.

Every draw is keyed by the seed. Gammas are Marsaglia and Tsang's (2000, ACM Trans. Math. Softw. 26:363-372), of shape
a + 1 and times U^(1 / a), computed as logarithms so that small a neither vanish nor divide by zero.

Sources: H. B. McMahan et al., Communication-Efficient Learning of Deep Networks from Decentralized Data, AISTATS 2017
(shards); M. Yurochkin et al., Bayesian Nonparametric Federated Learning of Neural Networks, ICML 2019 (Dirichlet).

Left out: skewed sizes apart from labels, and features that differ from device to device.
"""

import heapq
from collections.abc import Callable
from typing import Annotated, Literal

import numpy as np
from numpy.typing import NDArray
from pydantic import Field, model_validator

from hfedms_sim.scenario.base import PositiveInt, Settings
from hfedms_sim.seeds import Draws

Whole = NDArray[np.int64]
Law = Callable[[Whole], Whole]
"""Deals samples: the labels of samples in random order become their devices."""

_KEYS = {
    "iid": (),
    "dirichlet": ("concentration",),
    "shards": ("shards_per_device",),
    "column": ("column",),
}
_ATTEMPT_SHIFT = 32
_CHUNK_SHARES = 2**20  # drawn at once, to bound memory


class Partition(Settings):
    """How samples are dealt to devices: which law, and its figure."""

    kind: Literal["iid", "dirichlet", "shards", "column"]
    """The law by which samples come to devices."""
    concentration: Annotated[float, Field(ge=1e-6, le=1e9)] | None = None
    """The smaller, the more the devices' classes differ (dirichlet)."""
    shards_per_device: PositiveInt | None = None
    """How many pieces of the sorted samples a device gets (shards)."""
    column: Annotated[str, Field(min_length=1)] | None = None
    """The array or column that names the device (column)."""
    devices: PositiveInt | None = None
    """How many devices samples are dealt to, if not to `sensors.count`, which then takes the first ones."""

    @model_validator(mode="after")
    def _kind_has_its_figures(self) -> "Partition":
        for key in ("concentration", "shards_per_device", "column"):
            given = getattr(self, key) is not None
            if given != (key in _KEYS[self.kind]):
                raise ValueError(f"kind: {self.kind} {'has no' if given else 'needs'} {key}")
        if self.kind == "column" and self.devices is not None:
            raise ValueError("kind: column has no devices: the column says which there are")
        return self


def dealt(partition: Partition, labels: Whole, is_test: NDArray[np.bool_] | None, devices: int, seed: int) -> Whole:
    """Return each sample's device. Raises ValueError if there is too little for every device to train with."""
    draws = Draws(seed)
    order = draws.order("data/partition/order", np.arange(len(labels)))
    train = order if is_test is None else order[~is_test[order]]
    _require_enough(partition, len(train), devices)
    law = _law(partition, devices, draws)
    owners = np.empty(len(labels), dtype=np.int64)
    owners[train] = _nobody_empty(law(labels[train]), devices)
    if is_test is not None:
        test = order[is_test[order]]
        owners[test] = law(labels[test])
    return owners


def _require_enough(partition: Partition, samples: int, devices: int) -> None:
    pieces = devices * (partition.shards_per_device or 1)
    if samples < pieces:
        kind = "shards" if partition.shards_per_device else "devices"
        raise ValueError(f"has {samples} samples to deal to {pieces} {kind}: must be at least one for each")


def _law(partition: Partition, devices: int, draws: Draws) -> Law:
    if partition.concentration is not None:
        return _dirichlet(partition.concentration, devices, draws)
    if partition.shards_per_device is not None:
        return _shards(partition.shards_per_device, devices, draws)
    return lambda labels: np.arange(len(labels)) % devices


def _dirichlet(concentration: float, devices: int, draws: Draws) -> Law:
    def law(labels: Whole) -> Whole:
        owners = np.empty(len(labels), dtype=np.int64)
        present, sizes = np.unique(labels, return_counts=True)
        by_label = np.split(np.argsort(labels, kind="stable"), np.cumsum(sizes)[:-1])
        at_once = max(1, _CHUNK_SHARES // devices)
        for start in range(0, len(present), at_once):
            shares = dirichlet_shares(draws, present[start : start + at_once], devices, concentration)
            for ends, rows in zip(np.cumsum(shares, axis=1), by_label[start : start + at_once], strict=True):
                cut = np.searchsorted(np.rint(ends * len(rows)), np.arange(len(rows)), side="right")
                owners[rows] = np.minimum(cut, devices - 1)
        return owners

    return law


def _shards(shards_per_device: int, devices: int, draws: Draws) -> Law:
    shards = devices * shards_per_device
    owner = np.empty(shards, dtype=np.int64)
    owner[draws.order("data/partition/shard", np.arange(shards))] = np.arange(shards) // shards_per_device

    def law(labels: Whole) -> Whole:
        owners = np.empty(len(labels), dtype=np.int64)
        owners[np.argsort(labels, kind="stable")] = owner[np.arange(len(labels)) * shards // max(len(labels), 1)]
        return owners

    return law


def dirichlet_shares(draws: Draws, labels: Whole, devices: int, concentration: float) -> NDArray[np.float64]:
    """Return each device's share of each of these classes: (labels, devices)."""
    cells = np.repeat(labels, devices), np.tile(np.arange(devices), len(labels))
    logarithms = _log_gammas(draws, *cells, concentration).reshape(len(labels), devices)
    gammas = np.exp(logarithms - logarithms.max(axis=1, keepdims=True))
    return np.asarray(gammas / gammas.sum(axis=1, keepdims=True))


def _log_gammas(draws: Draws, labels: Whole, devices: Whole, shape: float) -> NDArray[np.float64]:
    """Return the logarithm of a gamma of this shape for each pair of label and device."""
    d = shape + 1 - 1 / 3
    logarithms = np.empty(len(labels))
    pending, attempt = np.arange(len(labels)), 0
    while len(pending):
        key = labels[pending], (attempt << _ATTEMPT_SHIFT) + devices[pending]
        normal = draws.normal("data/partition/normal", *key)
        cube = (1 + normal / np.sqrt(9 * d)) ** 3
        log_cube = np.log(np.where(cube > 0, cube, 1.0))
        log_uniform = np.log1p(-draws.uniform("data/partition/accept", *key))
        accepted = (cube > 0) & (log_uniform < normal * normal / 2 + d * (1 - cube + log_cube))
        logarithms[pending[accepted]] = np.log(d) + log_cube[accepted]
        pending, attempt = pending[~accepted], attempt + 1
    power = np.log1p(-draws.uniform("data/partition/power", labels, devices)) / shape
    return np.asarray(logarithms + power)


def _nobody_empty(owners: Whole, devices: int) -> Whole:
    """Return the owners after each device without a sample has taken the last one of a device that has most."""
    sizes = np.bincount(owners, minlength=devices)
    owners = owners.copy()
    by_owner, ends = np.argsort(owners, kind="stable"), np.cumsum(sizes)
    richest = [(-size, device) for device, size in enumerate(sizes.tolist())]
    heapq.heapify(richest)
    for empty in np.flatnonzero(sizes == 0).tolist():
        negative, device = richest[0]
        owners[by_owner[ends[device] - 1]] = empty
        ends[device] -= 1
        heapq.heapreplace(richest, (negative + 1, device))
    return owners
