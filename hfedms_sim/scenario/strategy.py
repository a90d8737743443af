"""The settings of every strategy. What each option does: docs/scenario.md."""

from typing import Annotated, Any, ClassVar, Literal

from pydantic import Field, create_model, model_validator

from hfedms_sim.scenario.base import Fraction, NonNegativeFloat, PositiveFloat, PositiveInt, Settings

Solver = Literal["auto", "pulp", "pulp-ilp", "exact", "lsa"]
Draw = Literal["random", "matched"]
ServerWeights = Literal["uniform", "samples", "local-set"]


class LocalTraining(Settings):
    """What every strategy's sensors do with a model they were sent."""

    plan_keys: ClassVar[frozenset[str]] = frozenset({"sample_ratio"})
    """Settings a round's record shows in full, so that the lineage need not hold them."""

    sample_ratio: Fraction = 0.3
    """Share of the sensors (FedAvg) or of the groups (HFedMS) that takes part in a round."""
    learning_rate: PositiveFloat = 0.01
    """Of the sensors' optimiser."""
    batch_size: PositiveInt = 5
    """Samples in a mini-batch."""
    epochs: PositiveInt = 1
    """Passes over the captured samples."""
    weights: ServerWeights = "uniform"
    """How the server averages: every result the same, by the samples behind it, or by its sensors' local train sets."""

    local_optimiser: Literal["sgd", "adam"] = "sgd"
    """Of the sensors: plain SGD, or Adam, whose moments start anew at every sensor."""

    def learning_settings(self) -> dict[str, Any]:
        return self.model_dump(mode="json", exclude=set(self.plan_keys))

    @property
    def has_initial_memory(self) -> bool:
        """Whether sensors remember their local train sets before they first take part."""
        return False


class AveragingSettings(LocalTraining):
    """Every participant trains alone, from the server's model; the server averages."""

    weights: ServerWeights = "samples"
    """How the server averages: every result the same, by the samples behind it, or by its sensors' local train sets."""


class FedAvgSettings(AveragingSettings):
    name: Literal["fedavg"] = "fedavg"


class FedProxSettings(AveragingSettings):
    name: Literal["fedprox"] = "fedprox"
    mu: NonNegativeFloat = 0.1
    """Strength of the pull towards the model that the round started from."""


FedMMDSettings = create_model(  # type: ignore[call-overload]
    "FedMMDSettings",
    __base__=AveragingSettings,
    __doc__="Two streams: the local model, and the frozen one that the round started from.",
    **{
        "name": (Literal["fedmmd"], "fedmmd"),
        "lambda": (NonNegativeFloat, Field(0.1, description="Weight of the discrepancy between the two streams.")),
    },
)  # a class statement cannot have a field called lambda


class FedFusionSettings(AveragingSettings):
    name: Literal["fedfusion"] = "fedfusion"
    operator: Literal["conv", "multi", "single"] = "conv"
    """How features of the local and of the frozen extractor are fused: a 1x1 convolution, or by a weight per channel,
    or by one for all."""


class IdaSettings(AveragingSettings):
    name: Literal["ida"] = "ida"
    weights: ServerWeights = "samples"
    """Without effect: see variant."""
    variant: Literal["plain", "fedavg", "intrac"] = "plain"
    """Weights by the inverse distance to the mean model: alone, times the samples, or times the inverse training
    accuracy."""
    norm: Literal["l2", "l1"] = "l2"
    """Of that distance, over all parameters: Euclidean, or the sum of absolute differences."""


class ServerOptimiserSettings(AveragingSettings):
    """Adaptive federated optimisation: the mean change of a round is a pseudo-gradient for the server's optimiser."""

    server_learning_rate: PositiveFloat
    """Of the server's optimiser."""
    tau: PositiveFloat
    """Degree of adaptivity: added to the root of the second moment, which starts at its square."""


class FedAdagradSettings(ServerOptimiserSettings):
    name: Literal["fedadagrad"] = "fedadagrad"
    server_learning_rate: PositiveFloat = 0.1
    """Of the server's optimiser."""
    tau: PositiveFloat = 0.01
    """Degree of adaptivity: added to the root of the second moment, which starts at its square."""


