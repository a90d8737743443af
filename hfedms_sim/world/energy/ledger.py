"""What each sensor's radio did, in seconds, and its processor, in joules: one book for all cells of a run.

An entry is a sensor and an amount. Entries are only noted while a round is played and added up at its end, all at once:
a dictionary of a million sensors would cost more than the transfers. A sensor that never spoke has no entry, and a
book without entries no sums.
"""

from array import array
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]


class Account:
    """Amounts by sensor."""

    def __init__(self, sensors: int) -> None:
        self._sensors = sensors
        self._who = array("q")
        self._amounts = array("d")
        self._sums: Floats | None = None

    def add(self, sensor: int, amount: float) -> None:
        self._who.append(sensor)
        self._amounts.append(amount)

    def add_to_each(self, sensors: Sequence[int], amount: float) -> None:
        """Add the same amount to each of these sensors."""
        self._who.extend(sensors)
        self._amounts.extend([amount] * len(sensors))

    def add_arrays(self, sensors: NDArray[np.int64], amounts: Floats) -> None:
        self._who.frombytes(sensors.astype(np.int64).tobytes())
        self._amounts.frombytes(amounts.astype(np.float64).tobytes())

    def settle(self) -> None:
        """Add up what was noted since the last call."""
        if not self._who:
            return
        if self._sums is None:
            self._sums = np.zeros(self._sensors)
        np.add.at(self._sums, np.array(self._who), np.array(self._amounts))
        self._who, self._amounts = array("q"), array("d")

    @property
    def sums(self) -> Floats:
        """What each sensor has, as of the last settlement."""
        return np.zeros(self._sensors) if self._sums is None else self._sums


class Ledger:
    """The accounts of all sensors of a run."""

    def __init__(self, sensors: int) -> None:
        self.sensors = sensors
        self.uplink_s, self.downlink_s = Account(sensors), Account(sensors)
        """Airtime."""
        self.connected_s = Account(sensors)
        """From the beginning of a set-up to the release, airtime included."""
        self.setup_s, self.setup_j = Account(sensors), Account(sensors)
        """The part of the connected time that went into set-ups; and their joules."""
        self.active_s = Account(sensors)
        """The part of the released time in which a radio that goes into PSM could still be paged."""
        self.billed_s = {"transmit": Account(sensors), "receive": Account(sensors), "connected": Account(sensors)}
        """Beside transfers and connections, what a medium has billed: receive windows, and the wait for them."""
        self.compute_j = Account(sensors)

    def settle(self) -> None:
        """Add up all accounts; a round has ended."""
        own = (self.uplink_s, self.downlink_s, self.connected_s, self.setup_s, self.setup_j, self.active_s)
        for account in (*own, *self.billed_s.values(), self.compute_j):
            account.settle()
