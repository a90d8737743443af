"""One direction of one cell as its limits see it: how many transfers fill it, and how long a sender may be on air.

A direction is saturated from n transfers on:

    shared airtime                n = c, as many as the cell serves at full rate
    duty cycle d of each sensor   n = c / d, because a sensor that sends all it may takes a share d of a channel
    frames, uplink (ALOHA)        n = c (T + T_off) / T, as many senders as fill the channels without a gap
    one sender for all sensors    n = 1: the base station is as busy as it may be while anything waits

The last is the downlink with a duty cycle, and a gateway's. A Sigfox downlink has a quota for each sensor and cannot
be saturated; neither can dedicated channels.
"""

from collections.abc import Iterable
from math import inf
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from hfedms_sim.rounds import Direction
from hfedms_sim.scenario import Cell, NetworkProfile

DIRECTIONS: tuple[Direction, ...] = ("up", "down")


class Link(NamedTuple):
    """One direction of one cell."""

    cell: str
    direction: Direction
    pool: int
    """The number of the link whose airtime this one uses: its own, or the uplink's where one airtime serves both."""
    rate_bps: float
    """The full rate of one sensor alone in the cell."""
    full_at: float
    """How many transfers saturate it."""
    allowed_share: float
    """The share of the time for which a sender may be on air; 1: always."""
    is_one_sender: bool
    """Whether the base station is one sender for all sensors, and its limit one for all."""
    is_queue: bool
    """Whether a transfer waits for others before its airtime begins, not within it."""
    frame_bytes: float
    """Application bytes of a frame; 0 where airtime is shared."""
    frame_s: float
    """Its time on air."""
    setup_s: float
    inactivity_s: float

    @property
    def is_limited(self) -> bool:
        """Return whether a duty cycle or silences limit the airtime."""
        return self.allowed_share < 1

    @property
    def name(self) -> str:
        """Return such as `downlink of hall`."""
        return f"{self.direction}link of {self.cell}"


def links_of(cells: Iterable[Cell]) -> list[Link]:
    """Return uplink and downlink of each cell: link 2 i is the uplink of cell i, link 2 i + 1 its downlink."""
    return [
        _link(cell.name, cell.profile, direction, 2 * number + side)
        for number, cell in enumerate(cells)
        for side, direction in enumerate(DIRECTIONS)
    ]


def is_airtime_shared(profile: NetworkProfile) -> bool:
    """Return whether both directions take turns on one airtime."""
    return profile.duplex == "cell-half" and profile.frames is None and profile.duty_cycle is None


def figures(links: Iterable[Link], name: str) -> NDArray[np.float64]:
    """Return one figure of every link."""
    return np.array([getattr(link, name) for link in links], dtype=float)


def _link(cell: str, profile: NetworkProfile, direction: Direction, number: int) -> Link:
    allowed_share, frames = _allowed_share(profile, direction), profile.frames
    is_gateway = frames is not None and frames.downlink_limit == "gateway"
    is_one_sender = direction == "down" and (profile.duty_cycle is not None or is_gateway)
    frame_bytes, frame_s = 0.0, 0.0
    if frames is not None:
        is_up = direction == "up"
        frame_bytes = frames.uplink_payload_bytes if is_up else frames.downlink_payload_bytes
        frame_s = frames.uplink_frame_s if is_up else frames.downlink_frame_s
    return Link(
        cell=cell,
        direction=direction,
        pool=number - number % 2 if is_airtime_shared(profile) else number,
        rate_bps=profile.uplink_bps if direction == "up" else profile.downlink_bps,
        full_at=1.0 if is_one_sender else _full_at(profile, direction, allowed_share),
        allowed_share=allowed_share,
        is_one_sender=is_one_sender,
        is_queue=profile.sharing == "fifo" or (direction == "down" and is_gateway),
        frame_bytes=frame_bytes,
        frame_s=frame_s,
        setup_s=profile.setup_s,
        inactivity_s=profile.inactivity_s,
    )


def _allowed_share(profile: NetworkProfile, direction: Direction) -> float:
    if profile.frames is not None:
        frames, is_up = profile.frames, direction == "up"
        frame_s = frames.uplink_frame_s if is_up else frames.downlink_frame_s
        return frame_s / (frame_s + (frames.uplink_silence_s if is_up else frames.downlink_silence_s))
    if profile.duty_cycle is not None:
        return profile.duty_cycle.uplink if direction == "up" else profile.duty_cycle.downlink
    return 1.0


def _full_at(profile: NetworkProfile, direction: Direction, allowed_share: float) -> float:
    channels = profile.channels_in(direction)
    if profile.frames is not None and direction == "down":
        return inf
    if profile.duty_cycle is not None and profile.duplex == "cell-half":
        channels -= profile.duty_cycle.downlink
    return channels / allowed_share
