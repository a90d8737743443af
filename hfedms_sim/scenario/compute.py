"""What sensors compute with: one processor for all, a mix of several, or one for each by a file; and how steadily."""

from dataclasses import dataclass
from math import inf, isclose
from typing import Annotated

from pydantic import Field, model_validator

from hfedms_sim.scenario.base import Fraction, Name, Settings
from hfedms_sim.scenario.problems import unknown

INSTANT = "instant"


@dataclass(frozen=True, slots=True)
class ComputeDevice:
    """A sustained rate, all of it used while there is work, and the power it takes then. Sources: assumed."""

    multiply_adds_per_s: float
    power_w: float

    def work_s(self, multiply_adds: float) -> float:
        return multiply_adds / self.multiply_adds_per_s


DEVICES: dict[str, ComputeDevice] = {
    INSTANT: ComputeDevice(inf, 0.0),
    "mcu": ComputeDevice(0.2e9, 0.5),
    "cortex-a53": ComputeDevice(2e9, 2.0),
    "edge-gpu": ComputeDevice(100e9, 10.0),
}


class Processor(Settings):
    """A processor of one's own."""

    multiply_adds_per_s: Annotated[float, Field(ge=1.0, le=1e18)]
    """Its sustained rate, all of which is used while there is work."""
    power_w: Annotated[float, Field(ge=0, le=1e6)]
    """What it takes then."""


class Compute(Settings):
    device: Name = INSTANT
    """The sensors' processor, a shipped one or one of `devices`; instant: computing takes no simulated time."""
    devices: dict[str, Processor] = Field(default_factory=dict)
    """Processors of your own, by name."""
    mix: dict[str, Fraction] | None = None
    """Unequal machines: the share of sensors with each processor, instead of `device`; shares add up to 1."""
    path: Annotated[str, Field(min_length=1)] | None = None
    """CSV with the columns sensor, device: the processor of each sensor, instead of `device`."""
    jitter: Annotated[float, Field(ge=0, le=2)] = 0.0
    """How much work times scatter from round to round: sigma of the logarithm of a factor with mean 1."""

    @model_validator(mode="after")
    def _names_are_known_and_shares_add_up(self) -> "Compute":
        for name in self.devices:
            if name in DEVICES:
                raise ValueError(f"devices: '{name}' is the name of a shipped one; choose another")
        for name in (self.device, *(self.mix or {})):
            if name not in self.known:
                raise ValueError(unknown("device", name, self.known))
        if self.mix is not None and not isclose(sum(self.mix.values()), 1.0, abs_tol=1e-9):
            raise ValueError(f"mix: its shares add up to {sum(self.mix.values()):g}; must be 1")
        return self

    @model_validator(mode="after")
    def _there_is_one_way_to_say_it(self) -> "Compute":
        given = [key for key in ("mix", "path") if getattr(self, key) is not None]
        if self.device != INSTANT:
            given.insert(0, "device")
        if len(given) > 1:
            raise ValueError(f"{' and '.join(given)} say who computes with what; allowed is one of them")
        return self

    @property
    def known(self) -> dict[str, ComputeDevice]:
        """Every processor that may be named here."""
        own = {name: ComputeDevice(each.multiply_adds_per_s, each.power_w) for name, each in self.devices.items()}
        return DEVICES | own

    @property
    def is_instant(self) -> bool:
        """Whether no sensor takes simulated time to compute."""
        return self.path is None and set(self.mix or {self.device: 1.0}) == {INSTANT}
