"""Joules by sensor and state, from the seconds in the ledger: the equations of meter.py, for all sensors at once.

    a day of a sensor = n (E - P_rest T) / R + P_rest x 86,400 s

for n rounds a day, where R rounds took T seconds and E joules and P_rest is the power of a radio that nobody needs. No
day has more rounds than fit in it: n is at most 86,400 R / T, and then a day costs what a day of these rounds does.
Left out: a connection that is still open when a round ends is billed to the next one, which at n rounds a day would
not follow at once.
"""

from collections.abc import Sequence
from math import nan
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from hfedms_sim.units import SECONDS_PER_DAY
from hfedms_sim.world.energy.ledger import Floats, Ledger
from hfedms_sim.world.energy.meter import RadioPower

_NOT_MODELLED = RadioPower(nan, nan, nan, nan, nan, nan, rests_idle=False)


class SensorEnergy(NamedTuple):
    """Joules of each sensor since the beginning, an array for each state; not a number where it is not modelled."""

    transmit: Floats
    receive: Floats
    connected: Floats
    setup: Floats
    idle: Floats
    sleep: Floats
    compute: Floats
    elapsed_s: float
    rest_w: Floats
    """The power of a sensor that nobody needs."""

    @property
    def total_j(self) -> Floats:
        """Joules of each sensor in all states."""
        return self.transmit + self.receive + self.connected + self.setup + self.idle + self.sleep + self.compute

    def joules_a_day(self, rounds: int, rounds_per_day: float) -> Floats:
        """Return what each sensor spends in a day of this many rounds like those that were played."""
        fitting = min(rounds_per_day, SECONDS_PER_DAY * rounds / self.elapsed_s)
        above_rest_j = (self.total_j - self.rest_w * self.elapsed_s) / rounds
        return fitting * above_rest_j + SECONDS_PER_DAY * self.rest_w


def sensor_energy(
    ledger: Ledger, powers: Sequence[RadioPower | None], cells: NDArray[np.int64], elapsed_s: float
) -> SensorEnergy:
    """Return the joules of each sensor; `powers` are those of each cell's radios, `cells` the cell of each sensor."""
    by_cell = np.array([each or _NOT_MODELLED for each in powers], dtype=np.float64)
    transmit_w, receive_w, connected_w, idle_w, sleep_w, duty, rests_idle = by_cell.T[:, cells]
    up_s, down_s, billed_s = ledger.uplink_s.sums, ledger.downlink_s.sums, ledger.billed_s
    connected_s, setup_s = ledger.connected_s.sums, ledger.setup_s.sums
    waiting_s = np.maximum(0.0, connected_s - up_s - down_s - setup_s)
    extra_s = sum(account.sums for account in billed_s.values())
    rest_s = np.maximum(0.0, elapsed_s - connected_s - extra_s)
    idle_s = np.where(rests_idle, rest_s, ledger.active_s.sums)
    return SensorEnergy(
        transmit_w * (duty * up_s + billed_s["transmit"].sums),
        receive_w * (down_s + billed_s["receive"].sums),
        connected_w * (waiting_s + (1 - duty) * up_s + billed_s["connected"].sums),
        ledger.setup_j.sums + 0.0 * connected_w,  # not a number where nothing is modelled
        idle_w * idle_s,
        sleep_w * (rest_s - idle_s),
        ledger.compute_j.sums.copy(),
        elapsed_s,
        np.where(rests_idle, idle_w, sleep_w),
    )
