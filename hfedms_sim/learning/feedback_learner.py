"""A learner whose sensors keep what they have not sent yet."""

from torch import Tensor

from hfedms_sim.learning.error_feedback import ErrorFeedback
from hfedms_sim.learning.learner import Learner
from hfedms_sim.learning.networks import Weights
from hfedms_sim.lineage import State
from hfedms_sim.rounds import RoundRecord


class FeedbackLearner:
    """Any learner, with its sensors' residuals as a part of its state."""

    def __init__(self, learner: Learner, feedback: ErrorFeedback) -> None:
        self._learner = learner
        self._feedback = feedback

    @property
    def weights(self) -> Weights:
        return self._learner.weights

    def learn(self, record: RoundRecord) -> None:
        self._learner.learn(record)
        self._feedback.end_round()

    def logits(self, weights: Weights, images: Tensor) -> Tensor:
        return self._learner.logits(weights, images)

    def state(self) -> State:
        return self._learner.state() | self._feedback.state()

    def restore(self, state: State) -> None:
        self._learner.restore(state)
        self._feedback.restore(state)
