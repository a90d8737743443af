"""Scenario: one factory, one radio network, one strategy, as frozen and validated settings."""

from collections.abc import Collection, Mapping
from typing import Annotated, Any, Literal, Protocol

from pydantic import (
    Field,
    PrivateAttr,
    SerializeAsAny,
    ValidationError,
    ValidationInfo,
    field_validator,
    model_validator,
)

from hfedms_sim.errors import InputError
from hfedms_sim.scenario.availability import AlwaysThere, Availability, Roster
from hfedms_sim.scenario.base import LEAST, Fraction, Name, PositiveFloat, PositiveInt, Seconds, Settings, TupleOf
from hfedms_sim.scenario.choices import Choices, NamedPart
from hfedms_sim.scenario.compute import Compute
from hfedms_sim.scenario.data import DataSettings, Stream
from hfedms_sim.scenario.faults import Fault, Recovery, faults_problem
from hfedms_sim.scenario.placement import Nowhere, Placement
from hfedms_sim.scenario.profile import NetworkProfile
from hfedms_sim.scenario.strategy import LocalTraining
from hfedms_sim.units import SECONDS_PER_HOUR

MAX_SENSORS = 10_000_000


class Loader(Protocol):
    """Makes a scenario of another one and of changes to it. A function of a module, so that scenarios are pickled."""

    def __call__(self, source: "Scenario", /, *, overrides: Mapping[str, Any]) -> "Scenario": ...


