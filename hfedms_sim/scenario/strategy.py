"""The settings that all strategies have in common. A strategy's own stand in its file in `strategies`."""

from collections.abc import Mapping
from typing import Annotated, Any, ClassVar, Literal

from pydantic import Field, field_validator, model_validator

from hfedms_sim.scenario.base import Fraction, PositiveFloat, PositiveInt, Settings
from hfedms_sim.scenario.compression import Compression
from hfedms_sim.scenario.models import ModelSpec

DEFAULT_STRATEGY = "hfedms-d"

ServerWeights = Literal["uniform", "samples", "local-set"]


class LocalTraining(Settings):
    """What every strategy's sensors do with a model they were sent."""

    plan_keys: ClassVar[frozenset[str]] = frozenset({"sample_ratio", "over_selection"})
    """Settings a round's record shows in full, so that the lineage need not hold them."""
    decisive: ClassVar[Mapping[str, tuple[float | str, ...]]] = {"learning_rate": (0.01, 0.03, 0.1)}
    """Settings that decide most, with the values that a search tries in every combination, beside the scenario's own.
    Their keys are as a scenario has them."""
    can_over_select: ClassVar[bool] = True
    """Whether a round may be closed when some of those that were invited have arrived."""
    relays: ClassVar[bool | None] = None
    """Whether sensors hand models to one another. None: plans say nothing of sizes, so that nothing is compressed."""

    name: str
    """The strategy's."""
    sample_ratio: Fraction = 0.3
    """Share of the sensors (FedAvg) or of the groups (HFedMS) that takes part in a round."""
    over_selection: Annotated[float, Field(ge=0, le=100)] = 0.0
    """So many more are invited, as a share of those; the round is closed when as many as without it have arrived."""
    learning_rate: PositiveFloat = 0.01
    """The rate of the sensors' optimiser."""
    batch_size: PositiveInt = 5
    """Samples in a mini-batch."""
    epochs: PositiveInt = 1
    """Passes over the captured samples."""
    weights: ServerWeights = "uniform"
    """How the server averages: every result the same, by the samples behind it, or by its sensors' local train sets."""

    local_optimiser: Literal["sgd", "adam"] = "sgd"
    """How sensors train: plain SGD, or Adam, whose moments start anew at every sensor."""
    compression: Compression = Compression()
    """What goes over the air in fewer bytes."""

    @model_validator(mode="after")
    def _compresses_what_it_can(self) -> "LocalTraining":
        if refusal := self._refusal_of_compression():
            raise ValueError(refusal)
        return self

    def _refusal_of_compression(self) -> str | None:
        compression = self.compression
        if self.relays is None and not compression.is_off:
            return f"compression: {self.name} does not say what its plans send in fewer bytes; allowed: none"
        if not self.relays and compression.relay != "none":
            said = f"compression.relay = {compression.relay}"
            return f"{said}: sensors of {self.name} hand nothing to one another; allowed: none"
        if self.relays and compression.uplink == "topk":
            said = "compression.uplink = topk"
            why = f"in {self.name} the last sensor of a chain does not hold what the server sent"
            return f"{said}: {why}; allowed: none, float16, int8"
        return None

    @field_validator("over_selection")
    @classmethod
    def _nobody_is_invited_who_is_awaited_anyway(cls, over_selection: float) -> float:
        if over_selection and not cls.can_over_select:
            raise ValueError("here no round is closed before whoever it awaits has arrived; allowed: 0")
        return over_selection

    def learning_settings(self) -> dict[str, Any]:
        """Return the settings that decide what is learnt from given rounds; without compression if there is none."""
        without = self.plan_keys | ({"compression"} if self.compression.is_off else frozenset())
        return self.model_dump(mode="json", exclude=set(without))

    @property
    def cycle_rounds(self) -> int:
        """T, the rounds of a cycle: 1 where every round is a full synchronisation."""
        return 1

    def refusal_of(self, model: ModelSpec) -> str | None:
        """Return why the strategy cannot train this network; None if it can."""
        return None
