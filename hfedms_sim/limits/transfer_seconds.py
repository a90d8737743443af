"""Where the seconds of transfers on a critical path went.

The seconds of a transfer that is ready at t, has airtime from `start_s` on and ends it at e after T = e - start_s, with
an airtime A of its own:

    set-up and paging   start_s - t; of a queue or of frames only `setup_s`, unless the sensor has just been active
    silence             of frames T - A, and the wait for the sender's silence before;
                        of a duty cycle d: A (1 / d - 1) up, (1 - d) T down, where the base station is one sender
    waiting             what others took: the rest of T - A, and the rest of a wait in a queue; bad spells of a cell
    shared airtime      the part of A in which its direction had more transfers than it serves at full rate
    slow rate           of the rest, what the sensor needs more than at its profile's full rate, 8 (B + R) / r
    airtime             the rest of A
    latency, backbone   the radio's, after the airtime; the backbone's, before the next step
    lost                all, if it was lost or aborted; else what its cell or its sensor was down; all others are
                        free of that

A wait in a gateway's queue is silence and airtime of those in front, in the proportion of the gateway's frames. Left
out: whether a set-up really happened in a queue; the sensor's radio being busy (`device-half`) counts as set-up.
"""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from hfedms_sim.limits.columns import Array, Columns
from hfedms_sim.limits.links import Link, figures
from hfedms_sim.units import BITS_PER_BYTE

Floats = NDArray[np.float64]


def split_transfers(sent: dict[str, Array], links: Sequence[Link]) -> dict[str, Floats]:
    """Return the seconds of these transfers by cause; they add up to `end_s` less `ready_s`."""
    link, airtime_s = sent["link"], sent["airtime_s"]
    allowed, setup_s = figures(links, "allowed_share")[link], figures(links, "setup_s")[link]
    has_frames = figures(links, "frame_bytes")[link] > 0
    is_queue, is_one_sender = (figures(links, name)[link] > 0 for name in ("is_queue", "is_one_sender"))
    before_s = sent["start_s"] - sent["ready_s"] - sent["held_s"]
    taken_s = sent["air_end_s"] - sent["start_s"] - sent["paused_s"]
    least_setup_s = np.where(sent["was_active"], 0.0, np.minimum(before_s, setup_s))
    setup = np.where(is_queue | has_frames, least_setup_s, before_s)
    queued_s = before_s - setup
    queued_silence_s = queued_s * np.where(has_frames, np.where(is_one_sender, 1 - allowed, 1.0), 0.0)
    extra_s = np.maximum(0.0, taken_s - airtime_s)
    own_silence_s = np.where(is_one_sender, (1 - allowed) * taken_s, airtime_s * (1 / allowed - 1))
    silence_s = np.where(has_frames, extra_s, np.minimum(extra_s, own_silence_s))
    own_s = taken_s - extra_s
    alone_s = sent["air_end_s"] - sent["begin_s"] - sent["contended_s"]
    sending = np.divide(own_s, own_s + silence_s, out=np.ones_like(own_s), where=own_s + silence_s > 0)
    own_alone_s = np.clip(alone_s * sending, 0.0, own_s)
    slow_s = np.minimum(own_alone_s, np.maximum(0.0, airtime_s - _full_rate_s(sent, links)))
    seconds = {
        "setup_s": setup,
        "waiting_s": queued_s - queued_silence_s + extra_s - silence_s,
        "shared_airtime_s": own_s - own_alone_s,
        "slow_rate_s": slow_s,
        "airtime_s": own_alone_s - slow_s,
        "silence_s": queued_silence_s + silence_s,
        "latency_s": sent["end_s"] - sent["air_end_s"],
        "lost_s": sent["held_s"] + sent["paused_s"],
    }
    given_up_s = {"lost_s": sent["end_s"] - sent["ready_s"]}
    return {name: np.where(sent["is_ok"], each, given_up_s.get(name, 0.0)) for name, each in seconds.items()}


def _full_rate_s(sent: Columns, links: Sequence[Link]) -> Floats:
    """Return the airtime of each transfer at its profile's full rate."""
    link, size_bytes, again_bytes = sent["link"], sent["bytes"], sent["retransmitted_bytes"]
    frame_bytes = figures(links, "frame_bytes")[link]
    shared_s = BITS_PER_BYTE * (size_bytes + again_bytes) / figures(links, "rate_bps")[link]
    per_frame = np.where(frame_bytes > 0, frame_bytes, 1.0)
    frames_s = (np.ceil(size_bytes / per_frame) + again_bytes / per_frame) * figures(links, "frame_s")[link]
    full_s: Floats = np.where(frame_bytes > 0, frames_s, shared_s)
    return full_s
