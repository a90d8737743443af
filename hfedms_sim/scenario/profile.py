"""NetworkProfile: one radio technology as the airtime model sees it, every figure with its source."""

from collections.abc import Iterator
from math import isclose
from typing import Annotated, Any, Literal

from pydantic import Field, field_validator, model_validator

from hfedms_sim.scenario.base import LEAST, Bps, Direction, Name, PositiveFloat, PositiveInt, Seconds, Settings, TupleOf
from hfedms_sim.scenario.frames import Frames, FrameTimes
from hfedms_sim.scenario.power import Currents, Idle, with_new_spelling

NoiseFigure = Annotated[float, Field(ge=0, le=50)]


class Blocks(Settings):
    """Transport blocks: one that fails is sent again."""

    uplink_bits: PositiveInt
    """Bits in an uplink block."""
    downlink_bits: PositiveInt
    """Bits in a downlink block."""
    error_rate: Annotated[float, Field(ge=0, le=0.999999)]
    """Probability that a block fails; of a million one has to arrive."""

    def bits(self, direction: Direction) -> int:
        """Return the bits in a block of this direction."""
        return self.uplink_bits if direction == "up" else self.downlink_bits


class Fluctuation(Settings):
    """A cell that is good or bad by turns (Gilbert-Elliott): in the bad state other traffic takes most of it."""

    bad_share: Annotated[float, Field(ge=LEAST, lt=1)] = 0.25
    """Share of the airtime that is left in the bad state; the defaults here are illustrative, not measured."""
    good_s: PositiveFloat = 60.0
    """Mean length of a good spell; exponential."""
    bad_s: PositiveFloat = 10.0
    """Mean length of a bad spell; exponential."""

    @property
    def mean_share(self) -> float:
        """Return which part of the airtime it takes in the long run."""
        return (self.good_s + self.bad_share * self.bad_s) / (self.good_s + self.bad_s)


class DutyCycle(Settings):
    """For which share of the time a sender may send, where airtime is shared."""

    uplink: Annotated[float, Field(ge=LEAST, le=1)]
    """Each sensor's."""
    downlink: Annotated[float, Field(ge=LEAST, lt=1)]
    """The base station's, which is one sender for all sensors."""


class Budget(Settings):
    """What placed sensors need: powers and noise decide who hears whom."""

    carrier_ghz: Annotated[float, Field(ge=LEAST, le=100)]
    """Carrier frequency."""
    bandwidth_hz: Annotated[float, Field(ge=LEAST, le=1e10)]
    """In which the powers are sent and noise is heard."""
    device_power_dbm: Annotated[float, Field(ge=-50, le=60)]
    """A sensor's."""
    base_power_dbm: Annotated[float, Field(ge=-50, le=80)]
    """The base station's, within the bandwidth."""
    base_noise_figure_db: NoiseFigure = 5.0
    """How much more noise than the thermal one the base station's receiver hears."""
    device_noise_figure_db: NoiseFigure = 9.0
    """The same of a sensor's receiver."""
    streams: Annotated[int, Field(ge=1, le=1_000)] = 1
    """Spatial streams of the antennas: no rate is above this many times Shannon's bound of the bandwidth."""


class Repetitions(Settings):
    """A coverage class: what rates are left when everything is repeated."""

    coupling_loss_db: Annotated[float, Field(ge=LEAST, le=300)]
    """Up to which loss the class holds."""
    uplink_bps: Bps
    """Rate in this class, sensor to base station."""
    downlink_bps: Bps
    """The same, base station to sensor."""
    latency_s: Seconds | None = None
    """One way in this class, added after the airtime; null: the profile's."""
    frames: FrameTimes | None = None
    """The frames of this class, as LoRa's spreading factors have them; null: the profile's."""


