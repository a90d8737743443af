"""What every kind of air offers a cell: what a transfer will take, and the transfer itself."""

from collections.abc import Callable
from typing import NamedTuple, Protocol

from hfedms_sim.rounds import Direction
from hfedms_sim.world.airtime import Delivery


class Need(NamedTuple):
    """What a transfer takes: airtime when alone in the cell, bytes sent again within it, and frames if it has any."""

    airtime_s: float
    retransmitted_bytes: int
    frames: int = 0


class Air(Protocol):
    is_connected: bool
    """Whether a sensor stays connected, and idle, while its transfer has no airtime; if not, it sleeps."""

    def need(self, direction: Direction, size_bytes: int, factor: float, draw: Callable[[], float]) -> Need:
        """`factor` is the sensor's share of the full rate, `draw` the transfer's own uniform draw, if it needs one."""

    def send(self, direction: Direction, sensor: int, need: Need) -> Delivery:
        """A transfer to or from `sensor`, ready now."""
