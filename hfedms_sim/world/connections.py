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

_NEVER_S = -inf


class Connections:
    """Always there: nothing to set up, and nothing known about power.

    `now_s` is the clock's, handed over because asking it twice for every transfer would cost as much as the answer.
    """

    def set_up(self, sensors: Iterable[int], now_s: float) -> Timeout | None:
        """What a transfer to or from these sensors waits for first, if anything. Set-ups begun together are one."""
        return None

    def use(self, direction: Direction, sensors: Sequence[int], now_s: float, airtime_s: float) -> float | None:
        """A transfer of these sensors, set up before, has just ended. Its joules, if they are modelled."""
        return None

    def end_round(self, now_s: float) -> RoundEnergy | None:
        """Joules since the last call, if they are modelled."""
        return None


class TimedConnections(Connections):
    """Set up in `setup_s`, released `inactivity_s` after the last use."""

    def __init__(self, env: Clock, setup_s: float, inactivity_s: float) -> None:
        self.env = env
        self._setup_s = setup_s
        self._setup_begun_s = _NEVER_S
        self._setup: Timeout | None = None  # the one begun then
        self._inactivity_s = inactivity_s
        self._kept_until_s: dict[int, float] = {}  # by sensor

    def set_up(self, sensors: Iterable[int], now_s: float) -> Timeout | None:
        kept_until_s, is_released = self._kept_until_s, False
        for sensor in sensors:
            if kept_until_s.get(sensor, _NEVER_S) < now_s:
                self._connect(sensor, now_s)
                is_released = True
        if not is_released:
            return None
        if self._setup_begun_s != now_s:
            self._setup_begun_s = now_s
            self._setup = Timeout(self.env, self._setup_s) if self._setup_s else None
        return self._setup

    def _connect(self, sensor: int, now_s: float) -> None:
        """A connection begins; the one before it, if any, has been released."""

    def use(self, direction: Direction, sensors: Sequence[int], now_s: float, airtime_s: float) -> float | None:
        """Their timers start anew."""
        for sensor in sensors:
            self._kept_until_s[sensor] = now_s + self._inactivity_s
        return None


class MeteredConnections(TimedConnections):
    """Of `sensors` radios with these currents, idle while a transfer of theirs waits for airtime.

    Seconds connected are the ends of all connections less their beginnings; those without airtime are idle. So a
    transfer only has to note until when it keeps a connection, however long it waited.
    """

    def __init__(self, env: Clock, setup_s: float, inactivity_s: float, currents: Currents, sensors: int) -> None:
        super().__init__(env, setup_s, inactivity_s)
        self._power = RadioPower.of(currents)
        self._active_w = self._power.active_w
        self._sensors = sensors
        self._round_start_s = 0.0
        self._ends_less_beginnings_s = 0.0  # of this round, counted from its start, but for the last ends
        self._airtime_s = self._transfers_j = 0.0  # of this round

    def _connect(self, sensor: int, now_s: float) -> None:
        self._ends_less_beginnings_s += self._kept_until_s.get(sensor, self._round_start_s) - now_s

    def use(self, direction: Direction, sensors: Sequence[int], now_s: float, airtime_s: float) -> float | None:
        """Their timers start anew. In one piece: every call in here would be one for every transfer."""
        for sensor in sensors:
            self._kept_until_s[sensor] = now_s + self._inactivity_s
        if len(sensors) > 1:
            airtime_s *= len(sensors)
        energy_j = self._active_w[direction] * airtime_s
        self._airtime_s += airtime_s
        self._transfers_j += energy_j
        return energy_j

    def end_round(self, now_s: float) -> RoundEnergy | None:
        connected_s = self._ends_less_beginnings_s + self._last_ends_s(now_s)
        idle_s = max(0.0, connected_s - self._airtime_s)
        sleep_s = max(0.0, self._sensors * (now_s - self._round_start_s) - connected_s)
        energy = RoundEnergy(self._transfers_j, self._power.idle_w * idle_s + self._power.sleep_w * sleep_s)
        self._round_start_s = now_s
        self._ends_less_beginnings_s = self._airtime_s = self._transfers_j = 0.0
        return energy

    def _last_ends_s(self, now_s: float) -> float:
        """When the last connection of each sensor ended, or now where it is kept; counted from the round's start.

        Forgets those that have ended.
        """
        ends_s, kept, round_start_s = 0.0, {}, self._round_start_s
        for sensor, until_s in self._kept_until_s.items():
            if until_s < now_s:
                ends_s += until_s - round_start_s
            else:
                kept[sensor] = until_s
        self._kept_until_s = kept
        return ends_s + len(kept) * (now_s - round_start_s)


class SleepyConnections(MeteredConnections):
    """Asleep while a transfer waits for airtime: a connection begins with the airtime, which counts as one piece."""

    def _connect(self, sensor: int, now_s: float) -> None:
        """Not yet."""

    def use(self, direction: Direction, sensors: Sequence[int], now_s: float, airtime_s: float) -> float | None:
        begun_s = now_s - airtime_s
        for sensor in sensors:
            if self._kept_until_s.get(sensor, _NEVER_S) < begun_s:
                super()._connect(sensor, begun_s)
        return super().use(direction, sensors, now_s, airtime_s)
