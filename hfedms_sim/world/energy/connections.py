"""Connections of a cell's sensors: set up before use, kept for a while after it, then released.

A sensor that was inactive for longer than the timer sets up its connection first; one that was in PSM takes longer. A
downlink to a released sensor waits for its page before that (paging.py), one to several sensors for the last of them.
With release assistance a connection ends with the uplink that has been delivered, unless the sensor has more under way.
Radios that sleep while their transfer waits (frames) are connected from the beginning of its airtime, which counts as
one piece.

Seconds connected are the ends of all connections less their beginnings, so a transfer only has to note until when it
keeps a connection, however long it waited. Left out: a second transfer of a sensor whose connection is just being set
up does not wait for it; a sensor whose timer ends while a broadcast waits for other listeners is not paged again.
"""

from collections import Counter
from collections.abc import Iterable, Sequence
from math import inf, nextafter
from typing import NamedTuple, Protocol

import numpy as np
from simpy import Environment, Timeout

from hfedms_sim.world.energy.ledger import Ledger
from hfedms_sim.world.energy.paging import Paging

_LONG_AGO_S = -inf  # the end of the last connection of a sensor that had none, or whose end was forgotten


class Held(NamedTuple):
    """Seconds of all sensors of a cell, summed up."""

    connected_s: float
    active_s: float = 0.0
    """Released, and still to be paged before PSM."""


class SetUpMeter(Protocol):
    """The meter of a cell, as far as set-ups go."""

    def set_up(self, sensor: int, takes_s: float, is_asleep: bool, share: float = 1.0) -> None: ...


class _SetUp(NamedTuple):
    begun_s: float
    takes_s: float
    is_asleep: bool


