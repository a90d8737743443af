"""What sensors minimise on a mini-batch, as a function of its logits: cross-entropy, and what holds on to a model.

    loss = mean cross-entropy + weight x discrepancy(reference, logits)

The reference are the logits of the model that the round started from, on the same samples. FedMMD and distillation
differ in the discrepancy only. Each loss is written down twice: its value, which the plain engine leaves to autograd,
and its gradient at the logits by hand, for the mini-batches of many chains at once. Tests hold them together.
"""

from collections.abc import Callable
from typing import NamedTuple

from torch import Tensor
from torch.nn import functional


class Discrepancy(NamedTuple):
    """How far the logits of a mini-batch are from the reference, and the gradient of that."""

    value: Callable[[Tensor, Tensor], Tensor]
    """Takes reference and logits, both (samples, classes), to one number."""
    deltas: Callable[[Tensor, Tensor, Tensor], Tensor]
    """Takes reference and logits, both (chains, samples, classes), and weights (chains, samples) to the gradient of
    every chain's value at its logits. A weight is one over the size of the mini-batch, or 0 where a sample is padding.
    """


class Loss(NamedTuple):
    weight: float = 0.0
    discrepancy: Discrepancy | None = None

    def value(self, logits: Tensor, labels: Tensor, reference: Tensor | None) -> Tensor:
        """Return the loss of one mini-batch. Without a discrepancy nobody looks at the reference."""
        plain = functional.cross_entropy(logits, labels)
        if self.discrepancy is None or reference is None:
            return plain
        return plain + self.weight * self.discrepancy.value(reference, logits)

    def deltas(self, logits: Tensor, labels: Tensor, weights: Tensor, reference: Tensor | None) -> Tensor:
        """Return the gradient of every chain's loss at its logits; shapes are those of `Discrepancy.deltas`."""
        deltas = functional.softmax(logits, dim=-1)
        deltas.scatter_add_(2, labels[:, :, None], deltas.new_full((*labels.shape, 1), -1.0))
        deltas *= weights[:, :, None]
        if self.discrepancy is not None and reference is not None:
            deltas.add_(self.discrepancy.deltas(reference, logits, weights), alpha=self.weight)
        return deltas


CROSS_ENTROPY = Loss()
