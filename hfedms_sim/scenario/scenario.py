"""Scenario: one factory, one radio network, one strategy, as frozen and validated settings."""

from collections.abc import Mapping
from typing import Annotated, Any, Literal

from pydantic import Field, SerializeAsAny, ValidationError, ValidationInfo, field_validator, model_validator

from hfedms_sim.scenario.base import Fraction, Name, PositiveInt, Seconds, Settings, TupleOf
from hfedms_sim.scenario.devices import DeviceName
from hfedms_sim.scenario.models import MODELS, ModelName, ModelSpec
from hfedms_sim.scenario.placement import Placement
from hfedms_sim.scenario.profile import NetworkProfile
from hfedms_sim.scenario.strategy import LocalTraining

DEFAULT_SKEW = 1.0
MAX_SENSORS = 10_000_000
DEFAULT_STRATEGY = "hfedms-d"

StrategySettings = Mapping[str, type[LocalTraining]]
"""The settings of the strategies that are known, by name: what a scenario is validated with."""


class Data(Settings):
    set: Literal["glyphs", "npz", "leaf", "parquet"] = "glyphs"
    """Which data set the sensors see: the embedded one, or the kind of files at `path`."""
    path: Annotated[str, Field(min_length=1)] | None = None
    """The file or directory (npz, leaf, parquet)."""
    ink: Literal["bright", "dark"] = "bright"
    """Polarity: bright is ink 1 on background 0."""
    skew: Annotated[float, Field(ge=0, le=2)] = DEFAULT_SKEW
    """How unlike the sensors' classes are (glyphs): 0 not at all, 1 as it comes, 2 a single class each."""

    @model_validator(mode="after")
    def _files_have_a_path(self) -> "Data":
        given = self.path is not None
        if given == (self.set == "glyphs"):
            raise ValueError(f"set: {self.set} {'has no' if given else 'needs'} path")
        return self

    @model_validator(mode="after")
    def _only_glyphs_have_a_skew(self) -> "Data":
        if self.set != "glyphs" and self.skew != DEFAULT_SKEW:
            raise ValueError(f"set: {self.set} has no skew (here {self.skew:g}); only glyphs are drawn with one")
        return self


class Sensors(Settings):
    count: Annotated[int, Field(ge=1, le=MAX_SENSORS)] = 368
    """K: how many sensors the factory has."""
    types: PositiveInt = 10
    """Production lines with class preferences of their own."""
    battery_wh: Annotated[float, Field(gt=0, le=1e6)] = 8.6
    """Of each sensor, for the estimate of its life; an AA lithium cell of 2.4 Ah at 3.6 V."""
    rounds_per_day: Annotated[float, Field(gt=0, le=1e6)] = 1.0
    """How many rounds a day the life of a battery is stated for, beside rounds without a break."""
    placement: Placement = Placement()
    """Where they stand."""


_ARRIVAL_KEYS = {
    "periodic": ("rate_hz",),
    "poisson": ("rate_hz",),
    "bursty": ("rate_hz", "on_s", "off_s"),
    "shifts": ("rate_hz", "on_s", "off_s"),
    "trace": ("path",),
}


class Stream(Settings):
    arrival: Literal["saturated", "static", "periodic", "poisson", "bursty", "shifts", "trace"] = "saturated"
    """saturated: always a full fresh batch; static: the same local set every time; others fill a buffer."""
    rate_hz: Annotated[float, Field(gt=0, le=1e6)] | None = None
    """Samples a second of each sensor (periodic, poisson), or while it is on (bursty, shifts)."""
    on_s: Annotated[float, Field(ge=1e-6, le=1e9)] | None = None
    """Mean length of a burst (bursty), or length of a shift (shifts)."""
    off_s: Annotated[float, Field(ge=1e-6, le=1e9)] | None = None
    """Mean length of the silence between bursts (bursty), or length of the rest between shifts (shifts)."""
    path: Annotated[str, Field(min_length=1)] | None = None
    """CSV of arrival times with the columns sensor, time_s (trace)."""
    batch: Annotated[int, Field(ge=1, le=1_000_000)] = 50
    """n: samples a capture takes at most; static takes the whole set."""
    buffer: Annotated[int, Field(ge=1, le=10_000_000)] = 50
    """Samples a sensor can hold, at least `batch`; as many as `batch` if only that is given."""
    short: Literal["wait", "take"] = "wait"
    """What a capture does when the buffer holds less than a batch."""
    augment: bool = True
    """Change brightness and crop of each captured sample."""
    redraw: Literal["round", "cycle", "once"] = "round"
    """How often a saturated stream draws a sensor's batch: for every round, every cycle, or the whole run."""

    @model_validator(mode="before")
    @classmethod
    def _buffer_is_a_batch_by_default(cls, raw: Any) -> Any:
        if isinstance(raw, dict) and "batch" in raw and "buffer" not in raw:
            return raw | {"buffer": raw["batch"]}
        return raw

    @model_validator(mode="after")
    def _buffer_holds_a_batch(self) -> "Stream":
        if self.buffer < self.batch:
            raise ValueError(f"buffer ({self.buffer}) must hold a batch ({self.batch})")
        return self

    @model_validator(mode="after")
    def _only_saturated_streams_are_redrawn_less_often(self) -> "Stream":
        if self.redraw != "round" and self.arrival != "saturated":
            raise ValueError(f"redraw: {self.redraw} needs arrival: saturated, not {self.arrival}; allowed: round")
        return self

    @model_validator(mode="after")
    def _arrival_has_its_figures(self) -> "Stream":
        needed = _ARRIVAL_KEYS.get(self.arrival, ())
        for key in ("rate_hz", "on_s", "off_s", "path"):
            given = getattr(self, key) is not None
            if given != (key in needed):
                raise ValueError(f"arrival: {self.arrival} {'has no' if given else 'needs'} {key}")
        return self


