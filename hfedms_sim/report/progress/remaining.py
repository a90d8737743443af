"""How long something will still take, from how long its last rounds took, and in words.

A round takes the mean of the last ones, of which the longest counts as the second longest: one that waited for
something rare (loading PyTorch, a laptop that slept) does not move the estimate, while the longer rounds of a cycle and
those that are tested do, because there are two of them among the last. Rounds whose learning is found in a store take
next to nothing, so that the first one that is trained begins a new count.
"""

from collections import deque
from collections.abc import Callable
from math import ceil
from time import monotonic

_FEWEST_ROUNDS = 2


class RoundPace:
    """Counts the seconds of rounds, of which it keeps the last `kept`."""

    def __init__(self, kept: int, clock: Callable[[], float] = monotonic) -> None:
        self._clock = clock
        self._last_s = clock()
        self._trained = 0
        self._took_s: deque[float] = deque(maxlen=kept)

    def note(self, trained: int) -> None:
        """Note that a round has ended, and how many were trained so far."""
        now_s = self._clock()
        if trained and not self._trained:
            self._took_s.clear()
        self._took_s.append(now_s - self._last_s)
        self._last_s, self._trained = now_s, trained

    def left_s(self, rounds: int) -> float | None:
        """Return the seconds that these rounds will take, the one under way included; None until that can be told."""
        if len(self._took_s) < _FEWEST_ROUNDS or not rounds:
            return None
        ranked_s = sorted(self._took_s)
        a_round_s = (sum(ranked_s[:-1]) + ranked_s[-2]) / len(ranked_s)
        return a_round_s * (rounds - 1) + max(0.0, a_round_s - (self._clock() - self._last_s))


def time_left(seconds: float, *, ends: str = "", is_bound: bool = False) -> str:
    """Return such as `about 3 min left`; where it may end earlier `at most 3 min left (stops at accuracy 0.6)`."""
    word = "at most" if is_bound else "about"
    return f"{word} {rough_seconds(seconds)} left{f' ({ends})' if ends else ''}"


def rough_seconds(seconds: float) -> str:
    """Return as much as an estimate can tell, rounded up: 40 s, 3 min, 2 h 25 min, 3 d 4 h."""
    whole_s = ceil(seconds)
    if whole_s < 60:
        return f"{max(1, whole_s)} s"
    minutes = ceil(seconds / 60)
    if minutes < 60:
        return f"{minutes} min"
    hours, minutes = divmod(ceil(minutes / 5) * 5, 60)
    if hours < 24:
        return f"{hours} h {minutes} min" if minutes else f"{hours} h"
    days, hours = divmod(hours + (minutes > 0), 24)
    return f"{days} d {hours} h" if hours else f"{days} d"
