"""A transfer over the radio, as a value: who sends what to whom, and when. What it takes is a `Demand`."""

from typing import NamedTuple

from hfedms_sim.rounds import Direction, Hop, Payload


class Transfer(NamedTuple):
    """One payload over the radio of one cell; `group` is the chain it belongs to."""

    turn: int
    """What draws are keyed by: the round in which its chain began."""
    version: int
    """The round that made the model which it is, or which it was made from; 0: the initial one."""
    group: int
    hop: Hop
    direction: Direction
    payload: Payload
    sensor: int
    """The sensor on the radio, or everyone in the cell."""
    radios: tuple[int, ...]
    """The sensors whose radios are on: that sensor, or all that listen to a broadcast."""


class Demand(NamedTuple):
    """What a transfer takes: airtime when alone in the cell, and the bytes sent again within it.

    Besides its airtime a radio may have to send (polls) or to listen (receive windows); that costs joules alone.
    """

    airtime_s: float
    retransmitted_bytes: int
    extra_transmit_s: float = 0.0
    """The seconds that each of its sensors transmits besides the airtime."""
    extra_receive_s: float = 0.0
    """The same, listening."""

    def plus(self, other: "Demand") -> "Demand":
        """Return what this and another piece have taken together."""
        return Demand(
            self.airtime_s + other.airtime_s,
            self.retransmitted_bytes + other.retransmitted_bytes,
            self.extra_transmit_s + other.extra_transmit_s,
            self.extra_receive_s + other.extra_receive_s,
        )

    def taken_after(self, airtime_s: float) -> "Demand":
        """Return what had been taken when the transfer was given up after so much airtime."""
        share = airtime_s / self.airtime_s if airtime_s else 0.0
        again_bytes = int(self.retransmitted_bytes * airtime_s / self.airtime_s) if airtime_s else 0
        return Demand(airtime_s, again_bytes, self.extra_transmit_s * share, self.extra_receive_s * share)


class Timeline(NamedTuple):
    """When a transfer was ready, began and ended, and how long it waited for parts that were down."""

    ready_s: float
    """The payload was at the radio."""
    start_s: float
    """Its airtime began."""
    end_s: float
    held_s: float = 0.0
    """How long it waited for parts that were down, before its airtime began."""
    paused_s: float = 0.0
    """How long it waited for them after that."""
