"""A loss that also holds on to what the model knew before the round.

    cross-entropy + weight x KL(softmax of the global model || softmax of the local one)

The divergence is averaged over samples and over classes. The paper does not have it; its authors' program does,
with weight 0.1. Its gradient by a sample's logits is the difference of the two probabilities over the classes.
"""

from torch import Tensor
from torch.nn import functional

from hfedms_sim.learning.engine.losses import Discrepancy, Loss


def divergence(teacher: Tensor, local: Tensor) -> Tensor:
    known, learnt = (functional.log_softmax(logits, dim=1) for logits in (teacher, local))
    return functional.kl_div(learnt, known, reduction="none", log_target=True).mean()


def divergence_deltas(teacher: Tensor, local: Tensor, weights: Tensor) -> Tensor:
    apart = functional.softmax(local, dim=-1) - functional.softmax(teacher, dim=-1)
    return apart * (weights / local.shape[-1])[:, :, None]


def distilling(weight: float) -> Loss:
    return Loss(weight, Discrepancy(divergence, divergence_deltas))