class Compute(Settings):
    device: DeviceName = "instant"
    """The sensors' processor; instant: computing takes no simulated time."""


class Cell(Settings):
    name: Name
    """How reports call the cell."""
    profile: NetworkProfile
    """A shipped profile's name, a path to a YAML file, or the profile itself."""
    sensors: Annotated[int, Field(ge=0, le=MAX_SENSORS)] | None = None
    """How many sensors have its radio, in the order of their numbers; in all cells or in none."""
    x_m: Annotated[float, Field(ge=0, le=1e5)] | None = None
    """Where it stands in the hall, along its width; needed if sensors are placed."""
    y_m: Annotated[float, Field(ge=0, le=1e5)] | None = None
    """The same, along its length."""


class Backbone(Settings):
    latency_s: Seconds = 0.0
    """One way between a base station and the server, or between two base stations."""


class Scenario(Settings):
    name: Name
    """Names the run directory."""
    description: str = ""
    """One line for people."""
    seed: Annotated[int, Field(ge=0, lt=2**63)] = 1
    """Every random draw is a function of it."""
    rounds: Annotated[int, Field(ge=1, le=10_000_000)] = 100
    """R: how many rounds to play."""
    targets: TupleOf[Fraction] = (0.5, 0.6, 0.7, 0.8)
    """Accuracies whose time is reported."""
    stop_at: Fraction | None = None
    """Stop at the first round with this accuracy."""
    evaluate_every: PositiveInt = 1
    """Test after every n-th round."""
    probe_round: PositiveInt | None = None
    """Forgetting probe: follow the accuracy on this round's batches."""
    data: Data = Data()
    """The data set."""
    model: ModelName = "cnn"
    """The neural network."""
    sensors: Sensors = Sensors()
    """The factory's sensors."""
    stream: Stream = Stream()
    """How samples reach a sensor."""
    compute: Compute = Compute()
    """The sensors' processors."""
    cells: Annotated[TupleOf[Cell], Field(min_length=1, max_length=100_000)]
    """The base stations; sensors are spread round-robin unless they are counted or placed."""
    backbone: Backbone = Backbone()
    """What connects base stations and server."""
    strategy: Annotated[SerializeAsAny[LocalTraining], Field(default_factory=dict, validate_default=True)]
    """The federated algorithm and its settings."""
    engine: Literal["auto", "generic", "lowrank", "native"] = "auto"
    """How training is computed."""
    faults: Annotated[TupleOf[dict[str, object]], Field(max_length=0)] = ()
    """Reserved."""

    @field_validator("strategy", mode="before")
    @classmethod
    def _settings_by_name(cls, raw: Any, info: ValidationInfo) -> Any:
        """Validate a mapping as the settings of the strategy that it names; `context` is the known ones' settings."""
        if not isinstance(raw, dict):
            return raw
        known: StrategySettings = info.context or {}
        raw = {"name": DEFAULT_STRATEGY} | raw
        if not isinstance(raw["name"], str) or raw["name"] not in known:
            expected = ", ".join(f"'{name}'" for name in known)
            fault: Any = {
                "type": "literal_error",
                "loc": ("name",),
                "input": raw["name"],
                "ctx": {"expected": expected},
            }
            raise ValidationError.from_exception_data("strategy", [fault])
        return known[raw["name"]].model_validate(raw)

    @model_validator(mode="after")
    def _cell_names_differ(self) -> "Scenario":
        seen: set[str] = set()
        for cell in self.cells:
            if cell.name in seen:
                raise ValueError(f"cells: the name '{cell.name}' is used twice")
            seen.add(cell.name)
        return self

    @model_validator(mode="after")
    def _cells_count_every_sensor(self) -> "Scenario":
        counts = self.sensors_of_cells
        if counts is None:
            return self
        uncounted = [cell.name for cell in self.cells if cell.sensors is None]
        if uncounted:
            raise ValueError(f"cells: all have sensors or none has; '{uncounted[0]}' has none, another cell has")
        if sum(counts) != self.sensors.count:
            raise ValueError(
                f"cells: their sensors add up to {sum(counts)}; must be sensors.count, which is {self.sensors.count}"
            )
        return self

    @model_validator(mode="after")
    def _the_strategy_can_train_the_model(self) -> "Scenario":
        if refusal := self.strategy.refusal_of(self.model_spec):
            raise ValueError(f"strategy: {refusal}")
        return self

    @property
    def model_spec(self) -> ModelSpec:
        return MODELS[self.model]

    @property
    def sensors_of_cells(self) -> tuple[int, ...] | None:
        """How many sensors each cell is counted to have; None if cells do not say."""
        if all(cell.sensors is None for cell in self.cells):
            return None
        return tuple(cell.sensors or 0 for cell in self.cells)

    @property
    def profile_names(self) -> str:
        """The distinct profiles, in the order of the cells."""
        return ",".join(dict.fromkeys(cell.profile.name for cell in self.cells))
