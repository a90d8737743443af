"""Whether everybody trained the same: each model after a round against the plain loop's, in its order of samples.

The plain loop's mean is taken in double precision here. A difference is given in roundings of the weights,
|w - w_plain| / (2^-24 |w_plain|): sums of a hundred models in single precision differ by some of these, whereas a step
or a client too few, another learning rate or another mean gives far more.
"""

from collections.abc import Sequence
from math import sqrt
from pathlib import Path

import torch
from torch import Tensor

from benchmarks.bars import at_most
from benchmarks.peers.contest import Contestant
from benchmarks.peers.plain import client_ends
from benchmarks.peers.workload import Network, Weights, Workload, load_outcome

ROUNDING = 2**-24
ROUNDINGS_BAR = 20.0


def same_outcomes(contestants: Sequence[Contestant], workload: Workload, directory: Path) -> list[bool]:
    references = _References(workload)
    same = []
    for contestant in contestants:
        path = directory / "outcome.npz"
        contestant.save(path)
        weights, order = load_outcome(path)
        reference = references.of(order)
        roundings = distance(weights, reference) / (ROUNDING * norm(reference))
        same.append(at_most(f"roundings between {contestant.name} and the plain loop", roundings, ROUNDINGS_BAR))
    return same


def distance(one: Weights, other: Weights) -> float:
    if one.keys() != other.keys():
        raise ValueError(f"parameters differ: {sorted(one.keys() ^ other.keys())}")
    return norm({name: one[name].double() - other[name].double() for name in one})


def norm(weights: Weights) -> float:
    return sqrt(sum(float(value.double().square().sum()) for value in weights.values()))


class _References:
    """The plain loop's models, by the order of the samples: most contestants have the same one."""

    def __init__(self, workload: Workload) -> None:
        self._workload = workload
        self._known: list[tuple[Tensor, Weights]] = []

    def of(self, order: Tensor) -> Weights:
        for known, weights in self._known:
            if known.equal(order):
                return weights
        self._known.append((order, _exact_mean(self._workload, order)))
        return self._known[-1][1]


def _exact_mean(workload: Workload, order: Tensor) -> Weights:
    total = {name: torch.zeros_like(value, dtype=torch.float64) for name, value in workload.start.items()}
    for end in client_ends(Network(), workload.start, workload, order):
        for name, value in end.items():
            total[name] += value
    return {name: value / workload.clients for name, value in total.items()}
