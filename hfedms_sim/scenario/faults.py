"""What can go wrong in a factory, and what the protocol does about it: the settings. docs/faults.md says what happens.

A fault is one of several kinds, told apart by `kind`. Most come in spells: one at a time, or again and again.
"""

from collections.abc import Iterable
from itertools import combinations
from math import inf
from typing import Annotated, Literal

from pydantic import Field, model_validator

from hfedms_sim.scenario.base import Name, Settings, TupleOf

SpellSeconds = Annotated[float, Field(ge=1e-3, le=1e9)]
SensorNumber = Annotated[int, Field(ge=0)]


class Spelled(Settings):
    """A fault that begins and ends: once, or as a renewal process."""

    kind: str
    """What goes wrong."""
    at_s: Annotated[float, Field(ge=0, le=1e9)] | None = None
    """When it begins, once."""
    for_s: SpellSeconds | None = None
    """How long it lasts then; null: for ever."""
    mean_up_s: SpellSeconds | None = None
    """Again and again: how long all is well, on average; exponential."""
    mean_down_s: SpellSeconds | None = None
    """How long it lasts then, on average; exponential."""

    @model_validator(mode="after")
    def _comes_once_or_again_and_again(self) -> "Spelled":
        if self.at_s is None and self.for_s is not None:
            raise ValueError("for_s needs at_s")
        renewal = [key for key in ("mean_up_s", "mean_down_s") if getattr(self, key) is not None]
        if len(renewal) == 1:
            raise ValueError(f"{renewal[0]} alone; mean_up_s and mean_down_s go together")
        if (self.at_s is None) == (not renewal):
            raise ValueError("needs either at_s (and for_s), or mean_up_s and mean_down_s")
        return self

    @property
    def hit(self) -> frozenset[int | str] | None:
        """What it hits; None: everything that it could."""
        return None

    @property
    def span_s(self) -> tuple[float, float]:
        """Return from when to when it may be under way."""
        return (0.0, inf) if self.at_s is None else (self.at_s, self.at_s + (self.for_s or inf))

    def overlaps(self, other: "Spelled") -> bool:
        """Return whether both may hit the same thing at the same time. Renewal processes may: they are independent."""
        if self.at_s is None or other.at_s is None:
            return False
        (begin_s, end_s), (other_begin_s, other_end_s) = self.span_s, other.span_s
        is_same = self.hit is None or other.hit is None or bool(self.hit & other.hit)
        return is_same and begin_s < other_end_s and other_begin_s < end_s


class CellOutage(Spelled):
    kind: Literal["cell-outage"]
    """Nothing is on the air of a cell."""
    cell: Name | None = None
    """Its name; null: every cell, each by itself."""

    @property
    def hit(self) -> frozenset[int | str] | None:
        return None if self.cell is None else frozenset({self.cell})


class BackboneOutage(Spelled):
    kind: Literal["backbone-outage"]
    """Nothing crosses between cells, or between a cell and the server."""


class ServerOutage(Spelled):
    kind: Literal["server-outage"]
    """The server neither sends nor receives."""


class OfSensors(Spelled):
    sensors: Annotated[TupleOf[SensorNumber], Field(min_length=1)] | None = None
    """Their numbers; null: every sensor, each by itself."""

    @property
    def hit(self) -> frozenset[int | str] | None:
        return None if self.sensors is None else frozenset(self.sensors)


class SensorOutage(OfSensors):
    kind: Literal["sensor-outage"]
    """A sensor's radio is out of reach; it keeps what it has, and works on."""


class SensorCrash(OfSensors):
    kind: Literal["sensor-crash"]
    """A sensor loses the model it holds, and the work of this round."""


class Shadowing(OfSensors):
    kind: Literal["shadowing"]
    """A sensor's radio is slower."""
    rate_share: Annotated[float, Field(ge=1e-4, lt=1)]
    """Its rates then, as a share of those it has otherwise."""


class Straggler(OfSensors):
    kind: Literal["straggler"]
    """A sensor's processor is slower."""
    factor: Annotated[float, Field(gt=1, le=1e6)]
    """How many times as long its work takes."""


class Battery(Settings):
    kind: Literal["battery"]
    """A sensor is gone for ever once it has spent `sensors.battery_wh`."""


class TransferLoss(Settings):
    kind: Literal["transfer-loss"]
    """A transfer is lost after its last retransmission."""
    probability: Annotated[float, Field(ge=0, le=1)]
    """How likely each transfer is to be lost."""


Fault = Annotated[
    CellOutage
    | BackboneOutage
    | ServerOutage
    | SensorOutage
    | SensorCrash
    | Shadowing
    | Straggler
    | Battery
    | TransferLoss,
    Field(discriminator="kind"),
]


class Recovery(Settings):
    timeout_s: Annotated[float, Field(ge=1e-3, le=1e9)] = 60.0
    """How long anybody waits for a cell, a sensor, the backbone or the server that is down, before giving up."""
    retries: Annotated[int, Field(ge=0, le=1000)] = 2
    """How often a sensor is tried again in a round, after it has failed or a transfer of it was lost."""
    on_gap: Literal["skip", "reorder"] = "skip"
    """A chain whose next sensor is gone leaves it out, or tries it once more at its end."""
    void_rounds: Annotated[int, Field(ge=1, le=10**9)] = 100
    """After this many void rounds in a row the run ends."""


def faults_problem(faults: Iterable[object], cells: Iterable[str], sensors: int) -> str | None:
    """Return what is wrong with faults that are sound one by one: whom they hit, and how they go together."""
    listed, names = list(faults), list(cells)
    for place, fault in enumerate(listed):
        if isinstance(fault, CellOutage) and fault.cell is not None and fault.cell not in names:
            return f"faults.{place}.cell = '{fault.cell}': must be a cell's name: {', '.join(names[:10])}"
        if isinstance(fault, OfSensors) and max(fault.sensors or (0,)) >= sensors:
            return f"faults.{place}.sensors = {max(fault.sensors or ())}: must be less than sensors.count ({sensors})"
    for (place, one), (other_place, other) in combinations(enumerate(listed), 2):
        if isinstance(one, Spelled) and type(one) is type(other) and one.overlaps(other):
            return f"faults.{other_place}: overlaps faults.{place}; spells of one kind must not"
    for kind in (Battery, TransferLoss):
        if sum(isinstance(each, kind) for each in listed) > 1:
            return f"faults: has {next(each.kind for each in listed if isinstance(each, kind))} twice; allowed is once"
    return None