class MomentSettings(ServerOptimiserSettings):
    server_learning_rate: PositiveFloat = 10**-2.5
    """Of the server's optimiser."""
    tau: PositiveFloat = 1e-4
    """Degree of adaptivity: added to the root of the second moment, which starts at its square."""
    beta1: Annotated[float, Field(ge=0, lt=1)] = 0.9
    """How much of the first moment stays."""
    beta2: Annotated[float, Field(ge=0, lt=1)] = 0.99
    """How much of the second moment stays."""


class FedAdamSettings(MomentSettings):
    name: Literal["fedadam"] = "fedadam"


class FedYogiSettings(MomentSettings):
    name: Literal["fedyogi"] = "fedyogi"


class FixedGroupsSettings(LocalTraining):
    """Chains in groups that are formed once and never change, in membership or order."""

    plan_keys: ClassVar[frozenset[str]] = LocalTraining.plan_keys | {"beta", "leftover"}

    beta: PositiveInt = 10
    """Number of groups."""
    leftover: Literal["drop", "spread"] = "drop"
    """Sensors that fit into no group of equal size: never take part, or join the smallest groups."""


class StaticGroupsSettings(FixedGroupsSettings):
    name: Literal["static-groups"] = "static-groups"


class StaticICGSettings(FixedGroupsSettings):
    plan_keys: ClassVar[frozenset[str]] = FixedGroupsSettings.plan_keys | {"solver", "draw"}

    name: Literal["static-icg"] = "static-icg"
    solver: Solver = "auto"
    """Of the balanced clustering behind the groups; auto: pulp for small factories, exact for others."""
    draw: Draw = "random"
    """A group takes a random member of each cluster, or the one that brings it nearest the factory's distribution."""


class ChainSettings(LocalTraining):
    """Sequential-to-parallel training (STP): groups of sensors train in chains; the number of groups grows."""

    plan_keys: ClassVar[frozenset[str]] = LocalTraining.plan_keys | {
        "growth", "alpha", "beta", "leftover", "order", "solver", "draw", "class_counts",
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
    solver: Solver = "auto"
    """Of the balanced clustering behind the groups; auto: pulp for small factories, exact for others."""
    draw: Draw = "random"
    """A group takes a random member of each cluster, or the one that brings it nearest the factory's distribution."""
    class_counts: Literal["cycle", "once"] = "cycle"
    """Sensors report the class counts that groups are formed by in every cycle, or in the first one only."""


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
    """A sensor that has not stored a cycle yet calibrates, or passes the classifier on."""
    initial_memory: Literal["empty", "local-set"] = "empty"
    """What a sensor remembers at first: nothing, or its local train set through the initial extractor."""
    distillation: NonNegativeFloat = 0.0
    """Weight of a distillation term in full rounds."""
    scatter: Literal["unicast", "broadcast"] = "unicast"
    """The merged model goes to each participant, or once per cell to all."""

    @model_validator(mode="after")
    def _the_oracle_has_no_semantic_memory_to_begin_with(self) -> "HFedMSDynamicSettings":
        if self.initial_memory != "empty" and self.scc == "oracle":
            raise ValueError(
                f"initial_memory: {self.initial_memory} fills the semantic memory, and scc: oracle has none;"
                " allowed: empty"
            )
        return self

    @property
    def has_initial_memory(self) -> bool:
        return self.initial_memory == "local-set" and self.scc == "on" and self.interval > 1


STRATEGY_SETTINGS: dict[str, type[LocalTraining]] = {
    "fedavg": FedAvgSettings,
    "fedprox": FedProxSettings,
    "fedmmd": FedMMDSettings,
    "fedfusion": FedFusionSettings,
    "ida": IdaSettings,
    "fedadagrad": FedAdagradSettings,
    "fedadam": FedAdamSettings,
    "fedyogi": FedYogiSettings,
    "static-groups": StaticGroupsSettings,
    "static-icg": StaticICGSettings,
    "hfedms-s": HFedMSStaticSettings,
    "hfedms-d": HFedMSDynamicSettings,
}
StrategySettings = Annotated[
    FedAvgSettings
    | FedProxSettings
    | FedMMDSettings  # type: ignore[valid-type]
    | FedFusionSettings
    | IdaSettings
    | FedAdagradSettings
    | FedAdamSettings
    | FedYogiSettings
    | StaticGroupsSettings
    | StaticICGSettings
    | HFedMSStaticSettings
    | HFedMSDynamicSettings,
    Field(discriminator="name"),
]