class Sensors(Settings):
    count: Annotated[int, Field(ge=1, le=MAX_SENSORS)] = 368
    """K: how many sensors the factory has."""
    types: PositiveInt = 10
    """Production lines with class preferences of their own."""
    battery_wh: Annotated[float, Field(ge=LEAST, le=1e6)] = 8.6
    """Each sensor's, for the estimate of its life; an AA lithium cell of 2.4 Ah at 3.6 V."""
    rounds_per_day: Annotated[float, Field(ge=LEAST, le=1e6)] = 1.0
    """How many rounds a day the life of a battery is stated for, beside rounds without a break."""
    placement: Placement = Nowhere()
    """Where they stand."""

    @property
    def battery_j(self) -> float:
        """Joules in a full battery."""
        return self.battery_wh * SECONDS_PER_HOUR


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
    """One factory, its radio network and its federated algorithm: frozen, validated, and the same run wherever it is.

    `hfedms_sim.load_scenario` makes one from a name, a file or a mapping; `replacing` makes another one of it. Every
    key of a file is an attribute: `scenario.rounds`, `scenario.cells[0].profile.uplink_bps`.
    """

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
    stop_after_s: PositiveFloat | None = None
    """Stop after the first round that ends this many simulated seconds from the beginning, or later."""
    evaluate_every: PositiveInt = 1
    """Test after every n-th round."""
    probe_round: PositiveInt | None = None
    """Forgetting probe: follow the accuracy on this round's batches."""
    data: Annotated[SerializeAsAny[DataSettings], Field(default_factory=dict, validate_default=True)]
    """The data set and its settings."""
    model: Name = "cnn"
    """The neural network, by name; it is built for the shape of the data."""
    sensors: Sensors = Sensors()
    """The factory's sensors."""
    stream: Annotated[SerializeAsAny[Stream], Field(default_factory=dict, validate_default=True)]
    """How samples reach a sensor."""
    compute: Compute = Compute()
    """The sensors' processors."""
    cells: Annotated[TupleOf[Cell], Field(min_length=1, max_length=100_000)]
    """The base stations; sensors are spread round-robin unless they are counted or placed."""
    backbone: Backbone = Backbone()
    """What connects base stations and server."""
    strategy: Annotated[SerializeAsAny[LocalTraining], Field(default_factory=dict, validate_default=True)]
    """The federated algorithm and its settings."""
    trace_every: PositiveInt = 1
    """Rows of transfers, work and captures are written of every n-th cycle only; all other tables are whole."""
    engine: Literal["auto", "generic", "lowrank", "native"] = "auto"
    """How training is computed."""
    round_period_s: Annotated[float, Field(ge=1e-3, le=1e9)] | None = None
    """A round begins at every multiple of it; null: rounds follow back to back."""
    deadline_s: Annotated[float, Field(ge=1e-3, le=1e9)] | None = None
    """So long after its begin a round is closed, with the chains that have arrived; null: it waits for all."""
    quorum: Annotated[float, Field(ge=0, le=1)] = 0.0
    """Share of a round's chains that must arrive, else the round is void; one in any case."""
    availability: Availability = AlwaysThere()
    """Who is away when."""
    faults: Annotated[TupleOf[Fault], Field(max_length=1000)] = ()
    """What goes wrong."""
    recovery: Recovery = Recovery()
    """What the protocol does about it."""

    _load: "Loader | None" = PrivateAttr(default=None)
    """What `replacing` makes copies with."""

    def __eq__(self, other: object) -> bool:
        """Compare settings alone."""
        return type(other) is type(self) and self.__dict__ == other.__dict__

    def replacing(self, changes: Mapping[str, Any] | None = None, /, **settings: Any) -> "Scenario":
        """Return a validated copy in which these keys have other values.

        Keys are those of a scenario file, dotted or nested; a nested mapping changes the keys that it names and leaves
        the others. Another `strategy.name` keeps the settings that the other strategy also has. An unknown key or a
        value that is not allowed is an `InputError` of one line.

            scenario.replacing(rounds=20, strategy={"interval": 3})
            scenario.replacing({"strategy.name": "fedavg", "cells.0.profile": "wifi-halow"})
        """
        if self._load is None:
            raise InputError(f"{self.name}: load_scenario did not make this scenario, but can: load_scenario(scenario)")
        return self._load(self, overrides={**(changes or {}), **settings})

    def loaded_by(self, load: "Loader") -> "Scenario":
        """Return the scenario as one that `load` changes: it knows which other strategies there are."""
        copy = self.model_copy()
        copy._load = load  # noqa: SLF001 (its own class)
        return copy

    @field_validator("strategy", "data", "stream", mode="before")
    @classmethod
    def _part_by_name(cls, raw: Any, info: ValidationInfo) -> Any:
        """Validate a mapping as the settings of what it names; `context` says which ones are known."""
        choices: Choices = info.context or Choices()
        part = str(info.field_name)
        return _by_name(raw, part, choices.parts[part])

    @field_validator("model")
    @classmethod
    def _model_is_known(cls, name: str, info: ValidationInfo) -> str:
        if info.context is not None and name not in info.context.models:
            raise _unknown("model", (), name, info.context.models)
        return name

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
    def _faults_hit_what_there_is(self) -> "Scenario":
        problem = faults_problem(self.faults, (cell.name for cell in self.cells), self.sensors.count)
        if problem is not None:
            raise ValueError(problem)
        return self

    @model_validator(mode="after")
    def _the_roster_has_every_sensor(self) -> "Scenario":
        roster, count = self.availability, self.sensors.count
        if isinstance(roster, Roster) and roster.sensors != count:
            total = f"availability.groups: their sensors add up to {roster.sensors}"
            raise ValueError(f"{total}; must be sensors.count, which is {count}")
        return self

    @property
    def is_steady(self) -> bool:
        """Whether nothing goes wrong, nobody is away, and a round awaits everybody."""
        return (
            not self.faults
            and self.availability.kind == "always"
            and self.deadline_s is None
            and self.round_period_s is None
            and self.strategy.over_selection == 0
        )

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


def _by_name(raw: Any, part: str, named: NamedPart) -> Any:
    """Validate a mapping as the settings of what it names."""
    if not isinstance(raw, dict):
        return raw
    raw = {named.key: named.default} | named.without_old_keys(raw)
    settings = named.settings_of(raw)
    if settings is None:
        raise _unknown(part, (named.key,), raw[named.key], named.known)
    return settings.model_validate(raw)


def _unknown(part: str, location: tuple[str, ...], value: Any, known: Collection[str]) -> ValidationError:
    """Return the error of a name that is not known, in the form of a choice that pydantic refuses."""
    expected = ", ".join(f"'{name}'" for name in known)
    fault: Any = {"type": "literal_error", "loc": location, "input": value, "ctx": {"expected": expected}}
    return ValidationError.from_exception_data(part, [fault])
