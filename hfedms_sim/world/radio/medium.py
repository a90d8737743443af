"""What every kind of medium offers a cell: what a transfer takes, and the transfer itself."""

from collections.abc import Sequence
from typing import NamedTuple, Protocol

from simpy import Event

from hfedms_sim.rounds import Direction
from hfedms_sim.transfers import Demand, Transfer
from hfedms_sim.world.radio.delivery import Delivery


class Capacity(NamedTuple):
    """Some directions, and how much airtime they have together in a second."""

    directions: tuple[Direction, ...]
    channels: float


class Medium(Protocol):
    is_connected: bool
    """Whether a sensor stays connected, and idle, while its transfer has no airtime; if not, it sleeps."""

    is_down: bool
    """Whether its cell is down: all that is on the air, or waits for it, is withdrawn in this very instant."""

    @property
    def is_idle(self) -> bool:
        """Whether no transfer is under way."""

    @property
    def capacities(self) -> Sequence[Capacity]:
        """Which directions share how much airtime; what has no limit of its own is not here."""

    def announce(self, transfer: Transfer) -> Event | None:
        """Note that a transfer is ready, and return what has to happen before its demand can be told, if anything."""

    def renounce(self, transfer: Transfer) -> None:
        """Forget a transfer that was announced and will not be sent."""

    def demand(self, transfer: Transfer, rate_share: float) -> Demand:
        """Return what the transfer takes at this share of the full rate. Changes nothing: it may be asked again."""

    def part(self, transfer: Transfer, demand: Demand, share: float) -> Demand:
        """Return what a share of the transfer takes, if all of it takes this."""

    def has_left(self, delivery: Delivery) -> bool:
        """Return whether a transfer has had all its airtime, and is on its way."""

    def send(self, transfer: Transfer, demand: Demand) -> Delivery:
        """Begin the transfer, which is ready now, and return its delivery."""
