"""A base station: what a transfer over it takes, when its sensors have to connect first, and what they spend.

A sensor that was inactive for longer than the timer sets up its connection first. The transfer itself is the air's
business: shared (shared_air.py) or single frames (frames.py).
"""

from collections.abc import Iterable, Sequence
from math import inf

from simpy import Environment

from hfedms_sim.rounds import Direction, Payload, PayloadKind
from hfedms_sim.scenario import Cell as CellSettings
from hfedms_sim.scenario import NetworkProfile
from hfedms_sim.seeds import Draws
from hfedms_sim.world.air import Air, Need
from hfedms_sim.world.airtime import Delivery
from hfedms_sim.world.attachment import Attachment
from hfedms_sim.world.energy import RadioMeter, RoundEnergy
from hfedms_sim.world.frames import FrameAir
from hfedms_sim.world.shared_air import SharedAir

_DRAWS_PER_ROUND: dict[PayloadKind, int] = {"model": 0, "classifier": 0, "report": 1, "scatter": 2}
"""In a round a sensor sends, or receives, at most one payload of each number: so its errors have their own key."""


class Cell:
    def __init__(
        self, env: Environment, settings: CellSettings, draws: Draws, attachment: Attachment, sensors: int
    ) -> None:
        profile = settings.profile
        self.env = env
        self.name = settings.name
        self._profile = profile
        self._draws = draws
        self._attachment = attachment
        self._air = _air(env, profile)
        self._meter = None if profile.energy is None else RadioMeter(profile.energy, profile.inactivity_s, sensors)
        self._released_s: dict[int, float] = {}  # when a sensor's inactivity timer ends

    def set_up_s(self, sensor: int) -> float:
        """Before the sensor's next transfer can begin."""
        if self._profile.setup_s == 0 or self.env.now <= self._released_s.get(sensor, -inf):
            return 0.0
        return self._profile.setup_s

    def need(self, direction: Direction, sensors: Sequence[int], payload: Payload, round_number: int) -> Need:
        """Of a transfer to or from a sensor, or to several at the rate of the slowest."""
        factor = min(self._attachment.factor(direction, sensor) for sensor in sensors)
        index = 4 * round_number + _DRAWS_PER_ROUND[payload.kind]
        return self._air.need(
            direction,
            payload.size_bytes,
            factor,
            draw=lambda: self._draws.one_uniform(f"blocks/{direction}", sensors[0], index),
        )

    def send(self, direction: Direction, sensor: int, need: Need) -> Delivery:
        """A transfer to or from `sensor`, ready now."""
        return self._air.send(direction, sensor, need)

    def account(self, direction: Direction, sensors: Iterable[int], ready_s: float, airtime_s: float) -> float | None:
        """A transfer has just ended for these radios: their inactivity timers start anew. Returns its joules."""
        now_s = self.env.now
        if self._profile.setup_s:
            for sensor in sensors:
                self._released_s[sensor] = now_s + self._profile.inactivity_s
        if self._meter is None:
            return None
        connected_s = ready_s if self._air.is_connected else now_s - airtime_s
        return sum(self._meter.use(sensor, direction, connected_s, now_s, airtime_s) for sensor in sensors)

    def end_round(self) -> RoundEnergy | None:
        return None if self._meter is None else self._meter.end_round(self.env.now)


def _air(env: Environment, profile: NetworkProfile) -> Air:
    if profile.frames is not None:
        return FrameAir(env, profile.frames, profile.channel_count, profile.latency_s)
    return SharedAir(env, profile)
