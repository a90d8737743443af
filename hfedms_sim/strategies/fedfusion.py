"""FedFusion: Yao, Huang, Wu, Zhang, Sun, "Towards Faster and Better Federated Learning: A Feature Fusion Approach",
ICIP 2019.

A sensor keeps the convolutions it was sent frozen beside those it trains, and fuses the features of both before the
dense layers (learning/fusion.py): by a 1x1 convolution (conv), or by a weight for each channel (multi) or for all
(single). The fusion's weights are trained, sent and averaged too; the server moves gamma by a tenth of the way only.
With C channels these are: conv 2 C C + C, multi C, single 1. The frozen convolutions cost one more forward pass.
"""

from typing import ClassVar, Literal

from hfedms_sim.scenario import NO_MATRICES, TRAINING_PASSES, Matrices, ModelSpec
from hfedms_sim.strategies.costs import Costs, plain_costs
from hfedms_sim.strategies.fedavg import Averaging, AveragingSettings
from hfedms_sim.units import BYTES_PER_PARAMETER


class FedFusionSettings(AveragingSettings):
    name: Literal["fedfusion"] = "fedfusion"
    operator: Literal["conv", "multi", "single"] = "conv"
    """How features of the local and of the frozen extractor are fused: a 1x1 convolution, or by a weight per channel,
    or by one for all."""

    def refusal_of(self, model: ModelSpec) -> str | None:
        if model.stack is None or model.make is not None:
            return f"fedfusion fuses the features of a shipped stack of convolutions, and model: {model.name} is none"
        if not model.convolutions:
            return f"fedfusion fuses the features of a convolution, and model: {model.name} has none"
        return None


class FedFusion(Averaging[FedFusionSettings]):
    paper = "Yao et al., Towards Faster and Better Federated Learning: A Feature Fusion Approach, ICIP 2019"
    rule = "features = F(E_k, E);  w, F <- sum_k (n_k / n) (w_k, F_k);  gamma <- 0.9 gamma + 0.1 mean gamma_k"
    Settings: ClassVar = FedFusionSettings
    learner = "hfedms_sim.strategies.learners.fedfusion:FusionLearner"

    @classmethod
    def costs(cls, settings: FedFusionSettings, model: ModelSpec) -> Costs:
        frozen, last = model.convolutions, model.convolutions[-1]
        channels, (rows, columns) = last.outputs, last.pooled
        weights = {"conv": 2 * channels * channels + channels, "multi": channels, "single": 1}[settings.operator]
        fusion = rows * columns * channels * (2 * channels if settings.operator == "conv" else 2)
        return plain_costs(
            settings,
            model,
            extra_parameters=weights,
            extra_matrices=Matrices(weights - channels, channels) if settings.operator == "conv" else NO_MATRICES,
            extra_multiply_adds=sum(layer.multiply_adds for layer in frozen) + TRAINING_PASSES * fusion,
            frozen_bytes=BYTES_PER_PARAMETER * sum(layer.parameters for layer in frozen),
        )
