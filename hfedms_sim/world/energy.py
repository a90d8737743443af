"""Joules of the sensors' radios, by state.

    transfer   airtime x V I, I transmitting (up) or receiving (down); what is sent again included
    baseline   idle: connected without airtime (setting up, waiting for airtime or latency, and until the inactivity
               timer ends after the last use); sleep: all other time

Left out: ramps between states, temperature, the base station's own energy.
"""

from typing import NamedTuple

from hfedms_sim.rounds import Direction
from hfedms_sim.scenario import Currents

_AMPERE = 1e-3  # per milliampere


class RoundEnergy(NamedTuple):
    """Of the radios of one cell in one round."""

    transfers_j: float
    baseline_j: float


class RadioPower(NamedTuple):
    """Of one radio, by state."""

    active_w: dict[Direction, float]
    idle_w: float
    sleep_w: float

    @classmethod
    def of(cls, currents: Currents) -> "RadioPower":
        watt = currents.voltage_v * _AMPERE
        active_w: dict[Direction, float] = {"up": currents.transmit_ma * watt, "down": currents.receive_ma * watt}
        return cls(active_w, currents.idle_ma * watt, currents.sleep_ma * watt)
