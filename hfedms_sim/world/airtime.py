"""Airtime, the resource all transfers of a cell compete for.

A transfer of B bytes at r bit/s needs S = 8 B / r seconds of airtime. A pool has c channels.

`FairPool` is processor sharing. With n transfers active each receives airtime at

    speed(n) = min(1, c / n)                                      ideal sharing
    speed(n) = min(1, c floor(U / n) / U) for n <= U, else c / n   a scheduler that hands out whole units, U in all
    speed(n) = min(d, c / n)                                      each sender has a duty cycle d

All active transfers receive the same airtime per second, so one virtual clock V with dV/dt = speed(n) serves them
all: a transfer that starts at V0 ends when V reaches V0 + S. A heap of these ends and one alarm make an arrival or
a departure O(log n), and the sharing is exact whatever the transfers' rates. Transfers that end together are one
entry and one event.

`FifoPool` has c servers, first come first served. Either may be slowed down by a cell that is good or bad by turns
(fluctuation.py): the virtual clock, or the service, then runs on the airtime that is left.

Both deliver a payload `latency_s` after the last of its airtime. Left out: packets. A flow is served in
infinitesimal portions, which is what a scheduler with 1 ms subframes looks like to a transfer of minutes.
"""

from collections import deque
from heapq import heappop, heappush
from math import inf
from typing import Protocol

from simpy import Event, Timeout

from hfedms_sim.world.clock import Clock
from hfedms_sim.world.delivery import Delivery
from hfedms_sim.world.fluctuation import Availability


class Pool(Protocol):
    def send(self, airtime_s: float) -> Delivery:
        """A transfer that is ready now and needs this much airtime."""


class FairPool:
    def __init__(
        self,
        env: Clock,
        channels: float,
        resource_units: int | None = None,
        latency_s: float = 0.0,
        duty_cycle: float = 1.0,
        availability: Availability | None = None,
    ) -> None:
        self.env = env
        self.latency_s = latency_s
        self._availability = availability
        self._speed = _Speeds(channels, resource_units, duty_cycle)
        self._virtual_s = 0.0
        self._updated_s = env.now
        self._active = 0
        self._ends: list[float] = []  # heap, in virtual seconds
        self._deliveries: dict[float, Delivery] = {}  # by end
        self._alarm: Timeout | None = None
        self._alarm_s = inf
        self._alarm_active = 0

    def send(self, airtime_s: float) -> Delivery:
        time_has_passed = self.env.now > self._updated_s
        if time_has_passed:
            self._advance()
        self._active += 1
        end_s = self._virtual_s + airtime_s
        delivery = self._deliveries.get(end_s)
        if delivery is None:
            delivery = self._deliveries[end_s] = Delivery()
            heappush(self._ends, end_s)
            # In a burst only a newcomer that ends first can bring the next end forward.
            if self._alarm_s > self._updated_s and (time_has_passed or end_s == self._ends[0]):
                self._set_alarm()
        else:
            delivery.transfers += 1
        return delivery

    def _advance(self) -> None:
        now_s = self.env.now
        if self._active:
            available_s = now_s - self._updated_s
            if self._availability is not None:
                available_s = self._availability.airtime_s(self._updated_s, now_s)
            self._virtual_s += available_s * self._speed[self._active]
        self._updated_s = now_s

    def _set_alarm(self) -> None:
        """For the next end, unless an earlier alarm is set: that one will look again.

        Only a departure or a shorter newcomer brings the next end forward; both get here.
        """
        end_s = self._next_end_s()
        if end_s < self._alarm_s:
            self._alarm_s, self._alarm_active = end_s, self._active
            self._alarm = Timeout(self.env, end_s - self._updated_s)
            self._alarm.callbacks.append(self._ring)

    def _next_end_s(self) -> float:
        ahead_s = self._ends[0] - self._virtual_s
        if ahead_s <= 0.0:
            return self._updated_s
        ahead_s /= self._speed[self._active]
        if self._availability is not None:
            return self._availability.when_s(self._updated_s, ahead_s)
        return self._updated_s + ahead_s

    def _ring(self, alarm: Event) -> None:
        if alarm is not self._alarm:
            return  # replaced by an earlier one
        self._alarm_s = -inf  # whoever sends again at once need not set it
        try:
            if self._alarm_active == self._active:
                # Nothing has changed since it was foreseen: the virtual clock is exactly there, not a rounding short.
                self._virtual_s, self._updated_s = self._ends[0], self.env.now
            else:
                self._advance()
            self._end_while_alone()
        finally:
            self._alarm, self._alarm_s = None, inf
            if self._ends:
                self._set_alarm()

    def _end_while_alone(self) -> None:
        """Ends what has had its airtime, and then one transfer after the other as long as nothing else comes between.

        This is the loop all transfers of unequal length go through, so it calls little.
        """
        ends, deliveries, latency_s, speed = self._ends, self._deliveries, self.latency_s, self._speed
        clock, agenda, availability = self.env, self.env.agenda, self._availability
        while ends:
            virtual_s = ends[0]
            ahead_s = virtual_s - self._virtual_s
            if ahead_s > 0.0:
                ahead_s /= speed[self._active]
                if availability is None:
                    end_s = self._updated_s + ahead_s
                else:
                    end_s = availability.when_s(self._updated_s, ahead_s)
                if agenda and agenda[0][0] <= end_s:
                    return
                self._virtual_s = virtual_s
                self._updated_s = clock._now = end_s
            heappop(ends)
            delivery = deliveries.pop(virtual_s)
            self._active -= delivery.transfers
            if not ends:
                self._virtual_s = 0.0  # a fresh start loses no precision however long the run
            if latency_s:
                delivery.after(clock, latency_s)
                continue
            for callback in delivery.callbacks:  # now: without a detour through the event queue
                callback(delivery)


class _Speeds(dict[int, float]):
    """speed(n) by n, each worked out once."""

    def __init__(self, channels: float, resource_units: int | None, duty_cycle: float) -> None:
        super().__init__()
        self._channels = channels
        self._units = resource_units
        self._duty_cycle = duty_cycle

    def __missing__(self, active: int) -> float:
        units = self._units
        if units is not None and active <= units:
            speed = min(1.0, self._channels * (units // active) / units)
        else:
            speed = min(self._duty_cycle, self._channels / active)
        self[active] = speed
        return speed


class FifoPool:
    def __init__(
        self, env: Clock, channels: float, latency_s: float = 0.0, availability: Availability | None = None
    ) -> None:
        self.env = env
        self._availability = availability
        self.channels = channels
        self.latency_s = latency_s
        self._busy = 0
        self._waiting: deque[tuple[float, Delivery]] = deque()

    def send(self, airtime_s: float) -> Delivery:
        delivery = Delivery()
        if self._busy < self.channels:
            self._serve(airtime_s, delivery)
        else:
            self._waiting.append((airtime_s, delivery))
        return delivery

    def _serve(self, airtime_s: float, delivery: Delivery) -> None:
        self._busy += 1
        now_s = self.env.now
        service_s = airtime_s if self._availability is None else self._availability.when_s(now_s, airtime_s) - now_s
        delivery.after(self.env, service_s + self.latency_s, service_start_s=now_s)
        Timeout(self.env, service_s).callbacks.append(self._release)

    def _release(self, service: Event) -> None:
        self._busy -= 1
        if self._waiting:
            self._serve(*self._waiting.popleft())
