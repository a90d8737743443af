"""Airtime, the resource all transfers of a cell compete for.

A transfer of B bytes at r bit/s needs S = 8 B / r seconds of airtime. A pool has c channels.

`FairPool` is processor sharing. With n transfers active each receives airtime at

    speed(n) = min(1, c / n)                                      ideal sharing
    speed(n) = min(1, c floor(U / n) / U) for n <= U, else c / n   a scheduler that hands out whole units, U in all

All active transfers receive the same airtime per second, so one virtual clock V with dV/dt = speed(n) serves them
all: a transfer that starts at V0 ends when V reaches V0 + S. A heap of these ends and one alarm make an arrival or
a departure O(log n), and the sharing is exact whatever the transfers' rates. Transfers that end together are one
entry and one event.

`FifoPool` has c servers, first come first served.

Both deliver a payload `latency_s` after the last of its airtime. Left out: packets. A flow is served in
infinitesimal portions, which is what a scheduler with 1 ms subframes looks like to a transfer of minutes.
"""

from collections import deque
from heapq import heappop, heappush
from math import inf
from typing import Protocol

from simpy import Environment, Event, Timeout


class Delivery(Event):
    """Happens when the receiver has the payload. Its value is when service began; None: at once (fair sharing)."""

    def after(self, delay_s: float, service_start_s: float | None = None) -> None:
        self._ok = True
        self._value = service_start_s
        self.env.schedule(self, delay=delay_s)


class Pool(Protocol):
    def send(self, airtime_s: float) -> Delivery:
        """A transfer that is ready now and needs this much airtime."""


class FairPool:
    def __init__(
        self, env: Environment, channels: float, resource_units: int | None = None, latency_s: float = 0.0
    ) -> None:
        self.env = env
        self.channels = channels
        self.resource_units = resource_units
        self.latency_s = latency_s
        self._virtual_s = 0.0
        self._updated_s = env.now
        self._active = 0
        self._ends: list[float] = []  # heap, in virtual seconds
        self._deliveries: dict[float, Delivery] = {}  # by end
        self._sharing_end: dict[float, int] = {}  # how many transfers have it
        self._alarm: Timeout | None = None
        self._alarm_s = inf
        self._alarm_active = 0

    def send(self, airtime_s: float) -> Delivery:
        self._advance()
        self._active += 1
        end_s = self._virtual_s + airtime_s
        delivery = self._deliveries.get(end_s)
        if delivery is None:
            delivery = self._deliveries[end_s] = Delivery(self.env)
            self._sharing_end[end_s] = 1
            heappush(self._ends, end_s)
            self._set_alarm()
        else:
            self._sharing_end[end_s] += 1
        return delivery

    def speed(self, active: int) -> float:
        units = self.resource_units
        if units is not None and active <= units:
            return min(1.0, self.channels * (units // active) / units)
        return min(1.0, self.channels / active)

    def _advance(self) -> None:
        now_s = self.env.now
        if now_s > self._updated_s:
            if self._active:
                self._virtual_s += (now_s - self._updated_s) * self.speed(self._active)
            self._updated_s = now_s

    def _set_alarm(self) -> None:
        """For the next end, unless an earlier alarm is set: that one will look again.

        Only a departure or a shorter newcomer brings the next end forward; both get here.
        """
        delay_s = max(0.0, self._ends[0] - self._virtual_s) / self.speed(self._active)
        if self._updated_s + delay_s < self._alarm_s:
            self._alarm_s = self._updated_s + delay_s
            self._alarm_active = self._active
            self._alarm = Timeout(self.env, delay_s)
            self._alarm.callbacks.append(self._ring)

    def _ring(self, alarm: Event) -> None:
        if alarm is not self._alarm:
            return  # replaced by an earlier one
        self._advance()
        if self._alarm_active == self._active:  # nothing changed since it was set: exactly there, not a rounding short
            self._virtual_s = max(self._virtual_s, self._ends[0])
        self._alarm, self._alarm_s = None, inf
        while self._ends and self._ends[0] <= self._virtual_s:
            end_s = heappop(self._ends)
            self._active -= self._sharing_end.pop(end_s)
            self._deliveries.pop(end_s).after(self.latency_s)
        if self._ends:
            self._set_alarm()
        else:
            self._virtual_s = 0.0  # a fresh start loses no precision however long the run


class FifoPool:
    def __init__(self, env: Environment, channels: float, latency_s: float = 0.0) -> None:
        self.env = env
        self.channels = channels
        self.latency_s = latency_s
        self._busy = 0
        self._waiting: deque[tuple[float, Delivery]] = deque()

    def send(self, airtime_s: float) -> Delivery:
        delivery = Delivery(self.env)
        if self._busy < self.channels:
            self._serve(airtime_s, delivery)
        else:
            self._waiting.append((airtime_s, delivery))
        return delivery

    def _serve(self, airtime_s: float, delivery: Delivery) -> None:
        self._busy += 1
        delivery.after(airtime_s + self.latency_s, service_start_s=self.env.now)
        Timeout(self.env, airtime_s).callbacks.append(self._release)

    def _release(self, service: Event) -> None:
        self._busy -= 1
        if self._waiting:
            self._serve(*self._waiting.popleft())