class NetworkProfile(Settings):
    """One radio technology: rates, latency, how a cell's airtime is shared, what is lost, what a sensor spends.

    `hfedms_sim.load_profile` makes one from a name or a file. `sources` says where each figure comes from.
    """

    name: Name
    """How scenarios and reports call it."""
    description: str = ""
    """One line for people."""
    uplink_bps: Bps
    """Rate of one sensor alone in the cell, sensor to base station, in bit/s."""
    downlink_bps: Bps
    """The same, base station to sensor."""
    uplink_capacity_bps: Bps | None = None
    """What the whole cell carries, sensors to base station; null: what its channels do, at the rate of one sensor."""
    downlink_capacity_bps: Bps | None = None
    """The same, base station to sensors."""
    duplex: Literal["full", "device-half", "cell-half"] = "full"
    """full: a sensor sends and receives at once; device-half: one at a time; cell-half: all share one airtime."""
    channels: PositiveInt | Literal["dedicated"] = 1
    """How many sensors a cell serves at full rate per direction; dedicated: as many as there are."""
    sharing: Literal["fair", "fifo"] = "fair"
    """fair: active transfers share airtime equally; fifo: first come, first served."""
    multicast: bool = False
    """Whether a base station can send a model once to all that listen; strategies may ask, `scatter` does not."""
    resource_units: PositiveInt | None = None
    """The scheduler hands out whole units, this many in all; null: ideal sharing."""
    latency_s: Seconds = 0.0
    """One way over the radio, added after the airtime."""
    setup_s: Seconds = 0.0
    """To connect a sensor that has been inactive for longer than `inactivity_s`."""
    inactivity_s: Seconds = 10.0
    """How long a connection is kept after its last use."""
    release_assistance: bool = False
    """Release the connection as soon as an uplink has been delivered, not after `inactivity_s` (RAI)."""
    idle: Idle | None = None
    """What a radio does once its connection is released; null: it sleeps, and is reachable at once."""
    blocks: Blocks | None = None
    """Transport blocks and their errors; null: nothing is ever sent twice."""
    duty_cycle: DutyCycle | None = None
    """Limits to how long senders may send on shared airtime; null: none. Frames have silences instead."""
    fluctuation: Fluctuation | None = None
    """Two-state modulation of the cell's airtime; null: always good."""
    on_outage: Literal["pause", "restart"] = "pause"
    """A transfer through an outage goes on where it was, or from its beginning."""
    frames: Frames | None = None
    """Single frames with silence after each, instead of shared airtime; null: none."""
    energy: Currents | None = None
    """What the sensor's radio draws; null: not modelled."""
    budget: Budget | None = None
    """Link budget; null: sensors on this radio cannot be placed."""
    repetitions: TupleOf[Repetitions] = ()
    """Coverage classes by coupling loss, ascending; none: the rate follows the signal-to-noise ratio."""
    sources: dict[str, str] = Field(default_factory=dict)
    """Where each figure comes from; 'assumed' is a source. Of a missing energy or budget: why there is none."""

    @field_validator("sources", mode="before")
    @classmethod
    def _old_figures_are_read(cls, raw: Any) -> Any:
        return with_new_spelling(raw) if isinstance(raw, dict) else raw

    @model_validator(mode="after")
    def _frames_have_no_connections(self) -> "NetworkProfile":
        if self.frames is not None and self.release_assistance:
            raise ValueError("release_assistance is for connections; frames have none")
        if self.frames is not None and self.idle is not None and self.idle.mode != "listening":
            raise ValueError(f"idle.mode: {self.idle.mode} is for connections; frames have listening, or no idle")
        return self

    @model_validator(mode="after")
    def _consistent(self) -> "NetworkProfile":
        if self.resource_units is not None and self.sharing == "fifo":
            raise ValueError("resource_units is for sharing: fair; under fifo a transfer has a whole channel")
        if self.resource_units is not None and self.channels == "dedicated":
            raise ValueError("resource_units needs a number of channels, not 'dedicated'")
        if self.frames is not None and self.blocks is not None:
            raise ValueError("blocks are for shared airtime; frames have collisions of their own")
        if self.frames is not None and (self.duty_cycle is not None or self.fluctuation is not None):
            raise ValueError("duty_cycle and fluctuation are for shared airtime; frames have silences")
        if self.frames is None and any(each.frames is not None for each in self.repetitions):
            raise ValueError("repetitions have frames, but the profile has none")
        if self.duty_cycle is not None and (self.sharing == "fifo" or self.resource_units is not None):
            raise ValueError("duty_cycle is for sharing: fair without resource_units")
        self._check_capacities()
        losses_db = [each.coupling_loss_db for each in self.repetitions]
        if losses_db != sorted(set(losses_db)):
            raise ValueError("repetitions must have ascending coupling_loss_db")
        absent = {section for section in _OPTIONAL_TO_KNOW if getattr(self, section) is None}
        unknown = sorted(set(self.sources) - set(FIGURES) - absent)
        if unknown:
            raise ValueError(
                f"sources has '{unknown[0]}', which is no figure of a profile; figures: {', '.join(FIGURES)}"
            )
        return self

    def _check_capacities(self) -> None:
        given = [key for key in ("uplink_capacity_bps", "downlink_capacity_bps") if getattr(self, key) is not None]
        for key, is_set in (
            ("channels other than 1", self.channels != 1),
            ("sharing: fifo", self.sharing == "fifo"),
            ("resource_units", self.resource_units is not None),
            ("duty_cycle", self.duty_cycle is not None),
            ("frames", self.frames is not None),
        ):
            if given and is_set:
                raise ValueError(f"{given[0]} is for fair sharing of what a cell carries; leave out {key}")
        for key, capacity_bps, rate_bps in (
            ("uplink", self.uplink_capacity_bps, self.uplink_bps),
            ("downlink", self.downlink_capacity_bps, self.downlink_bps),
        ):
            if capacity_bps is not None and capacity_bps < rate_bps:
                raise ValueError(f"{key}_capacity_bps ({capacity_bps:g}) must be at least {key}_bps ({rate_bps:g})")
        up, down = self.channels_in("up"), self.channels_in("down")
        if self.duplex == "cell-half" and not isclose(up, down, rel_tol=1e-6):
            raise ValueError(
                "duplex: cell-half is one airtime, so both capacities must be the same multiple of their rates; "
                f"here {up:g} up and {down:g} down"
            )

    def rate_bps(self, direction: Direction) -> float:
        """Return the rate of one sensor alone in the cell."""
        return self.uplink_bps if direction == "up" else self.downlink_bps

    def channels_in(self, direction: Direction) -> float:
        """Return how many sensors the cell serves at full rate, a fraction where it has a capacity of its own."""
        capacity_bps = self.uplink_capacity_bps if direction == "up" else self.downlink_capacity_bps
        return self.channel_count if capacity_bps is None else capacity_bps / self.rate_bps(direction)

    @property
    def channel_count(self) -> float:
        """Return the channels as a number, infinity where every sensor has its own."""
        return float("inf") if self.channels == "dedicated" else float(self.channels)

    @property
    def class_latencies_s(self) -> tuple[float, ...]:
        """The latency of each coverage class; a radio without classes has one."""
        own = [self.latency_s if each.latency_s is None else each.latency_s for each in self.repetitions]
        return tuple(own) or (self.latency_s,)

    @property
    def extrapolated(self) -> tuple[str, ...]:
        """The figures whose source begins with `extrapolated`: nobody has measured them on this radio."""
        return tuple(key for key in FIGURES if self.sources.get(key, "").startswith(_EXTRAPOLATED))

    @property
    def frame_classes(self) -> tuple[FrameTimes, ...]:
        """The frames of each coverage class; the profile's alone where there are no classes. None without frames."""
        if self.frames is None:
            return ()
        return tuple(each.frames or self.frames for each in self.repetitions) or (self.frames,)

    @property
    def figures(self) -> dict[str, object]:
        """Every figure by its dotted key, as `sources` names it."""
        return dict(_figures(self))


_SECTIONS: dict[str, type[Settings]] = {
    "blocks": Blocks,
    "duty_cycle": DutyCycle,
    "fluctuation": Fluctuation,
    "frames": Frames,
    "idle": Idle,
    "energy": Currents,
    "budget": Budget,
}
_EXTRAPOLATED = "extrapolated"
_OPTIONAL_TO_KNOW = ("energy", "budget")
_NO_FIGURES = ("name", "description", "sources")


def _figure_names(model: type[Settings]) -> Iterator[str]:
    for key in model.model_fields:
        if key in _SECTIONS:
            yield from (f"{key}.{inner}" for inner in _SECTIONS[key].model_fields)
        elif key not in _NO_FIGURES:
            yield key


def _figures(profile: NetworkProfile) -> Iterator[tuple[str, object]]:
    for key in NetworkProfile.model_fields:
        value = getattr(profile, key)
        if isinstance(value, Settings):
            yield from ((f"{key}.{inner}", getattr(value, inner)) for inner in type(value).model_fields)
        elif key not in _NO_FIGURES:
            yield key, value


FIGURES = tuple(_figure_names(NetworkProfile))
