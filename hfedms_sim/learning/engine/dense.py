"""A dense layer that every chain trains its own copy of: y = x W^T + c, in two forms with one interface.

**Shared**: all chains start from the same W0, and the gradient of a mini-batch of b samples is a product of b deltas
and b inputs. So W is never written. It is W0 less the learning rate times what the chain has seen, its *history* of
inputs X and (weighted) deltas D, one row a sample:

    W = W0 - lr D^T X          y = x W0^T - lr (x X^T) D          dx = d W0 - lr (d D^T) X

Step t of all chains is then one product of many rows with W0, read once, plus corrections whose cost grows with the
rank of the history; the mean over chains is one product too. FedProx's pull towards W0 shrinks W - W0 by q = 1 - lr mu
before each update: row i of the history counts q^(t - 1 - i) in step t, exactly.

**Private**: each chain has its W. Better where the history would soon hold more numbers than W itself.
"""

from collections.abc import Sequence
from typing import Protocol

import torch
from torch import Tensor

from hfedms_sim.learning.engine.base import Sgd
from hfedms_sim.learning.engine.steps import SgdStep

_LARGEST_HISTORY = 2
"""Times the layer's own weights, beyond which copies of them are faster (benchmarks/engine.py)."""


class ChainedDense(Protocol):
    bias: Tensor
    """Those of all chains, stacked."""

    def forward(self, inputs: Tensor) -> Tensor:
        """(chains still going, samples, features); those are the first ones."""

    def backward(self, deltas: Tensor) -> Tensor:
        """A step of the weights. Gives the deltas of the inputs, by the weights before it."""

    def add_mean_update(self, total: Tensor, shares: Sequence[float]) -> None:
        """Adds the sum of share x (W - W0)."""

    def update_of(self, chain: int) -> Tensor:
        """W - W0."""

    def squared_distances(self, update: Tensor) -> Tensor:
        """Return the squared distance of each chain's W from W0 + update."""


class SharedDense:
    def __init__(self, weight: Tensor, bias: Tensor, chains: int, rank: int, sgd: Sgd) -> None:
        outputs, features = weight.shape
        self.bias = bias.repeat(chains, 1)
        self._weight, self._start_bias = weight, bias
        self._sgd_step = SgdStep(sgd)
        self._rank = 0
        self._inputs = weight.new_zeros((chains, rank, features))
        self._deltas = weight.new_zeros((chains, rank, outputs))
        self._counts = weight.new_ones((chains, rank))

    def forward(self, inputs: Tensor) -> Tensor:
        going, width, _ = inputs.shape
        outputs = (inputs.flatten(0, 1) @ self._weight.t()).view(going, width, -1)
        outputs += self.bias[:going, None]
        self._correct(outputs, inputs, self._inputs, self._deltas)
        self._inputs[:going, self._rank : self._rank + width] = inputs
        return outputs

    def backward(self, deltas: Tensor) -> Tensor:
        going, width, _ = deltas.shape
        input_deltas = (deltas.flatten(0, 1) @ self._weight).view(going, width, -1)
        self._correct(input_deltas, deltas, self._deltas, self._inputs)
        self._deltas[:going, self._rank : self._rank + width] = deltas
        self._sgd_step.step(self.bias[:going], deltas.sum(dim=1), self._start_bias)
        self._counts[:going, : self._rank] *= self._sgd_step.kept
        self._rank += width
        return input_deltas

    def add_mean_update(self, total: Tensor, shares: Sequence[float]) -> None:
        deltas = self._updates(slice(None)).mul_(total.new_tensor(shares)[:, None, None])
        total.addmm_(deltas.flatten(0, 1).t(), self._inputs.flatten(0, 1))

    def update_of(self, chain: int) -> Tensor:
        return self._updates(chain).t() @ self._inputs[chain]

    def squared_distances(self, update: Tensor) -> Tensor:
        """|u - U|^2 = |u|^2 - 2 <u, U> + |U|^2 with u = E^T X, whose |u|^2 is the sum over (E E^T) o (X X^T)."""
        deltas = self._updates(slice(None))
        towards = (deltas * (self._inputs @ update.t())).double().sum(dim=(1, 2))
        own = torch.stack(
            [((e @ e.t()) * (x @ x.t())).double().sum() for e, x in zip(deltas, self._inputs, strict=True)]
        )
        return (own - 2 * towards + update.double().square().sum()).clamp_(min=0)

    def _updates(self, chains: int | slice) -> Tensor:
        """E: the deltas times what they count in W - W0 = E^T X."""
        return self._deltas[chains] * (self._counts[chains] * -self._sgd_step.rate)[..., None]

    def _correct(self, target: Tensor, rows: Tensor, across: Tensor, along: Tensor) -> None:
        """target -= lr (rows across^T) along, chain by chain, by the history up to this step."""
        if not self._rank:
            return
        going = len(rows)
        products = torch.bmm(rows, across[:going, : self._rank].transpose(1, 2))
        if self._sgd_step.is_pulled:
            products *= self._counts[:going, None, : self._rank]
        target.baddbmm_(products, along[:going, : self._rank], alpha=-self._sgd_step.rate)


class PrivateDense:
    def __init__(self, weight: Tensor, bias: Tensor, chains: int, sgd: Sgd) -> None:
        self.bias = bias.repeat(chains, 1)
        self._start, self._start_bias = weight, bias
        self._weights = weight.repeat(chains, 1, 1)
        self._sgd_step = SgdStep(sgd)
        self._inputs = weight

    def forward(self, inputs: Tensor) -> Tensor:
        self._inputs = inputs
        going = len(inputs)
        return torch.baddbmm(self.bias[:going, None], inputs, self._weights[:going].transpose(1, 2))

    def backward(self, deltas: Tensor) -> Tensor:
        going = len(deltas)
        weights = self._weights[:going]
        input_deltas = torch.bmm(deltas, weights)
        self._sgd_step.pull_back(weights, self._start)
        weights.baddbmm_(deltas.transpose(1, 2), self._inputs, alpha=-self._sgd_step.rate)
        self._sgd_step.step(self.bias[:going], deltas.sum(dim=1), self._start_bias)
        return input_deltas

    def add_mean_update(self, total: Tensor, shares: Sequence[float]) -> None:
        for share, weights in zip(shares, self._weights, strict=True):
            total.add_(weights - self._start, alpha=share)

    def update_of(self, chain: int) -> Tensor:
        return self._weights[chain] - self._start

    def squared_distances(self, update: Tensor) -> Tensor:
        centre = self._start + update
        return torch.stack([(weights - centre).double().square().sum() for weights in self._weights])


def make_dense(
    weight: Tensor, bias: Tensor, chains: int, rank: int, sgd: Sgd, *, shared: type[SharedDense] = SharedDense
) -> ChainedDense:
    if _is_shared(weight, rank):
        return shared(weight, bias, chains, rank, sgd)
    return PrivateDense(weight, bias, chains, sgd)


def dense_numbers(weight: Tensor, rank: int) -> int:
    """How many numbers a chain keeps of the layer."""
    return rank * sum(weight.shape) if _is_shared(weight, rank) else weight.numel()


def _is_shared(weight: Tensor, rank: int) -> bool:
    return rank * sum(weight.shape) <= _LARGEST_HISTORY * weight.numel()
