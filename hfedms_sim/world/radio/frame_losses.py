"""How many frames are lost on the air and have to be sent again.

While it sends, a sender is heard with a frame in every period (`Rhythm`). A frame of length T that begins at any time
overlaps a frame of a sender with frames T_i and period P_i with probability (T + T_i) / P_i, if that sender's phase is
independent of it.

    collisions   pure ALOHA on c channels, of which each frame takes one at random: a frame meets none of the other
                 senders of its class with probability exp(-sum (T + T_i) / P_i / c). Of n others with frames like its
                 own this is exp(-2 G), G = n T / (T + T_off) / c
    deafness     a gateway that sends hears nothing: of the frames that begin while a downlink is under way a share
                 q = (T + T_d) / P_d is lost. A sender with period P begins m = H / P frames in the H seconds that the
                 downlink still has to go, so a transfer of N frames, each of which would take 1 / a attempts, takes
                 N / a + q m attempts; if it is over before the downlink is, N / (a (1 - q))

Senders of equal period that kept their phases would meet in every frame or in none. Real ones do not keep them (clocks
drift, and LoRaWAN asks for a random delay before a frame is sent again), so phases are taken as new for every frame.
Abramson (1970) is the source of pure ALOHA.
"""

from collections.abc import Sequence
from math import exp, prod
from typing import NamedTuple

from hfedms_sim.frame_trains import Rhythm
from hfedms_sim.world.radio.blocks import failed_blocks

LEAST_ARRIVING = 1e-9  # so that a jammed channel takes an absurd time, not an endless one


def overlap(frame_s: float, rhythm: Rhythm) -> float:
    """Return how many frames of a sender a frame of this length meets on average, at any time."""
    return (frame_s + rhythm.frame_s) / rhythm.period_s


class Deafness(NamedTuple):
    """A downlink under way, as a transfer that starts now meets it."""

    share: float
    """The part of the frames that begin while it is under way which is lost."""
    attempts: float
    """How many frames the transfer can begin until it is over."""


def loss_probability(met: float, channels: float, frames: int = 1, deaf: Sequence[Deafness] = ()) -> float:
    """Return the share of a transfer's frames that are lost, if each meets this many on all channels."""
    arriving = max(LEAST_ARRIVING, exp(-met / channels))
    if deaf:
        within_downlinks = arriving * prod(1 - each.share for each in deaf)
        beyond_them = 1 / (1 / arriving + sum(each.share * each.attempts for each in deaf) / frames)
        arriving = max(LEAST_ARRIVING, within_downlinks, beyond_them)
    return 1 - arriving


def lost_frames(frames: int, loss: float, uniform: float) -> int:
    """Return how many frames are lost until this many have arrived, for a uniform draw in [0, 1).

    The law is that of failed blocks (blocks.py).
    """
    return failed_blocks(frames, loss, uniform)
