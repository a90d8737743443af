"""FedMMD's sensors: a loss of two streams, and the maximum mean discrepancy between them.

    MMD^2(X, Y) = mean k(x, x') + mean k(y, y') - 2 mean k(x, y)        all pairs, diagonals included
    k(x, y) = sum over s of exp(-|x - y|^2 / (2 s))

with nineteen widths s from 1e-6 to 1e6. The authors' program cuts the value off below 1e-4, which leaves no gradient
while the two streams are still alike; here it may go down to zero, and has no gradient where rounding takes it below.

The narrow kernels make a gradient of 1e6 times a difference of logits: where the two streams are equal they must be so
to the last bit, or rounding is what is learnt. Differences are therefore always taken first and never multiplied out.
"""

import torch
from torch import Tensor

from hfedms_sim.learning.engine.losses import Discrepancy, Loss
from hfedms_sim.learning.learner import ChainLearner, LearnerContext
from hfedms_sim.strategies.fedmmd import FedMMDSettings

WIDTHS = (1e-6, 1e-5, 1e-4, 1e-3, 1e-2, 1e-1, 1, 5, 10, 15, 20, 25, 30, 35, 100, 1e3, 1e4, 1e5, 1e6)
_PAIRED_NUMBERS = 2**22
"""How many differences of logits are in memory at once, unless those of one mini-batch are more."""


def squared_discrepancy(one: Tensor, other: Tensor) -> Tensor:
    value = mean_kernel(one, one) + mean_kernel(other, other) - 2 * mean_kernel(one, other)
    return value.clamp(min=0)


def squared_discrepancy_deltas(frozen: Tensor, local: Tensor, weights: Tensor) -> Tensor:
    """Return the gradients by the local stream's logits, of as many chains at a time as memory allows."""
    _, samples, classes = local.shape
    few = max(1, _PAIRED_NUMBERS // (samples * samples * classes))
    blocks = zip(frozen.split(few), local.split(few), weights.split(few), strict=True)
    return torch.cat([_deltas(*block) for block in blocks])


def two_streams(weight: float) -> Loss:
    """Cross-entropy of the local stream, and the discrepancy of its logits from the frozen stream's."""
    return Loss(weight, Discrepancy(squared_discrepancy, squared_discrepancy_deltas))


def _deltas(x: Tensor, y: Tensor, weights: Tensor) -> Tensor:
    """Return the gradients by the rows y_a of y.

    They are -2 sum over b of w_a w_b (h(y_a, y_b) (y_a - y_b) - h(y_a, x_b) (y_a - x_b)), with h = sum of k_s / s.
    """
    pairs = weights[:, :, None] * weights[:, None]
    inside, across = _differences(y, y), _differences(y, x)
    (of_y, slopes_inside), (between, slopes_across) = kernel(inside), kernel(across)
    of_x, _ = kernel(_differences(x, x))
    value = (pairs * (of_x + of_y - 2 * between)).sum(dim=(1, 2), keepdim=True)
    pulls = (pairs * slopes_inside)[..., None] * inside - (pairs * slopes_across)[..., None] * across
    return pulls.sum(dim=2).mul_(-2 * (value >= 0))


def mean_kernel(one: Tensor, other: Tensor) -> Tensor:
    values, _ = kernel(_differences(one, other))
    return values.mean()


def _differences(one: Tensor, other: Tensor) -> Tensor:
    """Return the difference of every sample of one and every sample of the other."""
    return one.unsqueeze(-2) - other.unsqueeze(-3)


def kernel(differences: Tensor) -> tuple[Tensor, Tensor]:
    """Return the sum of the Gaussians, and the same with each divided by its width."""
    squared = differences.square().sum(dim=-1)
    widths = torch.tensor(WIDTHS, dtype=squared.dtype).reshape(-1, *(1 for _ in squared.shape))
    terms = torch.exp(-squared / (2 * widths))
    return terms.sum(dim=0), (terms / widths).sum(dim=0)


class TwoStreamLearner(ChainLearner):
    def __init__(self, settings: FedMMDSettings, context: LearnerContext) -> None:
        super().__init__(settings, context)
        self._weight = settings.discrepancy_weight

    def _loss(self) -> Loss:
        return two_streams(self._weight) if self._weight else super()._loss()
