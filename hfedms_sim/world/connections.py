"""Connections of a cell's sensors: set up before use, kept for a while after it, then released.

A sensor that was inactive for longer than the timer sets up its connection first. Radios that sleep while their
transfer waits (frames) are connected from the beginning of its airtime, which counts as one piece.

Seconds connected are the ends of all connections less their beginnings, so a transfer only has to note until when it
keeps a connection, however long it waited. Left out: a second transfer of a sensor whose connection is just being set
up does not wait for it.
"""

from collections.abc import Iterable
from math import inf

from simpy import Environment, Timeout

_NEVER_S = -inf


class Connections:
    def __init__(
        self, env: Environment, setup_s: float, inactivity_s: float, *, sleeps_while_waiting: bool = False
    ) -> None:
        self.env = env
        self._setup_s = setup_s
        self._setup_begun_s = _NEVER_S
        self._setup: Timeout | None = None  # the one begun then
        self._inactivity_s = inactivity_s
        self._sleeps_while_waiting = sleeps_while_waiting
        self._kept_until_s: dict[int, float] = {}  # by sensor
        self._begun: set[int] = set()  # whose connection has begun, and has not been used yet
        self._collected_s = 0.0  # when connected seconds were last collected
        self._connected_s = 0.0  # since then, but for the last ends

    def set_up(self, sensors: Iterable[int], now_s: float) -> Timeout | None:
        """Return what a transfer of these sensors waits for first, if anything. Set-ups begun together are one."""
        released = self._released(sensors, now_s)
        if not released:
            return None
        if not self._sleeps_while_waiting:
            self._begin(released, now_s)
        if self._setup_begun_s != now_s:
            self._setup_begun_s = now_s
            self._setup = Timeout(self.env, self._setup_s) if self._setup_s else None
        return self._setup

    def abandon_set_up(self, sensors: Iterable[int], now_s: float) -> None:
        """End the connections of these sensors that a set-up has begun: it was interrupted."""
        for sensor in self._begun.intersection(sensors):
            self._begun.remove(sensor)
            self._kept_until_s.pop(sensor, None)
            self._connected_s += now_s - self._collected_s

    def use(self, sensors: Iterable[int], now_s: float, airtime_s: float) -> None:
        """Start the timers of these sensors anew: their transfer has just ended after so much airtime."""
        if self._sleeps_while_waiting:
            self._begin(self._released(sensors, now_s - airtime_s), now_s - airtime_s)
        self._begun.difference_update(sensors)
        for sensor in sensors:
            self._kept_until_s[sensor] = now_s + self._inactivity_s

    def collect_connected_s(self, now_s: float) -> float:
        """Return for how many seconds sensors were connected since the last call, summed over the sensors."""
        connected_s = self._connected_s + self._last_ends_s(now_s)
        self._connected_s, self._collected_s = 0.0, now_s
        return connected_s

    def _released(self, sensors: Iterable[int], now_s: float) -> list[int]:
        kept_until_s, begun = self._kept_until_s, self._begun
        return [each for each in sensors if kept_until_s.get(each, _NEVER_S) < now_s and each not in begun]

    def _begin(self, sensors: Iterable[int], now_s: float) -> None:
        """Count the end of each sensor's last connection, unless collected, less the beginning of the next."""
        for sensor in sensors:
            self._connected_s += self._kept_until_s.get(sensor, self._collected_s) - now_s
            self._begun.add(sensor)

    def _last_ends_s(self, now_s: float) -> float:
        """Add up when the last connection of each sensor ended, or now where it goes on; forget those that ended.

        Times count from the last collection.
        """
        ends_s, kept, collected_s = 0.0, {}, self._collected_s
        for sensor, until_s in self._kept_until_s.items():
            if sensor in self._begun:
                continue  # the end of an earlier connection, counted when this one began
            if until_s < now_s:
                ends_s += until_s - collected_s
            else:
                kept[sensor] = until_s
        self._kept_until_s = kept
        return ends_s + (len(kept) + len(self._begun)) * (now_s - collected_s)
