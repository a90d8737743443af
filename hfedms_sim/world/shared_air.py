"""Airtime that the devices of a cell share: LTE, NB-IoT, 5G, Wi-SUN, Ethernet.

Duplex: `full` has a pool per direction; `device-half` too, but a sensor does one thing at a time; `cell-half` has one
pool for both directions, which is how the HFedMS paper accounts.

Duty cycles (Wi-Fi HaLow): a sensor may send a share d_up of the time, the base station, one sender for all, a share
d_down. So the downlink is a pool of d_down channels, and each uplink transfer has at most the speed d_up; where both
share one airtime, the uplink has what the downlink may not use.

A transfer of B bytes at r bit/s has an airtime of 8 (B + R) / r, where R are the bytes of blocks that failed and are
sent again (blocks.py).
"""

from collections import deque
from collections.abc import Sequence
from math import ceil
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from hfedms_sim.rounds import Direction
from hfedms_sim.scenario import NetworkProfile
from hfedms_sim.scenario.profile import Blocks
from hfedms_sim.seeds import Draws
from hfedms_sim.units import BITS_PER_BYTE
from hfedms_sim.world.air import Need
from hfedms_sim.world.airtime import FairPool, FifoPool, Pool
from hfedms_sim.world.blocks import distribution_of_failures
from hfedms_sim.world.clock import Clock
from hfedms_sim.world.delivery import Delivery
from hfedms_sim.world.fluctuation import Availability


class _Needs(NamedTuple):
    """Of a payload at the full rate: with which probability at most which."""

    distribution: NDArray[np.float64]
    needs: NDArray[np.object_]


class SharedAir:
    is_connected = True

    def __init__(self, env: Clock, profile: NetworkProfile, draws: Draws, cell: int) -> None:
        self._pools = _pools(env, profile, draws, cell)
        self._rates_bps: dict[Direction, float] = {"up": profile.uplink_bps, "down": profile.downlink_bps}
        self._blocks = profile.blocks
        self.needs_luck = profile.blocks is not None
        self._lossless: dict[tuple[Direction, int], Need] = {}
        self._lossy: dict[tuple[Direction, int], _Needs] = {}
        self._foreseen: dict[Direction, dict[int, Need]] = {}
        self._radios = Radios(env) if profile.duplex == "device-half" else None

    def foresee(
        self, direction: Direction, size_bytes: int, sensors: Sequence[int], lucks: NDArray[np.float64]
    ) -> None:
        """All at once: one by one, looking luck up in the distribution would cost more than all else about a need."""
        if self._blocks is None:
            return
        key = (direction, size_bytes)
        if key not in self._lossy:
            self._lossy[key] = self._work_out_needs(direction, size_bytes, self._blocks)
        distribution, needs = self._lossy[key]
        own = needs.take(distribution.searchsorted(lucks, side="right"))
        self._foreseen[direction] = dict(zip(sensors, own.tolist(), strict=True))

    def need(self, direction: Direction, sensor: int, size_bytes: int, factor: float) -> Need:
        if self.needs_luck:
            need = self._foreseen[direction][sensor]
        else:
            key = (direction, size_bytes)
            need = self._lossless.get(key) or self._lossless.setdefault(
                key, Need(BITS_PER_BYTE * size_bytes / self._rates_bps[direction], 0)
            )
        return need if factor == 1.0 else Need(need.airtime_s / factor, need.retransmitted_bytes)

    def _work_out_needs(self, direction: Direction, size_bytes: int, blocks: Blocks) -> _Needs:
        """There are few sizes: each is worked out once."""
        block_bits = blocks.uplink_bits if direction == "up" else blocks.downlink_bits
        count = ceil(BITS_PER_BYTE * size_bytes / block_bits)
        first, distribution = distribution_of_failures(count, blocks.error_rate)
        again_bytes = np.arange(first, first + len(distribution)) * block_bits // BITS_PER_BYTE
        airtime_s = BITS_PER_BYTE * (size_bytes + again_bytes) / self._rates_bps[direction]
        needs = map(Need, airtime_s.tolist(), again_bytes.tolist())
        return _Needs(np.array(distribution), np.fromiter(needs, dtype=object))

    def send(self, direction: Direction, sensor: int, need: Need) -> Delivery:
        if self._radios is not None:
            return self._radios.send(sensor, self._pools[direction], need.airtime_s)
        return self._pools[direction].send(need.airtime_s)


class Radios:
    """Half-duplex radios: until a payload is delivered, the sensor's next one waits. First come, first served."""

    def __init__(self, env: Clock) -> None:
        self.env = env
        self._waiting: dict[int, deque[tuple[Pool, float, Delivery]]] = {}  # a key for every busy radio

    def send(self, sensor: int, pool: Pool, airtime_s: float) -> Delivery:
        if sensor in self._waiting:
            delivery = Delivery()
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

        def deliver(inner: Delivery) -> None:
            self._release(sensor)
            waited.after(self.env, 0.0, now_s if inner.value is None else inner.value)

        pool.send(airtime_s).callbacks.append(deliver)


def _pools(env: Clock, profile: NetworkProfile, draws: Draws, cell: int) -> dict[Direction, Pool]:
    channels, latency_s, duty_cycle = profile.channel_count, profile.latency_s, profile.duty_cycle

    def availability() -> Availability | None:
        return None if profile.fluctuation is None else Availability(profile.fluctuation, draws, cell)

    def pool() -> Pool:
        if profile.sharing == "fifo":
            return FifoPool(env, channels, latency_s, availability())
        return FairPool(env, channels, profile.resource_units, latency_s, availability=availability())

    if duty_cycle is not None:
        left = channels - duty_cycle.downlink if profile.duplex == "cell-half" else channels
        return {
            "up": FairPool(env, left, None, latency_s, duty_cycle.uplink, availability()),
            "down": FairPool(env, duty_cycle.downlink, None, latency_s, duty_cycle.downlink, availability()),
        }
    uplink = pool()
    return {"up": uplink, "down": uplink if profile.duplex == "cell-half" else pool()}
