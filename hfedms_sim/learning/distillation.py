"""A loss that also holds on to what the model knew before the round.

    cross-entropy + weight x KL(softmax of the global model || softmax of the local one)

The divergence is averaged over samples and over classes. The paper does not have it; its authors' program does,
with weight 0.1.
"""

from torch import Tensor
from torch.nn import functional

from hfedms_sim.learning.engine.base import Loss
from hfedms_sim.learning.frozen import frozen
from hfedms_sim.learning.networks import Network, Weights
from hfedms_sim.scenario import ModelSpec


def distilling(teacher: Weights, model: ModelSpec, weight: float) -> Loss:
    known_logits = frozen(teacher, model)

    def loss(network: Network, images: Tensor, labels: Tensor) -> Tensor:
        logits = network(images)
        known = functional.log_softmax(known_logits(images), dim=1)
        terms = functional.kl_div(functional.log_softmax(logits, dim=1), known, reduction="none", log_target=True)
        return functional.cross_entropy(logits, labels) + weight * terms.mean()

    return loss
