"""The server of FedAdagrad, FedAdam and FedYogi: an adaptive optimiser whose moments are part of the state.

The mean change of a round is a pseudo-gradient Delta.

adagrad   m = Delta                            v <- v + Delta^2
adam      m <- b1 m + (1 - b1) Delta           v <- b2 v + (1 - b2) Delta^2
yogi      m as adam                            v <- v - (1 - b2) Delta^2 sign(v - Delta^2)

w <- w + rate m / (sqrt(v) + tau),   without bias correction; m starts at 0, v at tau^2
"""

from dataclasses import dataclass, field
from typing import Literal

import torch
from torch import Tensor

from hfedms_sim.learning.learner import ChainLearner, LearnerContext
from hfedms_sim.learning.networks import Weights
from hfedms_sim.learning.state import arrays_of, weights_under
from hfedms_sim.lineage import State
from hfedms_sim.strategies.fedopt import FedAdagradSettings, FedAdamSettings, FedYogiSettings

Rule = Literal["adagrad", "adam", "yogi"]


@dataclass
class ServerOptimiser:
    rule: Rule
    rate: float
    tau: float
    beta1: float = 0.0
    beta2: float = 0.0
    first: Weights = field(default_factory=dict)
    second: Weights = field(default_factory=dict)

    def state(self) -> State:
        return arrays_of("first", self.first) | arrays_of("second", self.second)

    def restore(self, state: State) -> None:
        self.first, self.second = weights_under("first", state), weights_under("second", state)

    def step(self, weights: Weights, mean: Weights) -> Weights:
        """Return the new values of all that is in `mean`, which is what the participants' models average to."""
        return {name: self._step(name, weights[name], value - weights[name]) for name, value in mean.items()}

    def _step(self, name: str, value: Tensor, change: Tensor) -> Tensor:
        first = self.first.get(name, torch.zeros_like(value))
        second = self.second.get(name, torch.full_like(value, self.tau**2))
        squared = change.square()
        if self.rule == "adagrad":
            first, second = change, second + squared
        else:
            first = self.beta1 * first + (1 - self.beta1) * change
            if self.rule == "adam":
                second = self.beta2 * second + (1 - self.beta2) * squared
            else:
                second = second - (1 - self.beta2) * squared * torch.sign(second - squared)
        self.first[name], self.second[name] = first, second
        return value + self.rate * first / (second.sqrt() + self.tau)


class AdaptiveServerLearner(ChainLearner):
    def __init__(
        self, settings: FedAdagradSettings | FedAdamSettings | FedYogiSettings, context: LearnerContext
    ) -> None:
        super().__init__(settings, context)
        rate, tau = settings.server_learning_rate, settings.tau
        if settings.name == "fedadagrad":
            self.optimiser = ServerOptimiser("adagrad", rate, tau)
        else:
            rule: Rule = "yogi" if settings.name == "fedyogi" else "adam"
            self.optimiser = ServerOptimiser(rule, rate, tau, settings.beta1, settings.beta2)

    def state(self) -> State:
        return super().state() | self.optimiser.state()

    def restore(self, state: State) -> None:
        super().restore(state)
        self.optimiser.restore(state)

    def _server_step(self, mean: Weights) -> Weights:
        return self.optimiser.step(self.weights, mean)
