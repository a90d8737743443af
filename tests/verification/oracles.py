"""The pools again, slow and obvious: what the fast ones are compared with.

Fair sharing is done in exact fractions, so that an oracle's own rounding never decides who ends first.
"""

from collections.abc import Callable, Sequence
from fractions import Fraction
from math import inf
from typing import TypeAlias

Speed: TypeAlias = Callable[[int], Fraction]


def fair_speed(channels: float, resource_units: int | None) -> Speed:
    """Airtime per second that each of n active transfers receives."""

    def speed(active: int) -> Fraction:
        if resource_units is None or active > resource_units:
            return _at_most_one(channels, active)
        return _at_most_one(channels * (resource_units // active), resource_units)

    return speed


def _at_most_one(part: float, whole: int) -> Fraction:
    """Compared before it is divided: channels may be infinite."""
    return Fraction(1) if part >= whole else Fraction(part) / whole


def share_step_by_step(sent_s: Sequence[float], airtime_s: Sequence[float], speed: Speed) -> list[float]:
    """When each transfer has had its airtime: go from event to event, serve every active transfer in between."""
    ended_s = [inf] * len(sent_s)
    left_s: dict[int, Fraction] = {}
    now_s = Fraction(0)
    upcoming = list(range(len(sent_s)))
    while upcoming or left_s:
        next_sent_s = Fraction(sent_s[upcoming[0]]) if upcoming else inf
        next_end_s = now_s + min(left_s.values()) / speed(len(left_s)) if left_s else inf
        then_s = Fraction(min(next_sent_s, next_end_s))
        if left_s:
            received_s = speed(len(left_s)) * (then_s - now_s)
            left_s = {transfer: airtime - received_s for transfer, airtime in left_s.items()}
        now_s = then_s
        for transfer in [transfer for transfer, airtime in left_s.items() if airtime == 0]:
            ended_s[transfer] = float(now_s)
            del left_s[transfer]
        while upcoming and sent_s[upcoming[0]] == now_s:
            transfer = upcoming.pop(0)
            left_s[transfer] = Fraction(airtime_s[transfer])
    return ended_s


def serve_in_order(
    sent_s: Sequence[float], airtime_s: Sequence[float], channels: float
) -> tuple[list[float], list[float]]:
    """When each transfer starts and ends: it takes the server that is free first."""
    free_s = [0.0] * int(min(channels, len(sent_s)))
    started_s, ended_s = [], []
    for sent, airtime in zip(sent_s, airtime_s, strict=True):
        server = free_s.index(min(free_s))
        start_s = max(sent, free_s[server])
        free_s[server] = start_s + airtime
        started_s.append(start_s)
        ended_s.append(free_s[server])
    return started_s, ended_s
