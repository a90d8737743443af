"""FedAvgM's server. Its velocity is part of the state, so that an interrupted run goes on as if it had not been."""

from fedavgm import FedAvgMSettings

from hfedms_sim.learning import ChainLearner, LearnerContext, State, Weights, arrays_of, weights_under

_VELOCITY = "velocity"


class MomentumLearner(ChainLearner):
    def __init__(self, settings: FedAvgMSettings, context: LearnerContext) -> None:
        super().__init__(settings, context)
        self._momentum, self._rate = settings.momentum, settings.server_learning_rate
        self._velocity: Weights = {}

    def state(self) -> State:
        return super().state() | arrays_of(_VELOCITY, self._velocity)

    def restore(self, state: State) -> None:
        super().restore(state)
        self._velocity = weights_under(_VELOCITY, state)

    def _server_step(self, mean: Weights) -> Weights:
        before, weights = self._velocity, self.weights
        change = {name: value - weights[name] for name, value in mean.items()}
        self._velocity = {
            name: self._momentum * before[name] + each if before else each for name, each in change.items()
        }
        return {name: weights[name] + self._rate * value for name, value in self._velocity.items()}
