"""How busy each direction of each cell was, from the transfers alone.

A transfer is on its link from the beginning of its airtime to its end, which is `end_s` less the radio's latency; where
transfers wait for each other before their airtime (first come first served, a gateway), from when it was ready and
set up. With n(t) such transfers, and n* of them from which on the link is saturated (links.py),

    active: n >= 1        saturated: n >= n*        contended: n > n*, so that they hold each other up

A transfer that was lost or aborted counts like any other while it was there.

The steps of n(t) are the sorted beginnings and ends of all transfers: one sort, no loop over transfers. Left out: one
that paused in an outage counts as if it had been on its link all the while.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from hfedms_sim.limits.columns import Columns, TraceColumns
from hfedms_sim.limits.links import Link, figures

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]


class LinkUse(NamedTuple):
    """What one direction of one cell was used for. Shares are of the time that was looked at."""

    airtime_s: float
    """The sum over all its transfers, each as if it were alone."""
    active_share: float
    """The share with at least one transfer."""
    saturated_share: float
    """The share with at least as many transfers as it serves at full rate; of the common airtime where directions
    share one."""
    allowed_airtime_share: float | None
    """How much of the airtime that its duty cycle or silences allow was used, by the busiest sender; None: no limit."""


@dataclass(frozen=True)
class Occupation:
    uses: tuple[LinkUse, ...]
    """The use of each link, in their order."""
    contended_s: Floats
    """How long the link of each transfer had more transfers than it serves at full rate, while it was there."""


class Times(NamedTuple):
    """When each transfer was on its link."""

    begin_s: Floats
    """When it was in the queue, or on the air."""
    air_end_s: Floats


def times_of(transfers: Columns, links: Sequence[Link]) -> Times:
    link, start_s = transfers["link"], transfers["start_s"]
    setup_s = figures(links, "setup_s")[link]
    queued_s = np.minimum(transfers["ready_s"] + setup_s, start_s)
    begin_s = np.where(figures(links, "is_queue")[link] > 0, queued_s, start_s)
    return Times(begin_s, np.maximum(transfers["end_s"] - transfers["latency_s"], start_s))


def occupation(columns: TraceColumns, links: Sequence[Link]) -> Occupation:
    """Return the use of every link, and how long each transfer was held up by others."""
    transfers, elapsed_s = columns.transfers, columns.elapsed_s
    times, link = times_of(transfers, links), transfers["link"]
    pool_of = np.array([each.pool for each in links])
    steps = _steps(pool_of[link], times)
    own_steps = steps if (pool_of == np.arange(len(links))).all() else _steps(link, times)
    full_at = figures(links, "full_at")[steps.key]
    saturated_s = _sums(steps.key, steps.length_s * ((steps.level >= full_at) & (steps.level > 0)), len(links))
    active_s = _sums(own_steps.key, own_steps.length_s * (own_steps.level > 0), len(links))
    contended_s = np.concatenate([[0.0], np.cumsum(steps.length_s * (steps.level > full_at))])
    airtime_s = _sums(link, transfers["airtime_s"], len(links))
    busiest_s = _busiest_s(transfers, links, airtime_s)
    time_s = elapsed_s or 1.0
    uses = tuple(
        LinkUse(
            float(airtime_s[number]),
            min(1.0, float(active_s[number]) / time_s),
            min(1.0, float(saturated_s[each.pool]) / time_s),
            min(1.0, float(busiest_s[number]) / (time_s * each.allowed_share)) if each.is_limited else None,
        )
        for number, each in enumerate(links)
    )
    return Occupation(uses, contended_s[steps.end] - contended_s[steps.begin])


class _Steps(NamedTuple):
    """The level n(t) of every key, step by step; and at which step each transfer began and ended."""

    key: Ints
    length_s: Floats
    level: Ints
    begin: Ints
    end: Ints


def _steps(key: Ints, times: Times) -> _Steps:
    count = len(key)
    keys, moments_s = np.concatenate([key, key]), np.concatenate(times)
    order = np.lexsort((moments_s, keys))
    keys, moments_s = keys[order], moments_s[order]
    level = np.cumsum(np.where(order < count, 1, -1))
    length_s = np.zeros(2 * count)
    length_s[:-1] = np.where(keys[1:] == keys[:-1], np.diff(moments_s), 0.0)
    place = np.empty(2 * count, dtype=np.int64)
    place[order] = np.arange(2 * count)
    return _Steps(keys, length_s, level, place[:count], place[count:])


def _busiest_s(transfers: Columns, links: Sequence[Link], airtime_s: Floats) -> Floats:
    """Return the airtime of each link's busiest sender: the base station, or the sensor that sent most."""
    busiest_s = np.where([each.is_one_sender for each in links], airtime_s, 0.0)
    if not any(each.is_limited and not each.is_one_sender for each in links):
        return busiest_s
    known = transfers["sensor"] >= 0
    senders, of_sender = np.unique(
        transfers["sensor"][known] * len(links) + transfers["link"][known], return_inverse=True
    )
    np.maximum.at(busiest_s, senders % len(links), np.bincount(of_sender, weights=transfers["airtime_s"][known]))
    return busiest_s


def _sums(key: Ints, seconds: Floats, count: int) -> Floats:
    sums: Floats = np.bincount(key, weights=seconds, minlength=count).astype(float)
    return sums
