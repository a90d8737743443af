"""How long transfers that arrived were held up by outages, in a run in which something goes wrong.

A trace does not say when a transfer was off the air. What it says is a row of several pieces: airtime A from `start_s`
to its end after T. So an outage is what nothing else explains:

    after `start_s`    shared airtime   T (1 - A / S), S the airtime that sharing offers in T (occupation.py)
                       a queue          T - A: it was taken out of the queue, and lined up again
                       frames           T - A / d, d the share of the time for which a sender may be on air
    before it          what is longer than the longest page and set-up; less the time in which its link was contended,
                       if it has a queue; less a silence, if it has frames

The first is exact if the number of transfers beside it stays the same, and near it if not; the others are at most what
was lost. Without an outage all are zero. Left out: cells that fluctuate, whose bad spells look the same, polls of class
A, which may be lost, and what a transfer that starts again has to send again: that is airtime.
"""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from hfedms_sim.limits.columns import Columns
from hfedms_sim.limits.links import Link, figures

Floats = NDArray[np.float64]

_ROUNDING = 1e-9  # of the seconds of a transfer


class OffAir(NamedTuple):
    before_s: Floats
    """Between `ready_s` and `start_s`."""
    within_s: Floats
    """After it."""


def off_air(sent: Columns, links: Sequence[Link]) -> OffAir:
    """Return for how long each of these transfers was held up by an outage."""
    link, airtime_s, offered_s = sent["link"], sent["airtime_s"], sent["offered_s"]
    has_frames = figures(links, "frame_bytes")[link] > 0
    is_queue = figures(links, "is_queue")[link] > 0
    taken_s, waited_s = sent["air_end_s"] - sent["start_s"], sent["start_s"] - sent["ready_s"]
    missing = 1 - np.divide(airtime_s, offered_s, out=np.ones_like(airtime_s), where=offered_s > airtime_s)
    in_queue_s, in_frames_s = taken_s - airtime_s, taken_s - airtime_s / figures(links, "least_share")[link]
    within_s = np.where(has_frames, in_frames_s, np.where(is_queue, in_queue_s, taken_s * missing))
    explained_s = figures(links, "longest_setup_s")[link] + figures(links, "longest_silence_s")[link]
    before_s = waited_s - explained_s - np.where(is_queue, sent["contended_s"], 0.0)
    is_foreseeable = figures(links, "is_foreseeable")[link] > 0
    return OffAir(_certain(before_s, waited_s), np.where(is_foreseeable, _certain(within_s, taken_s), 0.0))


def _certain(seconds: Floats, of_s: Floats) -> Floats:
    """Return the seconds that are more than a rounding."""
    certain: Floats = np.where(seconds > _ROUNDING * of_s, seconds, 0.0)
    return certain
