"""NetworkProfile: one radio technology as the airtime model sees it, every figure with its source."""

from typing import Literal

from pydantic import Field, model_validator

from hfedms_sim.scenario.base import Bps, Name, PositiveInt, Seconds, Settings

FIGURES = ("uplink_bps", "downlink_bps", "duplex", "channels", "sharing", "resource_units", "latency_s")


class NetworkProfile(Settings):
    name: Name
    """How scenarios and reports call it."""
    description: str = ""
    """One line for people."""
    uplink_bps: Bps
    """Rate of one device alone in the cell, sensor to base station, in bit/s."""
    downlink_bps: Bps
    """The same, base station to sensor."""
    duplex: Literal["full", "device-half", "cell-half"] = "full"
    """full: a device sends and receives at once; device-half: one at a time; cell-half: all share one airtime."""
    channels: PositiveInt | Literal["dedicated"] = 1
    """How many devices a cell serves at full rate per direction; dedicated: as many as there are."""
    sharing: Literal["fair", "fifo"] = "fair"
    """fair: active transfers share airtime equally; fifo: first come, first served."""
    resource_units: PositiveInt | None = None
    """The scheduler hands out whole units, this many in all; null: ideal sharing."""
    latency_s: Seconds = 0.0
    """One way over the radio, added after the airtime."""
    sources: dict[str, str] = Field(default_factory=dict)
    """Where each figure comes from; 'assumed' is a source."""

    @model_validator(mode="after")
    def _consistent(self) -> "NetworkProfile":
        if self.resource_units is not None and self.sharing == "fifo":
            raise ValueError("resource_units is for sharing: fair; under fifo a transfer has a whole channel")
        if self.resource_units is not None and self.channels == "dedicated":
            raise ValueError("resource_units needs a number of channels, not 'dedicated'")
        unknown = sorted(set(self.sources) - set(FIGURES))
        if unknown:
            raise ValueError(
                f"sources has '{unknown[0]}', which is no figure of a profile; figures: {', '.join(FIGURES)}"
            )
        return self

    @property
    def channel_count(self) -> float:
        """Infinite where every device has its own."""
        return float("inf") if self.channels == "dedicated" else float(self.channels)
