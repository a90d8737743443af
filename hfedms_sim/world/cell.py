"""A base station: what a transfer over it takes, when its sensors have to connect first, and what they spend.

A sensor that was inactive for longer than the timer sets up its connection first. The transfer itself is the air's
business: shared (shared_air.py) or single frames (frames.py).
"""

from collections.abc import Sequence
from math import inf

from simpy import Timeout

from hfedms_sim.rounds import Direction, Payload
from hfedms_sim.scenario import Cell as CellSettings
from hfedms_sim.scenario import NetworkProfile
from hfedms_sim.seeds import Draws
from hfedms_sim.world.air import Air, Need
from hfedms_sim.world.airtime import Delivery
from hfedms_sim.world.attachment import Attachment
from hfedms_sim.world.clock import Clock
from hfedms_sim.world.connections import Connections
from hfedms_sim.world.energy import RadioMeter, RoundEnergy
from hfedms_sim.world.frames import FrameAir
from hfedms_sim.world.luck import Luck
from hfedms_sim.world.shared_air import SharedAir


class Cell:
    def __init__(
        self, env: Clock, number: int, settings: CellSettings, draws: Draws, luck: Luck, attachment: Attachment
    ) -> None:
        profile = settings.profile
        self.env = env
        self.name = settings.name
        self._luck = luck
        self._attachment = attachment
        self._air = _air(env, profile, draws, number)
        self.needs_luck = self._air.needs_luck
        self._meter = None if profile.energy is None else RadioMeter(profile.energy, attachment.attached(number))
        self._setup_s = profile.setup_s
        self._setup_begun_s = -inf
        self._setup: Timeout | None = None  # the one begun then
        has_timer = profile.setup_s > 0 or profile.energy is not None
        self._connections = Connections(profile.inactivity_s) if has_timer else None

    def set_up(self, sensors: Sequence[int]) -> Timeout | None:
        """What a transfer to or from these sensors waits for first, if anything. Set-ups begun together are one."""
        if not self._setup_s or self._connections is None:
            return None
        now_s = self.env.now
        if self._connections.are_kept(sensors, now_s):
            return None
        if self._setup_begun_s != now_s:
            self._setup_begun_s, self._setup = now_s, Timeout(self.env, self._setup_s)
        return self._setup

    def need(self, direction: Direction, sensors: Sequence[int], payload: Payload) -> Need:
        """Of a transfer to or from a sensor, or to several at the rate of the slowest."""
        first = sensors[0]
        factor = self._attachment.factor(direction, first)
        if len(sensors) > 1:
            factor = min(self._attachment.factor(direction, sensor) for sensor in sensors)
        luck = self._luck.of[direction][first] if self.needs_luck else 0.0
        return self._air.need(direction, payload.size_bytes, factor, luck)

    def send(self, direction: Direction, sensor: int, need: Need) -> Delivery:
        """A transfer to or from `sensor`, ready now."""
        return self._air.send(direction, sensor, need)

    def account(self, direction: Direction, sensors: Sequence[int], ready_s: float, airtime_s: float) -> float | None:
        """A transfer has just ended for these radios: their inactivity timers start anew. Returns its joules."""
        if self._connections is not None:
            now_s = self.env.now
            connected_s = ready_s if self._air.is_connected else now_s - airtime_s
            self._connections.use(sensors, connected_s, now_s, airtime_s)
        if self._meter is None:
            return None
        return self._meter.transfer(direction, airtime_s, len(sensors))

    def end_round(self) -> RoundEnergy | None:
        if self._connections is None:
            return None
        idle_s = self._connections.collect_idle_s(self.env.now)
        return None if self._meter is None else self._meter.end_round(self.env.now, idle_s)


def _air(env: Clock, profile: NetworkProfile, draws: Draws, cell: int) -> Air:
    if profile.frames is not None:
        return FrameAir(env, profile.frames, profile.channel_count, profile.latency_s)
    return SharedAir(env, profile, draws, cell)
