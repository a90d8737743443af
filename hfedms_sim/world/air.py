"""What every kind of air offers a cell: what a transfer will take, and the transfer itself."""

from collections.abc import Sequence
from typing import NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from hfedms_sim.rounds import Direction
from hfedms_sim.world.delivery import Delivery


class Need(NamedTuple):
    """What a transfer takes: airtime when alone in the cell, bytes sent again within it, and frames if it has any."""

    airtime_s: float
    retransmitted_bytes: int
    frames: int = 0


class Air(Protocol):
    is_connected: bool
    """Whether a sensor stays connected, and idle, while its transfer has no airtime; if not, it sleeps."""

    needs_luck: bool
    """Whether some of what is sent may be lost. If so, transfers have to be foreseen."""

    def foresee(
        self, direction: Direction, size_bytes: int, sensors: Sequence[int], lucks: NDArray[np.float64]
    ) -> None:
        """The next transfer of each of these sensors has this size, and its own uniform draw in [0, 1)."""

    def need(self, direction: Direction, sensor: int, size_bytes: int, factor: float) -> Need:
        """`factor` is the share of the full rate."""

    def send(self, direction: Direction, sensor: int, need: Need) -> Delivery:
        """A transfer to or from `sensor`, ready now."""
