"""Chains cut into steps: step t of all chains is one padded mini-batch each, so that it can be computed together.

Chains are sorted by their number of mini-batches, longest first: those still going in step t are the first ones. A
mini-batch with fewer samples than the widest of its step is filled up with samples of weight 0. The others weigh one
over their mini-batch's size, so that the deltas of a step, weighted, sum up to its gradient.
"""

from collections.abc import Iterator, Sequence
from typing import NamedTuple

import torch
from torch import Tensor

from hfedms_sim.learning.engine.base import Chain, Sgd


class Step(NamedTuple):
    inputs: Tensor
    """(chains still going, samples, ...)"""
    labels: Tensor
    weights: Tensor


class Steps:
    """The steps of one bundle of chains, each with at least one sample."""

    def __init__(self, chains: Sequence[Chain], batch_size: int) -> None:
        self._batches = [_mini_batches(chain, batch_size) for chain in chains]
        counts = [len(batches) for batches in self._batches]
        assert counts == sorted(counts, reverse=True)
        self._going = [sum(count > step for count in counts) for step in range(max(counts, default=0))]
        self.widths = [
            max(len(batches[step]) for batches in self._batches[:going]) for step, going in enumerate(self._going)
        ]
        self._inputs = torch.cat([local.inputs for chain in chains for local in chain])
        self._labels = torch.cat([local.labels for chain in chains for local in chain])
        self._first = _offsets(chains)

    @property
    def rank(self) -> int:
        """Return the rank of the longest chain's update: its samples, padding included."""
        return sum(self.widths)

    def __iter__(self) -> Iterator[Step]:
        for step, (going, width) in enumerate(zip(self._going, self.widths, strict=True)):
            rows = torch.zeros((going, width), dtype=torch.int64)
            weights = self._inputs.new_zeros((going, width))
            for chain, batches in enumerate(self._batches[:going]):
                chosen = batches[step]
                rows[chain, : len(chosen)] = chosen + self._first[chain]
                weights[chain, : len(chosen)] = 1 / len(chosen)
            yield Step(self._inputs[rows], self._labels[rows], weights)


class SgdStep:
    """Steps a parameter that every chain has its own copy of: w <- start + q (w - start) - lr gradient.

    q is 1 but for FedProx's pull towards where the round started, where it is 1 - lr mu.
    """

    def __init__(self, sgd: Sgd) -> None:
        self.rate = sgd.learning_rate
        self.kept = 1 - sgd.learning_rate * sgd.proximal
        self.is_pulled = sgd.proximal != 0

    def pull_back(self, weights: Tensor, start: Tensor) -> None:
        if self.is_pulled:
            weights.lerp_(start.expand_as(weights), 1 - self.kept)

    def step(self, weights: Tensor, gradients: Tensor, start: Tensor) -> None:
        """Step in place; `weights` and `gradients` are those of the chains still going."""
        self.pull_back(weights, start)
        weights.add_(gradients, alpha=-self.rate)


def _mini_batches(chain: Chain, batch_size: int) -> list[Tensor]:
    """Rows of the chain's samples, its sets one after the other."""
    batches: list[Tensor] = []
    first = 0
    for local in chain:
        for order in local.epochs:
            batches += (first + order).split(batch_size) if len(order) else ()
        first += len(local.labels)
    return batches


def _offsets(chains: Sequence[Chain]) -> list[int]:
    first, offsets = 0, []
    for chain in chains:
        offsets.append(first)
        first += sum(len(local.labels) for local in chain)
    return offsets


def steps_of(chain: Chain, batch_size: int) -> int:
    """How many mini-batches it has."""
    return sum(-(-len(order) // batch_size) for local in chain for order in local.epochs)
