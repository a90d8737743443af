"""What a participant of a full round costs: bytes on the air, multiply-adds, memory of a sensor.

Where sensors descend by Adam (local_optimiser), each trained parameter has two moments in memory and costs seven
multiply-adds more in each step: two products for the first moment, b1 m + (1 - b1) g, three for the second,
b2 v + (1 - b2) g g, and a root and a division for m / (sqrt(v) + eps), counted as one each, though a small processor
takes longer for these. The corrections of the bias are two numbers a step.
"""

from math import ceil
from typing import NamedTuple

from hfedms_sim.scenario import NO_MATRICES, TRAINING_PASSES, Contents, LocalTraining, Matrices, ModelSpec
from hfedms_sim.units import BYTES_PER_PARAMETER

_ADAM_MULTIPLY_ADDS, _ADAM_MOMENTS = 7, 2


class Costs(NamedTuple):
    model_bytes: int
    """What the server sends, and what goes each way unless the last two say otherwise."""
    parameters: int
    """How many are trained."""
    training_multiply_adds: int
    """What one sample costs in one epoch."""
    memory_bytes: int = 0
    """What a sensor holds beside the model it trains."""
    extra_uplink_bytes: int = 0
    """What it sends beside the model."""
    relay_bytes: int | None = None
    """What it hands to the next sensor of its chain; None: as `model_bytes`."""
    uplink_bytes: int | None = None
    """The model that it sends to the server; None: as `model_bytes`."""

    @property
    def bytes_up(self) -> int:
        """All that it sends to the server."""
        sent_bytes = self.model_bytes if self.uplink_bytes is None else self.uplink_bytes
        return sent_bytes + self.extra_uplink_bytes


def plain_costs(
    settings: LocalTraining,
    model: ModelSpec,
    *,
    extra_parameters: int = 0,
    extra_matrices: Matrices = NO_MATRICES,
    extra_multiply_adds: int = 0,
    frozen_bytes: int = 0,
    extra_uplink_bytes: int = 0,
) -> Costs:
    """Return the costs of three passes of the model and the sensors' optimiser, and of what a strategy adds to that.

    `extra_parameters` are trained and sent like the model's, `extra_matrices` are those of them that int8 shortens;
    `frozen_bytes` is what a sensor keeps and does not train.
    """
    sent = model.contents.with_more(extra_parameters, extra_matrices)
    legs = settings.compression.leg_bytes(sent)
    parameters = sent.trained
    moments = _ADAM_MOMENTS if settings.local_optimiser == "adam" else 0
    kept_bytes, residual_bytes = _kept_for_changes(settings, sent)
    return Costs(
        legs.downlink,
        parameters,
        TRAINING_PASSES * model.multiply_adds + optimiser_multiply_adds(settings, parameters) + extra_multiply_adds,
        moments * BYTES_PER_PARAMETER * parameters + max(frozen_bytes, kept_bytes) + residual_bytes,
        extra_uplink_bytes,
        legs.relay,
        legs.uplink,
    )


def _kept_for_changes(settings: LocalTraining, sent: Contents) -> tuple[int, int]:
    """Return what a sensor keeps to send its change compressed: the model as it came, and what topk has not sent."""
    codec = settings.compression.uplink_codec(sent.trained)
    if settings.relays or codec == "none":
        return 0, 0
    return sent.plain_bytes, BYTES_PER_PARAMETER * sent.trained if codec == "topk" else 0


def optimiser_multiply_adds(settings: LocalTraining, parameters: int) -> int:
    """Return what Adam takes beyond plain SGD for this many parameters: a sample's share of a step."""
    return ceil(_ADAM_MULTIPLY_ADDS * parameters / settings.batch_size) if settings.local_optimiser == "adam" else 0
