"""The server's average: a running weighted mean, so that no more than two models are in memory.

After results 1..j with shares s_1..s_j the mean is m_j = m_(j-1) + s_j / (s_1 + ... + s_j) (w_j - m_(j-1)). Results
that are all equal so keep their last bit, which a sum divided by its count would not.
"""

import torch

from hfedms_sim.learning.networks import Weights


class RunningMean:
    def __init__(self) -> None:
        self._mean: Weights | None = None
        self._total = 0.0

    def add(self, weights: Weights, share: float) -> None:
        if share <= 0:
            return
        self._total += share
        with torch.no_grad():
            if self._mean is None:
                self._mean = {name: value.detach().clone() for name, value in weights.items()}
                return
            for name, mean in self._mean.items():
                mean.add_(weights[name].detach() - mean, alpha=share / self._total)

    def result(self) -> Weights | None:
        """Return the mean; None if nothing has come."""
        return self._mean
