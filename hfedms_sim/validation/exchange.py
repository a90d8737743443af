"""A row as a scenario: one sensor that sends messages of any size and gets answers of the same size.

A federated model has the size of a network, a message has not. FedAvg with one sensor, played on a scenario whose model
is the message, is such an exchange: where samples come periodically, one each `period_s`, the sensor awaits a sample,
sends a message and gets its answer in the same connection, then nothing until the next. Radio figures are the shipped
profile's; in a coverage class, those of the class in place of the profile's own.

The network's own settings are a row's where its source states them. Release assistance after the message is the
profile's `release_assistance`; after the answer, which follows at once, it is an inactivity timer of nothing. A row's
`idle` replaces the profile's; what it leaves out is the profile's where both are the same mode.

Left out: answers of another size, and messages without any; quantities.py reads uplinks alone where that matters.
"""

from copy import deepcopy
from dataclasses import dataclass
from typing import Any, NamedTuple, NoReturn

from pydantic import ValidationError

from hfedms_sim.errors import InputError
from hfedms_sim.loading import CHOICES, scenario_of
from hfedms_sim.models import Model
from hfedms_sim.scenario import DataShape, ModelSpec, NetworkProfile, Scenario, load_profile
from hfedms_sim.scenario.overrides import Override
from hfedms_sim.scenario.problems import problems_of
from hfedms_sim.units import BYTES_PER_PARAMETER
from hfedms_sim.validation.rows import Row


@dataclass(frozen=True, slots=True)
class _MessageSpec(ModelSpec):
    size_bytes: int = 1

    @property
    def model_bytes(self) -> int:
        return self.size_bytes


@dataclass(frozen=True)
class Message(Model):
    """What is sent each way and what is computed in between; there is no network behind it."""

    size_bytes: int
    multiply_adds: int

    @property
    def name(self) -> str:  # type: ignore[override]  # not by name: a scenario cannot ask for a message
        return "message"

    def module(self, input_shape: tuple[int, ...], classes: int) -> NoReturn:
        raise NotImplementedError("a message is not trained")

    def spec(self, data: DataShape) -> ModelSpec:
        parameters = max(1, self.size_bytes // BYTES_PER_PARAMETER)
        return _MessageSpec("message", data, parameters, 0, self.multiply_adds, 0, size_bytes=self.size_bytes)


class Exchange(NamedTuple):
    scenario: Scenario
    message: Message
    """Stands for the scenario's network."""


def exchange_of(row: Row, base: dict[str, Any]) -> Exchange:
    """Return the scenario that reproduces the row; `base` is what all rows have in common."""
    play = row.play
    assert play is not None, f"{row.id} is not testable"
    raw = deepcopy(base) | {"rounds": play.messages}
    profile = _profile(row.profile, play.coverage_class) | _network_settings(row)
    raw["cells"] = [{"name": "cell", "profile": profile}]
    if play.period_s is not None:
        raw["stream"] = raw.get("stream", {}) | {"arrival": "periodic", "rate_hz": 1 / play.period_s}
    for key, value in play.set.items():
        Override(tuple(key.split(".")), value, (f"row {row.id}: {key}",)).apply(raw, CHOICES)
    try:
        scenario = scenario_of(raw)
    except ValidationError as error:
        raise InputError(f"row {row.id}: {problems_of(error, Scenario, raw)[0].line}") from None
    return Exchange(scenario, Message(play.message_bytes, play.multiply_adds))


def _profile(name: str, coverage_class: int | None) -> dict[str, Any]:
    """Return the shipped profile, in a coverage class with every figure that the class has of its own.

    It is then the only class, because a sensor that stands nowhere is in the first; as many of its sensors fill a cell.
    """
    profile = load_profile(name)
    written: dict[str, Any] = profile.model_dump(mode="json")
    if coverage_class is None:
        return written
    if coverage_class >= len(profile.repetitions):
        raise InputError(f"profile {name}: has {len(profile.repetitions)} coverage classes, no class {coverage_class}")
    own = profile.repetitions[coverage_class].model_dump(mode="json")
    for link in ("uplink", "downlink"):
        if written[f"{link}_capacity_bps"] is not None:
            written[f"{link}_capacity_bps"] *= own[f"{link}_bps"] / written[f"{link}_bps"]
    given = {key: value for key, value in own.items() if key in NetworkProfile.model_fields and value is not None}
    return written | given | {"repetitions": [own]}


def _network_settings(row: Row) -> dict[str, Any]:
    """Return the keys of the profile that the row's source states: how the network runs connections."""
    assert row.play is not None
    stated: dict[str, Any] = {}
    if row.play.release_assistance == "message":
        stated["release_assistance"] = True
    elif row.play.release_assistance == "answer":
        stated |= {"release_assistance": False, "inactivity_s": 0.0}
    if row.play.idle is not None:
        shipped = load_profile(row.profile).idle
        stated["idle"] = ({} if shipped is None else shipped.model_dump(mode="json")) | row.play.idle
    return stated
