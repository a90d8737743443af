"""Connections of a cell's sensors: kept for a while after their last use, then released."""

from collections.abc import Iterable
from math import inf


class Connections:
    def __init__(self, inactivity_s: float) -> None:
        self._inactivity_s = inactivity_s
        self._last_use_s: dict[int, float] = {}
        self._idle_s = 0.0
        self._collected_s = 0.0  # when idle time was last collected

    def are_kept(self, sensors: Iterable[int], now_s: float) -> bool:
        used_since_s = now_s - self._inactivity_s
        for sensor in sensors:  # noqa: SIM110  a generator would cost more than the rest of it
            if self._last_use_s.get(sensor, -inf) < used_since_s:
                return False
        return True

    def use(self, sensors: Iterable[int], ready_s: float, end_s: float, airtime_s: float) -> None:
        """The sensors were connected from `ready_s` to `end_s` and had `airtime_s` of it; their timers start anew."""
        last_use_s, waited_s = self._last_use_s, end_s - ready_s - airtime_s
        for sensor in sensors:
            since_s = last_use_s.get(sensor, inf)
            if since_s < ready_s:
                self._idle_s += self._kept_s(since_s, ready_s)
            self._idle_s += waited_s
            last_use_s[sensor] = end_s

    def collect_idle_s(self, now_s: float) -> float:
        """Seconds since the last call that sensors were connected without airtime, summed over the sensors."""
        kept = {}
        for sensor, last_use_s in self._last_use_s.items():
            self._idle_s += self._kept_s(last_use_s, now_s)
            if last_use_s + self._inactivity_s >= now_s:
                kept[sensor] = last_use_s
        self._last_use_s = kept
        idle_s, self._idle_s, self._collected_s = self._idle_s, 0.0, now_s
        return idle_s

    def _kept_s(self, last_use_s: float, until_s: float) -> float:
        """For how long the timer kept a connection after its last use, of the time not collected yet."""
        return max(0.0, min(until_s, last_use_s + self._inactivity_s) - max(last_use_s, self._collected_s))
