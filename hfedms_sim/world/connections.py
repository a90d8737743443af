"""Connections of a cell's sensors: set up before use, kept for a while after it, then released; and what they cost.

A sensor that was inactive for longer than the timer sets up its connection first. Every second of a sensor is
airtime, idle (connected without airtime) or asleep; energy.py has the joules of each.
"""

from collections.abc import Iterable, Sequence
from math import inf

from simpy import Timeout

from hfedms_sim.rounds import Direction
from hfedms_sim.scenario import Currents
from hfedms_sim.world.clock import Clock
from hfedms_sim.world.energy import RadioPower, RoundEnergy


class Connections:
    """Always there: nothing to set up, and nothing known about power.

    `now_s` is the clock's, handed over because asking it twice for every transfer would cost as much as the answer.
    """

    def set_up(self, sensors: Iterable[int], now_s: float) -> Timeout | None:
        """What a transfer to or from these sensors waits for first, if anything. Set-ups begun together are one."""
        return None

    def use(
        self, direction: Direction, sensors: Sequence[int], ready_s: float, now_s: float, airtime_s: float
    ) -> float | None:
        """A transfer that was ready at `ready_s` has just ended for these sensors. Its joules, if they are modelled."""
        return None

    def end_round(self, now_s: float) -> RoundEnergy | None:
        """Joules since the last call, if they are modelled."""
        return None


class TimedConnections(Connections):
    """Set up in `setup_s`, released `inactivity_s` after the last use."""

    def __init__(self, env: Clock, setup_s: float, inactivity_s: float) -> None:
        self.env = env
        self._setup_s = setup_s
        self._setup_begun_s = -inf
        self._setup: Timeout | None = None  # the one begun then
        self._inactivity_s = inactivity_s
        self._last_use_s: dict[int, float] = {}

    def set_up(self, sensors: Iterable[int], now_s: float) -> Timeout | None:
        used_since_s, last_use_s = now_s - self._inactivity_s, self._last_use_s
        for sensor in sensors:
            if last_use_s.get(sensor, -inf) < used_since_s:
                if self._setup_begun_s != now_s:
                    self._setup_begun_s = now_s
                    self._setup = Timeout(self.env, self._setup_s) if self._setup_s else None
                return self._setup
        return None

    def use(
        self, direction: Direction, sensors: Sequence[int], ready_s: float, now_s: float, airtime_s: float
    ) -> float | None:
        """Their timers start anew."""
        for sensor in sensors:
            self._last_use_s[sensor] = now_s
        return None


class MeteredConnections(TimedConnections):
    """Of `sensors` radios with these currents, idle or asleep while a transfer of theirs waits for airtime."""

    def __init__(
        self,
        env: Clock,
        setup_s: float,
        inactivity_s: float,
        currents: Currents,
        sensors: int,
        *,
        sleep_while_waiting: bool = False,
    ) -> None:
        super().__init__(env, setup_s, inactivity_s)
        self._power = RadioPower.of(currents)
        self._active_w = self._power.active_w
        self._sensors = sensors
        self._sleep_while_waiting = sleep_while_waiting
        self._round_start_s = 0.0
        self._idle_s = self._airtime_s = self._transfers_j = 0.0  # of this round

    def use(
        self, direction: Direction, sensors: Sequence[int], ready_s: float, now_s: float, airtime_s: float
    ) -> float | None:
        """Their timers start anew. In one piece: every call in here would be one for every transfer."""
        last_use_s, idle_s, radios = self._last_use_s, self._idle_s, len(sensors)
        if self._sleep_while_waiting:
            ready_s = now_s - airtime_s
        waited_s = now_s - ready_s - airtime_s
        for sensor in sensors:
            since_s = last_use_s.get(sensor, inf)
            if since_s < ready_s:
                idle_s += self._kept_s(since_s, ready_s)
            idle_s += waited_s
            last_use_s[sensor] = now_s
        self._idle_s = idle_s
        energy_j = self._active_w[direction] * airtime_s * radios
        self._airtime_s += airtime_s * radios
        self._transfers_j += energy_j
        return energy_j

    def _kept_s(self, last_use_s: float, until_s: float) -> float:
        """For how long the timer kept a connection after its last use, of this round's time."""
        return max(0.0, min(until_s, last_use_s + self._inactivity_s) - max(last_use_s, self._round_start_s))

    def end_round(self, now_s: float) -> RoundEnergy | None:
        idle_s = self._idle_to_the_end_s(now_s)
        all_s = self._sensors * (now_s - self._round_start_s)
        sleep_s = max(0.0, all_s - idle_s - self._airtime_s)
        energy = RoundEnergy(self._transfers_j, self._power.idle_w * idle_s + self._power.sleep_w * sleep_s)
        self._round_start_s = now_s
        self._idle_s = self._airtime_s = self._transfers_j = 0.0
        return energy

    def _idle_to_the_end_s(self, now_s: float) -> float:
        """Of this round, what the timers have kept after the last uses included. Forgets the timers that have ended."""
        idle_s, running = self._idle_s, {}
        inactivity_s, round_start_s = self._inactivity_s, self._round_start_s
        for sensor, last_use_s in self._last_use_s.items():
            end_s = last_use_s + inactivity_s
            if end_s >= now_s:
                running[sensor], end_s = last_use_s, now_s
            start_s = last_use_s if last_use_s > round_start_s else round_start_s
            if end_s > start_s:
                idle_s += end_s - start_s
        self._last_use_s = running
        return idle_s
