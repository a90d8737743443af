"""IDA: Yeganeh, Farshad, Navab, Albarqouni, "Inverse Distance Aggregation for Federated Learning with Non-IID Data",
DCL workshop at MICCAI 2020 (arXiv:2008.07665).

The server weighs each model by the inverse of its distance to the mean of the round's models: outliers count less.
Variants multiply by the number of samples (fedavg) or by the inverse training accuracy 1 / max(1 / F, accuracy)
(intrac), which favours sensors whose data the model does not know yet; they send that one number.

Of the paper only the abstract was at hand. Not confirmed from it: the Euclidean norm over all parameters, eps, and
intrac's formula. What other programs make of it: docs/learning.md.
"""

from typing import ClassVar, Literal

from hfedms_sim.scenario import ModelSpec, ServerWeights
from hfedms_sim.strategies.costs import Costs, plain_costs
from hfedms_sim.strategies.fedavg import Averaging, AveragingSettings
from hfedms_sim.units import BYTES_PER_PARAMETER


class IdaSettings(AveragingSettings):
    name: Literal["ida"] = "ida"
    weights: ServerWeights = "samples"
    """Without effect: see variant."""
    variant: Literal["plain", "fedavg", "intrac"] = "plain"
    """Weights by the inverse distance to the mean model: alone, times the samples, or times the inverse training
    accuracy."""
    norm: Literal["l2", "l1"] = "l2"
    """The norm of that distance over all parameters: Euclidean, or the sum of absolute differences."""


class Ida(Averaging[IdaSettings]):
    paper = "Yeganeh et al., Inverse Distance Aggregation for Federated Learning with Non-IID Data, DCL at MICCAI 2020"
    rule = "w <- sum_k a_k w_k / sum_k a_k,  a_k = 1 / (|mean w - w_k| + eps)"
    Settings: ClassVar = IdaSettings
    learner = "hfedms_sim.strategies.learners.ida:InverseDistanceLearner"

    @classmethod
    def costs(cls, settings: IdaSettings, model: ModelSpec) -> Costs:
        """A sensor is taken to know its training accuracy from training, and sends that one number (intrac)."""
        number_bytes = BYTES_PER_PARAMETER if settings.variant == "intrac" else 0
        return plain_costs(settings, model, extra_uplink_bytes=number_bytes)
