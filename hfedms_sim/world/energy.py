"""Joules of the sensors' radios, by state.

    transfer   airtime x V I, I transmitting (up) or receiving (down); what is sent again included
    baseline   idle: connected without airtime (setting up, waiting for airtime or latency, and until the inactivity
               timer ends after the last use); sleep: all other time

Left out: ramps between states, temperature, the base station's own energy.
"""

from math import inf
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

    def __init__(self, currents: Currents, inactivity_s: float, sensors: int) -> None:
        watt = currents.voltage_v * _AMPERE
        self._active_w: dict[Direction, float] = {"up": currents.transmit_ma * watt, "down": currents.receive_ma * watt}
        self._idle_w = currents.idle_ma * watt
        self._sleep_w = currents.sleep_ma * watt
        self._inactivity_s = inactivity_s
        self._sensors = sensors
        self._counted_s: dict[int, float] = {}  # connected sensors: up to when their idle time is counted
        self._released_s: dict[int, float] = {}  # and when their timer ends
        self._idle_s = 0.0
        self._airtime_s = 0.0
        self._transfers_j = 0.0
        self._round_start_s = 0.0

    def use(self, sensor: int, direction: Direction, ready_s: float, end_s: float, airtime_s: float) -> float:
        """The radio was connected from `ready_s` to `end_s` and had `airtime_s` of it. Returns its joules."""
        self._count_idle(sensor, ready_s)
        self._idle_s += end_s - ready_s - airtime_s
        self._airtime_s += airtime_s
        self._counted_s[sensor] = end_s
        self._released_s[sensor] = end_s + self._inactivity_s
        energy_j = self._active_w[direction] * airtime_s
        self._transfers_j += energy_j
        return energy_j

    def end_round(self, now_s: float) -> RoundEnergy:
        """Since the last call."""
        for sensor in list(self._counted_s):
            self._count_idle(sensor, now_s)
        all_s = self._sensors * (now_s - self._round_start_s)
        sleep_s = max(0.0, all_s - self._idle_s - self._airtime_s)
        energy = RoundEnergy(self._transfers_j, self._idle_w * self._idle_s + self._sleep_w * sleep_s)
        self._idle_s = self._airtime_s = self._transfers_j = 0.0
        self._round_start_s = now_s
        return energy

    def _count_idle(self, sensor: int, until_s: float) -> None:
        released_s = self._released_s.get(sensor, -inf)
        counted_s = self._counted_s.pop(sensor, inf)
        self._idle_s += max(0.0, min(until_s, released_s) - counted_s)
        if until_s < released_s:
            self._counted_s[sensor] = until_s
        else:
            self._released_s.pop(sensor, None)
