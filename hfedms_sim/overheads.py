"""What a strategy costs beyond plain SGD and the model itself: bytes on the air, multiply-adds, memory of a sensor.

fedprox     memory for the model that the round started from, and a multiply-add a parameter in each step: the pull
fedmmd      memory for the model that the round started from, and one more forward pass a sample, through that model
fedfusion   memory for its convolutions, one more forward pass of them, and the fusion itself, whose weights are sent
            both ways. With C channels these are: conv 2 C C + C, multi C, single 1
ida         one number, up (variant intrac); a sensor is taken to know its training accuracy from training
hfedms-d    memory for Q semantic vectors with their labels, and for the extractor in whose space they are
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
    if isinstance(settings, FedProxSettings):
        return plain + ceil(model.parameters / settings.batch_size)
    if isinstance(settings, FedMMDSettings):
        return plain + model.multiply_adds
    if isinstance(settings, FedFusionSettings):
        convolutions = sum(layer.multiply_adds for layer in model.convolutions)
        return plain + convolutions + TRAINING_PASSES * _fusion_multiply_adds(settings, model)
    return plain


def extra_memory_bytes(settings: LocalTraining, model: ModelSpec) -> int:
    """What a sensor holds beside the model it trains."""
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
