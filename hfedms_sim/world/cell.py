"""A base station: its airtime in both directions, and what a transfer over it takes.

Duplex: `full` has a pool per direction; `device-half` too, but a sensor does one thing at a time; `cell-half` has
one pool for both directions, which is how the HFedMS paper accounts.

A transfer of B bytes at r bit/s has an airtime of 8 (B + R) / r, where R are the bytes of blocks that failed and
are sent again (blocks.py). A sensor that was inactive for longer than the timer sets up its connection first.
"""

from collections import deque
from collections.abc import Iterable, Sequence
from math import ceil, inf
from typing import NamedTuple

from simpy import Environment, Event

from hfedms_sim.rounds import Payload, PayloadKind
from hfedms_sim.scenario import Cell as CellSettings
from hfedms_sim.scenario import NetworkProfile
from hfedms_sim.scenario.profile import Frames
from hfedms_sim.seeds import Draws
from hfedms_sim.units import BITS_PER_BYTE
from hfedms_sim.world.airtime import Delivery, FairPool, FifoPool, Pool
from hfedms_sim.world.attachment import Attachment
from hfedms_sim.world.blocks import failed_blocks
from hfedms_sim.world.energy import Direction, RadioMeter, RoundEnergy
from hfedms_sim.world.frames import FrameAir

_DRAWS_PER_ROUND: dict[PayloadKind, int] = {"model": 0, "classifier": 0, "report": 1, "scatter": 2}
"""In a round a sensor sends, or receives, at most one payload of each number: so its block errors have their key."""


class Need(NamedTuple):
    """What a transfer takes: airtime when alone in the cell, bytes sent again within it, and frames if it has any."""

    airtime_s: float
    retransmitted_bytes: int
    frames: int = 0


class Cell:
    def __init__(
        self, env: Environment, settings: CellSettings, draws: Draws, attachment: Attachment, sensors: int
    ) -> None:
        profile = settings.profile
        self._attachment = attachment
        self.env = env
        self.name = settings.name
        self._meter = None if profile.energy is None else RadioMeter(profile.energy, profile.inactivity_s, sensors)
        self._profile = profile
        self._draws = draws
        uplink = _pool(env, profile)
        downlink = uplink if profile.duplex == "cell-half" else _pool(env, profile)
        self._pools: dict[Direction, Pool] = {"up": uplink, "down": downlink}
        self._rates_bps: dict[Direction, float] = {"up": profile.uplink_bps, "down": profile.downlink_bps}
        self._needs: dict[tuple[Direction, int, float], Need] = {}
        self._released_s: dict[int, float] = {}  # when a sensor's inactivity timer ends
        self._radios = Radios(env) if profile.duplex == "device-half" else None
        self._frames = None if profile.frames is None else _frame_air(env, profile, profile.frames)

    def set_up_s(self, sensor: int) -> float:
        """Before the sensor's next transfer can begin."""
        if self._profile.setup_s == 0 or self.env.now <= self._released_s.get(sensor, -inf):
            return 0.0
        return self._profile.setup_s

    def account(self, direction: Direction, sensors: Iterable[int], ready_s: float, airtime_s: float) -> float | None:
        """A transfer has just ended for these radios: their inactivity timers start anew. Returns its joules."""
        now_s = self.env.now
        if self._profile.setup_s:
            for sensor in sensors:
                self._released_s[sensor] = now_s + self._profile.inactivity_s
        if self._meter is None:
            return None
        if self._frames is not None:
            ready_s = now_s - airtime_s  # asleep between its frames
        return sum(self._meter.use(sensor, direction, ready_s, now_s, airtime_s) for sensor in sensors)

    def end_round(self) -> RoundEnergy | None:
        return None if self._meter is None else self._meter.end_round(self.env.now)

    def need(self, direction: Direction, sensors: Sequence[int], payload: Payload, round_number: int) -> Need:
        """Of a transfer to or from a sensor, or to several at the rate of the slowest."""
        factor = min(self._attachment.factor(direction, sensor) for sensor in sensors)
        blocks = self._profile.blocks
        if blocks is None and self._frames is None:
            return self._need_without_errors(direction, payload.size_bytes, factor)
        index = 4 * round_number + _DRAWS_PER_ROUND[payload.kind]
        uniform = self._draws.one_uniform(f"blocks/{direction}", sensors[0], index)
        if blocks is None:
            return self._need_of_frames(direction, payload.size_bytes, uniform)
        block_bits = blocks.uplink_bits if direction == "up" else blocks.downlink_bits
        failed = failed_blocks(ceil(BITS_PER_BYTE * payload.size_bytes / block_bits), blocks.error_rate, uniform)
        again_bytes = failed * block_bits // BITS_PER_BYTE
        return Need(self._airtime_s(direction, payload.size_bytes + again_bytes, factor), again_bytes)

    def _need_of_frames(self, direction: Direction, size_bytes: int, uniform: float) -> Need:
        assert self._frames is not None
        frames = self._frames.frame_count(direction, size_bytes)
        again = self._frames.collisions(direction, frames, uniform)
        airtime_s = self._frames.airtime_s(direction, frames + again)
        return Need(airtime_s, again * self._frames.payload_bytes(direction), frames + again)

    def _need_without_errors(self, direction: Direction, size_bytes: int, factor: float) -> Need:
        """Where all rates are equal there are few sizes: each is worked out once."""
        key = (direction, size_bytes, factor)
        if key not in self._needs:
            self._needs[key] = Need(self._airtime_s(direction, size_bytes, factor), 0)
        return self._needs[key]

    def _airtime_s(self, direction: Direction, size_bytes: int, factor: float) -> float:
        return BITS_PER_BYTE * size_bytes / (self._rates_bps[direction] * factor)

    def send(self, direction: Direction, sensor: int, need: Need) -> Delivery:
        """A transfer to or from `sensor`, ready now."""
        if self._frames is not None:
            return self._frames.send(direction, sensor, need.frames)
        if self._radios is not None:
            return self._radios.send(sensor, self._pools[direction], need.airtime_s)
        return self._pools[direction].send(need.airtime_s)


class Radios:
    """Half-duplex radios: until a payload is delivered, the sensor's next one waits. First come, first served."""

    def __init__(self, env: Environment) -> None:
        self.env = env
        self._waiting: dict[int, deque[tuple[Pool, float, Delivery]]] = {}  # a key for every busy radio

    def send(self, sensor: int, pool: Pool, airtime_s: float) -> Delivery:
        if sensor in self._waiting:
            delivery = Delivery(self.env)
            self._waiting[sensor].append((pool, airtime_s, delivery))
            return delivery
        self._waiting[sensor] = deque()
        delivery = pool.send(airtime_s)
        delivery.callbacks.append(lambda _: self._release(sensor))
        return delivery

    def _release(self, sensor: int) -> None:
        if not self._waiting[sensor]:
            del self._waiting[sensor]
            return
        pool, airtime_s, waited = self._waiting[sensor].popleft()
        now_s = self.env.now

        def deliver(inner: Event) -> None:
            self._release(sensor)
            waited.after(0.0, now_s if inner.value is None else inner.value)

        pool.send(airtime_s).callbacks.append(deliver)


def _frame_air(env: Environment, profile: NetworkProfile, frames: Frames) -> FrameAir:
    return FrameAir(env, frames, profile.channel_count, profile.latency_s)


def _pool(env: Environment, profile: NetworkProfile) -> Pool:
    if profile.sharing == "fifo":
        return FifoPool(env, profile.channel_count, profile.latency_s)
    return FairPool(env, profile.channel_count, profile.resource_units, profile.latency_s)
