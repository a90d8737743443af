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


class RadioMeter:
    """Of the sensors of one cell."""

    def __init__(self, currents: Currents, sensors: int) -> None:
        watt = currents.voltage_v * _AMPERE
        self._active_w: dict[Direction, float] = {"up": currents.transmit_ma * watt, "down": currents.receive_ma * watt}
        self._idle_w = currents.idle_ma * watt
        self._sleep_w = currents.sleep_ma * watt
        self._sensors = sensors
        self._airtime_s = 0.0
        self._transfers_j = 0.0
        self._round_start_s = 0.0

    def transfer(self, direction: Direction, airtime_s: float, radios: int = 1) -> float:
        """Joules of one transfer of this many radios."""
        energy_j = self._active_w[direction] * airtime_s * radios
        self._airtime_s += airtime_s * radios
        self._transfers_j += energy_j
        return energy_j

    def end_round(self, now_s: float, idle_s: float) -> RoundEnergy:
        """Since the last call, in which all sensors together were idle for `idle_s`."""
        all_s = self._sensors * (now_s - self._round_start_s)
        sleep_s = max(0.0, all_s - idle_s - self._airtime_s)
        energy = RoundEnergy(self._transfers_j, self._idle_w * idle_s + self._sleep_w * sleep_s)
        self._airtime_s = self._transfers_j = 0.0
        self._round_start_s = now_s
        return energy