class Connections:
    """The connections of one cell's sensors: `Cell` owns one, and tells it of each transfer and each round's end."""

    def __init__(
        self,
        env: Environment,
        setup_s: float,
        inactivity_s: float,
        *,
        sleeps_while_waiting: bool = False,
        release_assistance: bool = False,
        paging: Paging | None = None,
        meter: SetUpMeter | None = None,
        ledger: Ledger | None = None,
    ) -> None:
        self.env = env
        self._setup_s = setup_s
        self._inactivity_s = inactivity_s
        self._sleeps_while_waiting = sleeps_while_waiting
        self._paging = paging
        self._active_timer_s = 0.0 if paging is None else paging.active_s
        self._meter = meter
        self._ledger = ledger
        self._setups_begun_s = _LONG_AGO_S
        self._setups: dict[float, Timeout] = {}  # those begun then, by how long they take
        self._kept_until_s: dict[int, float] = {}  # by sensor; forgotten when nothing depends on it any more
        self._new_connections: dict[int, _SetUp] = {}  # whose first transfer has not ended yet
        self._kept_in_use: set[int] = set()  # kept connections that a transfer under way uses
        self._transfers_under_way: Counter[int] | None = Counter() if release_assistance else None  # by sensor
        self._collected_s = 0.0  # when connected seconds were last collected
        self._connected_s = self._active_s = 0.0  # since then, but for the last ends

    def page_wait_s(self, sensors: Iterable[int], now_s: float) -> float:
        """Return how long a downlink to these sensors waits until the last of the released ones has been paged."""
        if self._paging is None:
            return 0.0
        released = self._released(sensors, now_s)
        waits_s = (self._paging.wait_s(each, self._kept_until_s.get(each, _LONG_AGO_S), now_s) for each in released)
        return max(waits_s, default=0.0)

    def set_up(self, sensors: Iterable[int], now_s: float) -> Timeout | None:
        """Return what a transfer of these sensors waits for first, if anything. Set-ups begun together are one."""
        if self._transfers_under_way is not None:
            self._transfers_under_way.update(sensors)
        released = self._released(sensors, now_s)
        if not released:
            if not self._sleeps_while_waiting:
                self._kept_in_use.update(sensors)
            return None
        takes_s = max([self._begin_set_up(sensor, now_s) for sensor in released])
        if not takes_s:
            return None
        if self._setups_begun_s != now_s:
            self._setups_begun_s, self._setups = now_s, {}
        if takes_s not in self._setups:
            self._setups[takes_s] = Timeout(self.env, takes_s)
        return self._setups[takes_s]

    def _begin_set_up(self, sensor: int, now_s: float) -> float:
        """Begin the connection of a released sensor, and return how long its set-up takes."""
        takes_s, is_asleep = self._setup_s, False
        if self._paging is not None:
            is_asleep = self._paging.is_asleep(self._kept_until_s.get(sensor, _LONG_AGO_S), now_s)
            takes_s += self._paging.wake_s if is_asleep else 0.0
        if not self._sleeps_while_waiting:
            self._begin_connection(sensor, now_s, _SetUp(now_s, takes_s, is_asleep))
        if self._meter is not None:
            self._meter.set_up(sensor, takes_s, is_asleep)
        return takes_s

    def abandon_set_up(self, sensors: Sequence[int], now_s: float) -> None:
        """End the connections of these sensors that a set-up has begun: it was interrupted."""
        if self._transfers_under_way is not None:
            self._transfers_under_way.subtract(sensors)
        for sensor in sensors:
            self._kept_in_use.discard(sensor)
            begun = self._new_connections.pop(sensor, None)
            if begun is None:
                continue
            self._kept_until_s[sensor] = nextafter(now_s, _LONG_AGO_S)  # released now
            left_s = begun.begun_s + begun.takes_s - now_s
            if self._meter is not None and left_s > 0:
                self._meter.set_up(sensor, begun.takes_s, begun.is_asleep, -left_s / begun.takes_s)

    def count_set_ups_under_way(self, now_s: float, *, as_done: bool) -> None:
        """Bill what is left of the set-ups under way, or with `as_done=False` take it back.

        A set-up is billed in full when it begins. At a round's end the rest of it is taken back, so that the round pays
        for what was done in it; when the next round begins, the rest is billed there.
        """
        for sensor, begun in self._new_connections.items():
            left_s = begun.begun_s + begun.takes_s - now_s
            if self._meter is not None and left_s > 0:
                share = left_s / begun.takes_s
                self._meter.set_up(sensor, begun.takes_s, begun.is_asleep, share if as_done else -share)

    def drop(self, sensors: Iterable[int], now_s: float) -> None:
        """End the connections of these sensors: they, or their base station, know nothing of them any more."""
        for sensor in sensors:
            if self._kept_until_s.get(sensor, _LONG_AGO_S) > now_s:
                self._kept_until_s[sensor] = nextafter(now_s, _LONG_AGO_S)

    def use(self, sensors: Sequence[int], now_s: float, airtime_s: float, *, is_last: bool = False) -> None:
        """Start the timers of these sensors anew: their transfer has just ended after `airtime_s`.

        `is_last`: nothing more is to come, as far as the sensors know.
        """
        if self._sleeps_while_waiting:
            begun_s = now_s - airtime_s
            for sensor in self._released(sensors, begun_s):
                self._begin_connection(sensor, begun_s, _SetUp(begun_s, 0.0, False))
        for sensor in sensors:
            self._new_connections.pop(sensor, None)
            self._kept_in_use.discard(sensor)
            self._kept_until_s[sensor] = now_s + self._inactivity_s
        if self._transfers_under_way is not None:
            self._transfers_under_way.subtract(sensors)
            for sensor in sensors:
                if not self._transfers_under_way[sensor]:
                    del self._transfers_under_way[sensor]
                    if is_last:
                        self._kept_until_s[sensor] = nextafter(now_s, _LONG_AGO_S)  # what comes now finds it released

    def collect(self, now_s: float) -> Held:
        """Return what has been held since the last call, and forget what nothing depends on any more."""
        self._count_last_ends(now_s)
        held = Held(self._connected_s, self._active_s)
        self._connected_s, self._active_s, self._collected_s = 0.0, 0.0, now_s
        return held

    def _released(self, sensors: Iterable[int], now_s: float) -> list[int]:
        kept_until_s, new = self._kept_until_s, self._new_connections
        return [each for each in sensors if kept_until_s.get(each, _LONG_AGO_S) < now_s and each not in new]

    def _begin_connection(self, sensor: int, now_s: float, set_up: _SetUp) -> None:
        """Begin a connection: count the end of the sensor's last one, unless collected, less the beginning of this."""
        collected_s = self._collected_s
        until_s = self._kept_until_s.get(sensor, _LONG_AGO_S)
        ended_s = max(until_s, collected_s)
        self._count_connected(sensor, ended_s - now_s)
        if self._active_timer_s:
            self._count_active(sensor, min(until_s + self._active_timer_s, now_s) - ended_s)
        self._new_connections[sensor] = set_up

    def _count_connected(self, sensor: int, seconds: float) -> None:
        self._connected_s += seconds
        if self._ledger is not None:
            self._ledger.connected_s.add(sensor, seconds)

    def _count_active(self, sensor: int, seconds: float) -> None:
        if seconds > 0:
            self._active_s += seconds
            if self._ledger is not None:
                self._ledger.active_s.add(sensor, seconds)

    def _count_last_ends(self, now_s: float) -> None:
        """Count when the last connection of each sensor ended, or now where it goes on; forget those long gone.

        Times count from the last collection.
        """
        collected_s = self._collected_s
        for sensor in self._new_connections:
            self._kept_until_s.pop(sensor, None)  # the end of an earlier connection, counted when this one began
            self._count_connected(sensor, now_s - collected_s)
        for sensor in self._kept_in_use:
            self._kept_until_s[sensor] = max(now_s, self._kept_until_s.get(sensor, now_s))
        if not self._kept_until_s:
            return
        who = np.fromiter(self._kept_until_s, np.int64)
        until_s = np.fromiter(self._kept_until_s.values(), np.float64)
        connected_s = np.clip(until_s, collected_s, now_s) - collected_s
        active_s = np.clip(until_s + self._active_timer_s, collected_s, now_s) - np.clip(until_s, collected_s, now_s)
        self._connected_s += float(connected_s.sum())
        self._active_s += float(active_s.sum())
        if self._ledger is not None:
            self._ledger.connected_s.add_arrays(who, connected_s)
            if self._active_timer_s:
                self._ledger.active_s.add_arrays(who, active_s)
        kept = until_s + self._active_timer_s >= now_s
        self._kept_until_s = dict(zip(who[kept].tolist(), until_s[kept].tolist(), strict=True))
