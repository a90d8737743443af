"""What a strategy costs beyond plain SGD and the model itself: bytes on the air, multiply-adds, memory of a sensor.

fedprox     memory for the model that the round started from, and a multiply-add a parameter in each step: the pull
fedmmd      memory for the model that the round started from, and one more forward pass a sample, through that model
fedfusion   memory for its convolutions, one more forward pass of them, and the fusion itself, whose weights are sent
            both ways. With C channels these are: conv 2 C C + C, multi C, single 1
ida         one number, up (variant intrac); a sensor is taken to know its training accuracy from training
hfedms-d    memory for Q semantic vectors with their labels, and for the extractor in whose space they are

Where sensors descend by Adam (local_optimiser), each trained parameter has two moments in memory and costs seven
multiply-adds more in each step: two products for the first moment, b1 m + (1 - b1) g, three for the second,
b2 v + (1 - b2) g g, and a root and a division for m / (sqrt(v) + eps), counted as one each, though a small processor
takes longer for these. The corrections of the bias are two numbers a step.
"""

from math import ceil

from hfedms_sim.scenario import (
    TRAINING_PASSES,
    FedFusionSettings,
    FedMMDSettings,
    FedProxSettings,
    HFedMSDynamicSettings,
    IdaSettings,
    LocalTraining,
    ModelSpec,
)
from hfedms_sim.units import BYTES_PER_PARAMETER

_LABEL_BYTES = 1
_ADAM_MULTIPLY_ADDS, _ADAM_MOMENTS = 7, 2


def fusion_parameters(settings: LocalTraining, model: ModelSpec) -> int:
    if not isinstance(settings, FedFusionSettings):
        return 0
    channels = model.convolutions[-1].outputs
    return {"conv": 2 * channels * channels + channels, "multi": channels, "single": 1}[settings.operator]


def model_bytes(settings: LocalTraining, model: ModelSpec) -> int:
    """Of what goes each way in a full round."""
    return model.model_bytes + BYTES_PER_PARAMETER * fusion_parameters(settings, model)


def extra_uplink_bytes(settings: LocalTraining) -> int:
    return BYTES_PER_PARAMETER if isinstance(settings, IdaSettings) and settings.variant == "intrac" else 0


def training_multiply_adds(settings: LocalTraining, model: ModelSpec) -> int:
    """Of one sample in one epoch."""
    plain = TRAINING_PASSES * model.multiply_adds
    plain += optimiser_multiply_adds(settings, model.parameters + fusion_parameters(settings, model))
    if isinstance(settings, FedProxSettings):
        return plain + ceil(model.parameters / settings.batch_size)
    if isinstance(settings, FedMMDSettings):
        return plain + model.multiply_adds
    if isinstance(settings, FedFusionSettings):
        convolutions = sum(layer.multiply_adds for layer in model.convolutions)
        return plain + convolutions + TRAINING_PASSES * _fusion_multiply_adds(settings, model)
    return plain


def optimiser_multiply_adds(settings: LocalTraining, parameters: int) -> int:
    """Return what Adam takes beyond plain SGD for so many parameters: a sample's share of a step."""
    return ceil(_ADAM_MULTIPLY_ADDS * parameters / settings.batch_size) if settings.local_optimiser == "adam" else 0


def extra_memory_bytes(settings: LocalTraining, model: ModelSpec) -> int:
    """What a sensor holds beside the model it trains."""
    moments = _ADAM_MOMENTS * model_bytes(settings, model) if settings.local_optimiser == "adam" else 0
    return moments + _frozen_bytes(settings, model)


def _frozen_bytes(settings: LocalTraining, model: ModelSpec) -> int:
    """Return the size of what a sensor keeps and does not train."""
    if isinstance(settings, (FedProxSettings, FedMMDSettings)):
        return model.model_bytes
    if isinstance(settings, FedFusionSettings):
        return BYTES_PER_PARAMETER * sum(layer.parameters for layer in model.convolutions)
    if isinstance(settings, HFedMSDynamicSettings) and settings.interval > 1 and settings.scc == "on":
        vector_bytes = BYTES_PER_PARAMETER * model.classifier.inputs + _LABEL_BYTES
        return settings.memory * vector_bytes + BYTES_PER_PARAMETER * model.extractor_parameters
    return 0


def _fusion_multiply_adds(settings: FedFusionSettings, model: ModelSpec) -> int:
    """On the last convolution's features, after its pooling."""
    last = model.convolutions[-1]
    pixels = (last.side // 2) ** 2
    return pixels * last.outputs * (2 * last.outputs if settings.operator == "conv" else 2)
