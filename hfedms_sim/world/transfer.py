"""A transfer over the radio, as a value: who sends what to whom, in which round. What it takes is a `Demand`."""

from typing import NamedTuple

from hfedms_sim.rounds import Direction, Hop, Payload


class Transfer(NamedTuple):
    """One payload over the radio of one cell; `group` is the chain it belongs to."""

    round: int
    group: int
    hop: Hop
    direction: Direction
    payload: Payload
    sensor: int
    """The sensor on the radio, or everyone in the cell."""
    radios: tuple[int, ...]
    """The sensors whose radios are on: that sensor, or all that listen to a broadcast."""


class Demand(NamedTuple):
    """What a transfer takes: airtime when alone in the cell, and the bytes sent again within it."""

    airtime_s: float
    retransmitted_bytes: int
