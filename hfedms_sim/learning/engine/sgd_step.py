"""The step of a parameter that every chain has its own copy of: w <- start + q (w - start) - lr gradient.

q is 1 but for FedProx's pull towards where the round started, where it is 1 - lr mu.
"""

from torch import Tensor

from hfedms_sim.learning.engine.base import Sgd


class SgdStep:
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
