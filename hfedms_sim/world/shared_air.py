"""Airtime that the devices of a cell share: LTE, NB-IoT, 5G, Wi-SUN, Ethernet.

Duplex: `full` has a pool per direction; `device-half` too, but a sensor does one thing at a time; `cell-half` has one
pool for both directions, which is how the HFedMS paper accounts.

A transfer of B bytes at r bit/s has an airtime of 8 (B + R) / r, where R are the bytes of blocks that failed and are
sent again (blocks.py).
"""

from collections import deque
from collections.abc import Callable
from math import ceil

from simpy import Environment, Event

from hfedms_sim.rounds import Direction
from hfedms_sim.scenario import NetworkProfile
from hfedms_sim.units import BITS_PER_BYTE
from hfedms_sim.world.air import Need
from hfedms_sim.world.airtime import Delivery, FairPool, FifoPool, Pool
from hfedms_sim.world.blocks import failed_blocks


class SharedAir:
    is_connected = True

    def __init__(self, env: Environment, profile: NetworkProfile) -> None:
        uplink = _pool(env, profile)
        downlink = uplink if profile.duplex == "cell-half" else _pool(env, profile)
        self._pools: dict[Direction, Pool] = {"up": uplink, "down": downlink}
        self._rates_bps: dict[Direction, float] = {"up": profile.uplink_bps, "down": profile.downlink_bps}
        self._blocks = profile.blocks
        self._needs: dict[tuple[Direction, int, float], Need] = {}
        self._radios = Radios(env) if profile.duplex == "device-half" else None

    def need(self, direction: Direction, size_bytes: int, factor: float, draw: Callable[[], float]) -> Need:
        blocks = self._blocks
        if blocks is None:
            return self._need_without_errors(direction, size_bytes, factor)
        block_bits = blocks.uplink_bits if direction == "up" else blocks.downlink_bits
        failed = failed_blocks(ceil(BITS_PER_BYTE * size_bytes / block_bits), blocks.error_rate, draw())
        again_bytes = failed * block_bits // BITS_PER_BYTE
        return Need(self._airtime_s(direction, size_bytes + again_bytes, factor), again_bytes)

    def _need_without_errors(self, direction: Direction, size_bytes: int, factor: float) -> Need:
        """Where all rates are equal there are few sizes: each is worked out once."""
        key = (direction, size_bytes, factor)
        if key not in self._needs:
            self._needs[key] = Need(self._airtime_s(direction, size_bytes, factor), 0)
        return self._needs[key]

    def _airtime_s(self, direction: Direction, size_bytes: int, factor: float) -> float:
        return BITS_PER_BYTE * size_bytes / (self._rates_bps[direction] * factor)

    def send(self, direction: Direction, sensor: int, need: Need) -> Delivery:
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


def _pool(env: Environment, profile: NetworkProfile) -> Pool:
    if profile.sharing == "fifo":
        return FifoPool(env, profile.channel_count, profile.latency_s)
    return FairPool(env, profile.channel_count, profile.resource_units, profile.latency_s)
