"""A base station: what a transfer over it takes, and the transfer itself.

The air is shared (shared_air.py) or carries single frames (frames.py). When sensors have to connect first, and what
they spend, is the business of its connections (connections.py).
"""

from collections.abc import Sequence

from hfedms_sim.rounds import Direction, Payload
from hfedms_sim.scenario import Cell as CellSettings
from hfedms_sim.scenario import NetworkProfile
from hfedms_sim.seeds import Draws
from hfedms_sim.world.air import Air, Need
from hfedms_sim.world.attachment import Attachment
from hfedms_sim.world.clock import Clock
from hfedms_sim.world.connections import Connections, MeteredConnections, SleepyConnections, TimedConnections
from hfedms_sim.world.delivery import Delivery
from hfedms_sim.world.frames import FrameAir
from hfedms_sim.world.shared_air import SharedAir


class Cell:
    def __init__(self, env: Clock, number: int, settings: CellSettings, draws: Draws, attachment: Attachment) -> None:
        self.name = settings.name
        self.air = _air(env, settings.profile, draws, number)
        self.connections = _connections(env, settings.profile, self.air, attachment.attached(number))
        self._attachment = attachment

    def need(self, direction: Direction, sensors: Sequence[int], payload: Payload) -> Need:
        """Of a transfer to or from a sensor, or to several at the rate of the slowest."""
        first = sensors[0]
        factor = self._attachment.factor(direction, first)
        if len(sensors) > 1:
            factor = min(self._attachment.factor(direction, sensor) for sensor in sensors)
        return self.air.need(direction, first, payload.size_bytes, factor)

    def send(self, direction: Direction, sensor: int, need: Need) -> Delivery:
        """A transfer to or from `sensor`, ready now."""
        return self.air.send(direction, sensor, need)


def _air(env: Clock, profile: NetworkProfile, draws: Draws, cell: int) -> Air:
    if profile.frames is not None:
        return FrameAir(env, profile.frames, profile.channel_count, profile.latency_s)
    return SharedAir(env, profile, draws, cell)


def _connections(env: Clock, profile: NetworkProfile, air: Air, sensors: int) -> Connections:
    timers = (env, profile.setup_s, profile.inactivity_s)
    if profile.energy is not None:
        metered = MeteredConnections if air.is_connected else SleepyConnections
        return metered(*timers, profile.energy, sensors)
    return TimedConnections(*timers) if profile.setup_s else Connections()
