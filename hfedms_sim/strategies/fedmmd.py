"""FedMMD: Yao, Huang, Sun, "Two-Stream Federated Learning: Reduce the Communication Costs", VCIP 2018.

A sensor has two streams: the model it trains and the one it was sent, frozen. Its loss is the cross-entropy of the
first and lambda times the squared maximum mean discrepancy between the outputs of both on the same mini-batch
(learners/fedmmd.py). Only the trained model is sent back, and averaged as in FedAvg. One more forward pass a sample.
"""

from collections.abc import Mapping
from typing import Annotated, ClassVar, Literal

from pydantic import Field

from hfedms_sim.scenario import ModelSpec, NonNegativeFloat
from hfedms_sim.strategies.costs import Costs, plain_costs
from hfedms_sim.strategies.fedavg import Averaging, AveragingSettings


class FedMMDSettings(AveragingSettings):
    decisive: ClassVar[Mapping[str, tuple[float | str, ...]]] = {"learning_rate": (0.03, 0.1), "lambda": (0.01, 0.1)}

    """Two streams: the local model, and the frozen one that the round started from."""

    name: Literal["fedmmd"] = "fedmmd"
    discrepancy_weight: Annotated[NonNegativeFloat, Field(alias="lambda")] = 0.1
    """Weight of the discrepancy between the two streams."""


class FedMMD(Averaging[FedMMDSettings]):
    paper = "Yao et al., Two-Stream Federated Learning: Reduce the Communication Costs, VCIP 2018"
    rule = "loss_k + lambda MMD^2(logits of w, logits of w_k);  w <- sum_k (n_k / n) w_k"
    Settings: ClassVar = FedMMDSettings
    learner = "hfedms_sim.strategies.learners.fedmmd:TwoStreamLearner"

    @classmethod
    def costs(cls, settings: FedMMDSettings, model: ModelSpec) -> Costs:
        return plain_costs(settings, model, extra_multiply_adds=model.multiply_adds, frozen_bytes=model.model_bytes)
