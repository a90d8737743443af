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


def share_step_by_step(
    sent_s: Sequence[float], airtime_s: Sequence[float], speed: Speed, cancelled_s: Sequence[float] | None = None
) -> tuple[list[float], list[float]]:
    """When each transfer has had its airtime, or was cancelled, and how much it has had by then.

    Goes from event to event and serves every active transfer in between.
    """
    cancelled_s = cancelled_s or [inf] * len(sent_s)
    ended_s, received_s = [inf] * len(sent_s), list(airtime_s)
    left_s: dict[int, Fraction] = {}
    now_s = Fraction(0)
    upcoming = list(range(len(sent_s)))
    while upcoming or left_s:
        next_sent_s = Fraction(sent_s[upcoming[0]]) if upcoming else inf
        next_end_s = now_s + min(left_s.values()) / speed(len(left_s)) if left_s else inf
        then_s = Fraction(min(next_sent_s, next_end_s, *(cancelled_s[transfer] for transfer in left_s)))
        if left_s:
            served_s = speed(len(left_s)) * (then_s - now_s)
            left_s = {transfer: airtime - served_s for transfer, airtime in left_s.items()}
        now_s = then_s
        while upcoming and sent_s[upcoming[0]] == now_s:
            transfer = upcoming.pop(0)
            left_s[transfer] = Fraction(airtime_s[transfer])
        for transfer, airtime in list(left_s.items()):
            if airtime == 0 or cancelled_s[transfer] <= now_s:
                ended_s[transfer] = float(now_s)
                received_s[transfer] = float(Fraction(airtime_s[transfer]) - airtime)
                del left_s[transfer]
    return ended_s, received_s


def queue_step_by_step(
    sent_s: Sequence[float], airtime_s: Sequence[float], channels: float, cancelled_s: Sequence[float]
) -> tuple[list[float], list[float]]:
    """When each transfer has ended or was cancelled, and the airtime it has had: from event to event, in order."""
    ended_s, received_s = [inf] * len(sent_s), [0.0] * len(sent_s)
    upcoming, waiting, started_s = list(range(len(sent_s))), list[int](), dict[int, float]()

    def end_s(transfer: int) -> float:
        return started_s[transfer] + airtime_s[transfer]

    while upcoming or waiting or started_s:
        now_s = min([sent_s[each] for each in upcoming[:1]] + [end_s(each) for each in started_s]
                    + [cancelled_s[each] for each in (*waiting, *started_s)])  # fmt: skip
        while upcoming and sent_s[upcoming[0]] == now_s:
            waiting.append(upcoming.pop(0))
        for transfer in [each for each in started_s if min(end_s(each), cancelled_s[each]) <= now_s]:
            ended_s[transfer] = now_s
            received_s[transfer] = min(airtime_s[transfer], now_s - started_s.pop(transfer))
        for transfer in [each for each in waiting if cancelled_s[each] <= now_s]:
            ended_s[transfer] = now_s
            waiting.remove(transfer)
        while waiting and len(started_s) < channels:
            started_s[waiting.pop(0)] = now_s
    return ended_s, received_s


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
