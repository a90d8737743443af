"""What a sensor's radio does between transfers, and what it draws in each state.

`Idle` is how the network runs a radio whose connection has been released: it listens, hears a page now and then (DRX,
eDRX), or sleeps until it wakes itself (PSM). `Currents` are figures of the radio module. Both have the figures of all
modes, so that another mode is one key: a figure that a mode does not use has no effect.
"""

from typing import Annotated, Any, Literal

from pydantic import Field, model_validator

from hfedms_sim.scenario.base import LEAST, NonNegativeFloat, PositiveFloat, Seconds, Settings

Cycle = Annotated[float, Field(ge=LEAST, le=1e9)]

_OLD_SPELLING, _CONNECTED = "idle_ma", "connected_ma"


class Idle(Settings):
    """What a radio does once its connection has been released."""

    mode: Literal["listening", "drx", "edrx", "psm"]
    """listening: it receives all the time; drx, edrx: it hears a page once per cycle; psm: it sleeps."""
    cycle_s: Cycle | None = None
    """Seconds between paging occasions (drx, edrx; psm: within its active time)."""
    active_s: Seconds = 0.0
    """How long after the release it can still be paged (psm; T3324)."""
    wake_every_s: Cycle | None = None
    """How often it wakes itself, until when a downlink waits (psm; T3412); null: it wakes when it is wanted."""
    wake_s: Seconds = 0.0
    """Added to `setup_s` when it was asleep (psm)."""

    @property
    def pages_every_s(self) -> float | None:
        """How often a released radio hears a page; None if it never does, or hears everything."""
        is_paged = self.mode in ("drx", "edrx") or (self.mode == "psm" and self.active_s > 0)
        return self.cycle_s if is_paged else None

    @property
    def wakes_every_s(self) -> float | None:
        """How often it wakes itself from PSM; None if it wakes when it is wanted, or never sleeps so."""
        return self.wake_every_s if self.mode == "psm" else None

    @property
    def extra_setup_s(self) -> float:
        """What a set-up takes longer than `setup_s` from where the radio rests."""
        return self.wake_s if self.mode == "psm" else 0.0

    @property
    def mean_wait_s(self) -> float:
        """How long a downlink to a sensor at rest waits in the mean until it can be reached."""
        every_s = self.wakes_every_s if self.mode == "psm" else self.pages_every_s
        return 0.0 if every_s is None else every_s / 2

    @model_validator(mode="after")
    def _mode_has_its_figures(self) -> "Idle":
        pages = self.mode in ("drx", "edrx") or (self.mode == "psm" and self.active_s > 0)
        if pages and self.cycle_s is None:
            raise ValueError(f"mode: {self.mode} needs cycle_s{' with active_s' if self.mode == 'psm' else ''}")
        return self


class Currents(Settings):
    """What a sensor's radio draws in each state."""

    voltage_v: PositiveFloat
    """Supply voltage."""
    sleep_ma: NonNegativeFloat
    """Asleep: nothing to do, connection released; between pages too."""
    connected_ma: NonNegativeFloat
    """Connected without airtime (the average of C-DRX), until the connection is released; `idle_ma` in older files."""
    receive_ma: NonNegativeFloat
    """While airtime is received."""
    transmit_ma: NonNegativeFloat
    """While the transmitter is on."""
    transmit_duty: Annotated[float, Field(ge=LEAST, le=1)] = 1.0
    """Share of an uplink's airtime in which the transmitter is on; the rest is at `connected_ma`."""
    page_j: NonNegativeFloat = 0.0
    """Joules of one paging occasion."""
    setup_j: NonNegativeFloat | None = None
    """Joules of a set-up from idle; null: `connected_ma` for as long as it takes."""
    wake_j: NonNegativeFloat = 0.0
    """Joules added to a set-up when it was in PSM."""

    @model_validator(mode="before")
    @classmethod
    def _old_spelling_is_read(cls, raw: Any) -> Any:
        if not isinstance(raw, dict) or _OLD_SPELLING not in raw:
            return raw
        if _CONNECTED in raw:
            raise ValueError(f"{_OLD_SPELLING} is the old spelling of {_CONNECTED}; leave it out")
        return {_CONNECTED if key == _OLD_SPELLING else key: value for key, value in raw.items()}


def with_new_spelling(sources: dict[str, Any]) -> dict[str, Any]:
    """Return a profile's sources with today's name of a figure that older files call otherwise."""
    old, new = f"energy.{_OLD_SPELLING}", f"energy.{_CONNECTED}"
    return {new if key == old else key: value for key, value in sources.items()}
