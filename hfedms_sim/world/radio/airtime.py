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

Both deliver a payload its own latency after the last of its airtime, and both let go of a transfer that is cancelled:
the others then share what it had, or the next in the queue takes its channel. Left out: packets. A flow is served in
infinitesimal portions, which is what a scheduler with 1 ms subframes looks like to a transfer of minutes.
"""

from collections import deque
from functools import partial
from heapq import heappop, heappush
from math import inf
from typing import Protocol

from simpy import Environment, Event, Timeout

from hfedms_sim.world.radio.delivery import Delivery
from hfedms_sim.world.radio.fluctuation import Availability


class Pool(Protocol):
    def send(self, airtime_s: float, latency_s: float = 0.0) -> Delivery:
        """Begin a transfer that is ready now, needs this much airtime, and arrives this long after the last of it."""

    def start(self, delivery: Delivery) -> None:
        """Begin the transfer of a delivery that had to wait elsewhere."""

    @property
    def is_idle(self) -> bool:
        """Whether no transfer waits for airtime or has any."""

    def withdraw(self, delivery: Delivery) -> float:
        """Forget a transfer that has not arrived, and return the airtime it has had."""


class FairPool:
    def __init__(
        self,
        env: Environment,
        channels: float,
        resource_units: int | None = None,
        duty_cycle: float = 1.0,
        availability: Availability | None = None,
    ) -> None:
        self.env = env
        self._availability = availability
        self._speed = _Speeds(channels, resource_units, duty_cycle)
        self._virtual_s = 0.0
        self._updated_s = env.now
        self._active = 0
        self._ends: list[float] = []  # heap, in virtual seconds; the first is an end, others may have been withdrawn
        self._ending: dict[float, dict[Delivery, None]] = {}  # by end, in the order they began
        self._alarm: Timeout | None = None
        self._alarm_s = inf
        self._is_foreseen = False  # whether the alarm rings exactly at the next end
        self._is_telling = False  # whether some are still to be told that they have arrived

    def send(self, airtime_s: float, latency_s: float = 0.0) -> Delivery:
        delivery = Delivery(self.env, airtime_s, self, latency_s)
        self.start(delivery)
        return delivery

    def start(self, delivery: Delivery) -> None:
        now_s = self.env.now
        time_has_passed = now_s > self._updated_s
        if time_has_passed:
            self._advance()
        self._active += 1
        self._is_foreseen = False
        delivery.began_s = now_s
        delivery.end_s = end_s = self._virtual_s + delivery.airtime_s
        together = self._ending.get(end_s)
        if together is not None:
            together[delivery] = None
            return
        self._ending[end_s] = {delivery: None}
        heappush(self._ends, end_s)
        # In a burst only a newcomer that ends first can bring the next end forward.
        if self._alarm_s > self._updated_s and (time_has_passed or end_s == self._ends[0]):
            self._set_alarm()

    @property
    def is_idle(self) -> bool:
        return not self._active

    def withdraw(self, delivery: Delivery) -> float:
        together = self._ending.get(delivery.end_s, {})
        if delivery not in together:
            return delivery.airtime_s  # it is on its way
        self._advance()
        del together[delivery]
        self._active -= 1
        self._is_foreseen = False
        if not together:
            del self._ending[delivery.end_s]
            self._pass_over_withdrawn()
        left_s = delivery.end_s - self._virtual_s
        self._look_ahead()
        return min(delivery.airtime_s, max(0.0, delivery.airtime_s - left_s))

    def _advance(self) -> None:
        now_s = self.env.now
        if self._active:
            available_s = now_s - self._updated_s
            if self._availability is not None:
                available_s = self._availability.airtime_s(self._updated_s, now_s)
            self._virtual_s += available_s * self._speed[self._active]
        self._updated_s = now_s

    def _look_ahead(self) -> None:
        """Set the alarm after some have left; an empty pool starts afresh and loses no precision in a long run."""
        if not self._ends:
            self._virtual_s = 0.0
            self._alarm, self._alarm_s = None, inf
        elif self._alarm_s > self._updated_s:
            self._set_alarm()

    def _set_alarm(self) -> None:
        """Set the alarm for the next end, unless an earlier one is set: that one will look again.

        Only a departure or a shorter newcomer brings the next end forward; both get here.
        """
        if self._is_telling:
            return
        end_s = self._next_end_s()
        if end_s < self._alarm_s:
            self._alarm_s, self._is_foreseen = end_s, True
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
        if self._is_foreseen:
            # Nothing has changed since it was foreseen: the virtual clock is exactly there, not a rounding short.
            self._virtual_s, self._updated_s = self._ends[0], self.env.now
        else:
            self._advance()
        self._alarm, self._alarm_s = None, inf
        self._deliver(self._take_ended())

    def _take_ended(self) -> list[Delivery]:
        """Take out the transfers that have had their airtime."""
        ended: list[Delivery] = []
        while self._ends and self._ends[0] <= self._virtual_s:
            ended += self._ending.pop(heappop(self._ends))
            self._pass_over_withdrawn()
        self._active -= len(ended)
        for delivery in ended:
            delivery.is_on_its_way = True
        return ended

    def _pass_over_withdrawn(self) -> None:
        """See to it that the first end is one that somebody has."""
        while self._ends and self._ends[0] not in self._ending:
            heappop(self._ends)

    def _deliver(self, ended: list[Delivery]) -> None:
        """Deliver them after their latencies, and set the next alarm.

        Without latency it is set when all have been told, because many of them send again at once.
        """
        by_latency_s: dict[float, list[Delivery]] = {}
        for delivery in ended:
            by_latency_s.setdefault(delivery.latency_s, []).append(delivery)
        at_once = by_latency_s.pop(0.0, [])
        for delivery in at_once:
            delivery.succeed(delivery.began_s)
        if at_once:
            self._is_telling = True
            at_once[-1].callbacks.append(self._all_told)
        for latency_s, together in by_latency_s.items():
            Timeout(self.env, latency_s).callbacks.append(partial(_arrive, together))
        self._look_ahead()

    def _all_told(self, last: Event) -> None:
        self._is_telling = False
        self._look_ahead()


def _arrive(deliveries: list[Delivery], latency: Event) -> None:
    for delivery in deliveries:
        delivery.arrive()


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
    def __init__(self, env: Environment, channels: float, availability: Availability | None = None) -> None:
        self.env = env
        self._availability = availability
        self.channels = channels
        self._served: set[Delivery] = set()
        self._waiting: deque[Delivery] = deque()

    def send(self, airtime_s: float, latency_s: float = 0.0) -> Delivery:
        delivery = Delivery(self.env, airtime_s, self, latency_s)
        self.start(delivery)
        return delivery

    def start(self, delivery: Delivery) -> None:
        if len(self._served) < self.channels:
            self._serve(delivery)
        else:
            self._waiting.append(delivery)

    @property
    def is_idle(self) -> bool:
        return not (self._served or self._waiting)

    def withdraw(self, delivery: Delivery) -> float:
        if delivery.began_s is None:
            self._waiting.remove(delivery)
            return 0.0
        if delivery not in self._served:
            return delivery.airtime_s  # it is on its way
        received_s = delivery.airtime_s - self._available_s(self.env.now, delivery.end_s)
        self._release(delivery)
        return min(delivery.airtime_s, max(0.0, received_s))

    def _available_s(self, from_s: float, to_s: float) -> float:
        return to_s - from_s if self._availability is None else self._availability.airtime_s(from_s, to_s)

    def _serve(self, delivery: Delivery) -> None:
        self._served.add(delivery)
        now_s, airtime_s = self.env.now, delivery.airtime_s
        service_s = airtime_s if self._availability is None else self._availability.when_s(now_s, airtime_s) - now_s
        delivery.began_s, delivery.end_s = now_s, now_s + service_s
        Timeout(self.env, service_s + delivery.latency_s).callbacks.append(lambda _: delivery.arrive())
        Timeout(self.env, service_s).callbacks.append(lambda _: self._release(delivery))

    def _release(self, delivery: Delivery) -> None:
        """Let the next one have the channel, unless the delivery was cancelled and has left it before."""
        if delivery in self._served:
            delivery.is_on_its_way = self.env.now >= delivery.end_s
            self._served.remove(delivery)
            if self._waiting:
                self._serve(self._waiting.popleft())
