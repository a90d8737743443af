"""The settings of every strategy. What each option does: docs/scenario.md."""

from typing import Annotated, Any, ClassVar, Literal

from pydantic import Field

from hfedms_sim.scenario.base import Fraction, NonNegativeFloat, PositiveFloat, PositiveInt, Settings


class LocalTraining(Settings):
    """What every strategy's sensors do with a model they were sent: plain SGD."""

    plan_keys: ClassVar[frozenset[str]] = frozenset({"sample_ratio"})
    """Settings a round's record shows in full, so that the lineage need not hold them."""

    sample_ratio: Fraction = 0.3
    """Share of the sensors (FedAvg) or of the groups (HFedMS) that takes part in a round."""
    learning_rate: PositiveFloat = 0.01
    """Of the sensors' SGD."""
    batch_size: PositiveInt = 5
    """Samples in a mini-batch."""
    epochs: PositiveInt = 1
    """Passes over the captured samples."""
    weights: Literal["uniform", "samples"] = "uniform"
    """How the server averages: every result the same, or by the samples behind it."""

    def learning_settings(self) -> dict[str, Any]:
        return self.model_dump(mode="json", exclude=set(self.plan_keys))


class FedAvgSettings(LocalTraining):
    name: Literal["fedavg"] = "fedavg"
    weights: Literal["uniform", "samples"] = "samples"
    """How the server averages: every result the same, or by the samples behind it."""


class ChainSettings(LocalTraining):
    """Sequential-to-parallel training (STP): groups of sensors train in chains; the number of groups grows."""

    plan_keys: ClassVar[frozenset[str]] = LocalTraining.plan_keys | {
        "growth", "alpha", "beta", "leftover", "order", "solver", "draw",
    }  # fmt: skip

    growth: Literal["log", "linear", "exp"] = "log"
    """How the number of groups grows with the cycle."""
    alpha: NonNegativeFloat = 2.0
    """Growth rate."""
    beta: PositiveInt = 10
    """Number of groups in the first cycle."""
    leftover: Literal["drop", "spread"] = "drop"
    """Sensors that fit into no group of equal size: sit out the cycle, or join the smallest groups."""
    order: Literal["cycle", "round"] = "cycle"
    """A chain's order is shuffled at each regrouping, or in each round."""
    solver: Literal["auto", "pulp", "pulp-ilp", "exact", "lsa"] = "auto"
    """Of the balanced clustering behind the groups; auto: pulp for small factories, exact for others."""
    draw: Literal["random", "matched"] = "random"
    """A group takes a random member of each cluster, or the one that brings it nearest the factory's distribution."""


class HFedMSStaticSettings(ChainSettings):
    name: Literal["hfedms-s"] = "hfedms-s"


class HFedMSDynamicSettings(ChainSettings):
    plan_keys: ClassVar[frozenset[str]] = ChainSettings.plan_keys | {"new_batch", "scatter"}

    name: Literal["hfedms-d"] = "hfedms-d"
    interval: PositiveInt = 5
    """T: every T-th round synchronises the full model, the others only the classifier."""
    memory: PositiveInt = 200
    """Q: semantic vectors a sensor keeps."""
    new_batch: Literal["round", "cycle"] = "round"
    """Calibration rounds capture a new batch each, or reuse the cycle's first."""
    scc: Literal["on", "off", "oracle"] = "on"
    """Semantic memory; off: train on the new batch only; oracle: keep every raw sample."""
    compensation: Literal["class", "global", "off"] = "class"
    """Drift of stored vectors: per class, one for all classes, or ignored."""
    absent_class: Literal["batch-mean", "zero"] = "batch-mean"
    """Drift of a class that the batch lacks."""
    clamp_semantics: bool = False
    """Cut compensated vectors at zero, as the ReLU did."""
    storage: Literal["overall", "per-class"] = "overall"
    """Keep the Q vectors nearest their class mean, overall or by a quota per class."""
    storage_mean: Literal["candidates", "batch"] = "candidates"
    """The class mean they are compared with."""
    calibration_epochs: PositiveInt = 1
    """Passes over the calibration set."""
    first_time: Literal["calibrate", "skip"] = "calibrate"
    """A sensor without memory calibrates on its batch, or passes the classifier on."""
    distillation: NonNegativeFloat = 0.0
    """Weight of a distillation term in full rounds."""
    scatter: Literal["unicast", "broadcast"] = "unicast"
    """The merged model goes to each participant, or once per cell to all."""


StrategySettings = Annotated[FedAvgSettings | HFedMSStaticSettings | HFedMSDynamicSettings, Field(discriminator="name")]
STRATEGY_SETTINGS: dict[str, type[LocalTraining]] = {
    "fedavg": FedAvgSettings,
    "hfedms-s": HFedMSStaticSettings,
    "hfedms-d": HFedMSDynamicSettings,
}
