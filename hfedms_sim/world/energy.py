"""Joules of the sensors' radios, by state.

    transfer   airtime x V I, I transmitting (up) or receiving (down); what is sent again included
    baseline   idle: connected without airtime (setting up, waiting for airtime or latency, and until the inactivity
               timer ends after the last use); polls and receive windows of radios of frames; sleep: all other time

Left out: ramps between states, temperature, the base station's own energy.
"""

from typing import Literal, NamedTuple

from hfedms_sim.rounds import Direction
from hfedms_sim.scenario import Currents

_AMPERE = 1e-3  # per milliampere

BilledState = Literal["transmit", "receive"]


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


class EnergyMeter:
    """What the radios of a cell's sensors spend."""

    def __init__(self, currents: Currents, sensors: int) -> None:
        self._power = RadioPower.of(currents)
        self._sensors = sensors
        self._round_start_s = 0.0
        self._airtime_s = self._transfers_j = 0.0  # of this round
        self._billed_s = self._billed_j = 0.0  # of this round, beside airtime

    def transfer(self, direction: Direction, airtime_s: float, radios: int) -> float:
        """Count the airtime of a transfer for each of its radios, and return its joules."""
        if radios > 1:
            airtime_s *= radios
        energy_j = self._power.active_w[direction] * airtime_s
        self._airtime_s += airtime_s
        self._transfers_j += energy_j
        return energy_j

    def bill(self, sensor: int, state: BilledState, seconds: float) -> float:
        """Count seconds in which the released radio of a sensor was in this state, not asleep; return their joules.

        For what a medium has its radios do beside airtime: polls and receive windows. The joules belong to the
        baseline and not to a transfer.
        """
        energy_j = self._power.active_w["up" if state == "transmit" else "down"] * seconds
        self._billed_s += seconds
        self._billed_j += energy_j
        return energy_j

    def end_round(self, now_s: float, connected_s: float) -> RoundEnergy:
        """Return the joules since the last call; `connected_s`: how long the sensors were connected, summed up."""
        idle_s = max(0.0, connected_s - self._airtime_s)
        sleep_s = max(0.0, self._sensors * (now_s - self._round_start_s) - connected_s - self._billed_s)
        baseline_j = self._power.idle_w * idle_s + self._power.sleep_w * sleep_s + self._billed_j
        energy = RoundEnergy(self._transfers_j, baseline_j)
        self._round_start_s = now_s
        self._airtime_s = self._transfers_j = self._billed_s = self._billed_j = 0.0
        return energy
