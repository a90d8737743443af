"""Airtime that the devices of a cell share: LTE, NB-IoT, 5G, Wi-SUN, Ethernet.

Duplex: `full` has a pool per direction; `device-half` too, but a sensor does one thing at a time; `cell-half` has one
pool for both directions, which is how the HFedMS paper accounts.

Duty cycles (Wi-Fi HaLow): a sensor may send a share d_up of the time, the base station, one sender for all, a share
d_down. So the downlink is a pool of d_down channels, and each uplink transfer has at most the speed d_up; where both
share one airtime, the uplink has what the downlink may not use.

A transfer of B bytes at r bit/s has an airtime of 8 (B + R) / r, where R are the bytes of blocks that failed and are
sent again (blocks.py).
"""

from bisect import bisect_right
from collections import deque
from math import ceil
from typing import NamedTuple

import numpy as np
from simpy import Environment, Event

from hfedms_sim.rounds import Direction
from hfedms_sim.scenario import NetworkProfile
from hfedms_sim.seeds import Draws
from hfedms_sim.units import BITS_PER_BYTE
from hfedms_sim.world.airtime import FairPool, FifoPool, Pool
from hfedms_sim.world.blocks import distribution_of_failures
from hfedms_sim.world.delivery import Delivery
from hfedms_sim.world.fluctuation import Availability
from hfedms_sim.world.loss_draws import LossDraws
from hfedms_sim.world.transfer import Demand, Transfer


class _Demands(NamedTuple):
    """The demands that a payload may have at the full rate, and P(F <= f) of each number f of failed blocks."""

    demands: list[Demand]
    distribution: list[float]


class SharedMedium:
    is_connected = True

    def __init__(
        self, env: Environment, profile: NetworkProfile, draws: Draws, loss_draws: LossDraws, cell: int
    ) -> None:
        self._pools = _pools(env, profile, draws, cell)
        self._rates_bps: dict[Direction, float] = {"up": profile.uplink_bps, "down": profile.downlink_bps}
        self._blocks = profile.blocks
        self._loss_draws = loss_draws
        self._demands: dict[tuple[Direction, int], _Demands] = {}
        self._radios = HalfDuplexRadios(env) if profile.duplex == "device-half" else None

    def announce(self, transfer: Transfer) -> None:
        """Do nothing: what a transfer takes does not depend on who else is on the air."""

    def renounce(self, transfer: Transfer) -> None:
        """Do nothing, as nothing was noted."""

    def demand(self, transfer: Transfer, rate_share: float) -> Demand:
        key = (transfer.direction, transfer.payload.size_bytes)
        demands, distribution = self._demands.get(key) or self._work_out(*key)
        failed = 0 if self._blocks is None else bisect_right(distribution, self._loss_draws.of(transfer))
        demand = demands[failed]
        return demand if rate_share == 1.0 else Demand(demand.airtime_s / rate_share, demand.retransmitted_bytes)

    def _work_out(self, direction: Direction, size_bytes: int) -> _Demands:
        """There are few sizes: each is worked out once."""
        first, distribution, block_bits = 0, [1.0], 0
        if self._blocks is not None:
            block_bits = self._blocks.uplink_bits if direction == "up" else self._blocks.downlink_bits
            blocks = ceil(BITS_PER_BYTE * size_bytes / block_bits)
            first, distribution = distribution_of_failures(blocks, self._blocks.error_rate)
        again_bytes = np.arange(first, first + len(distribution)) * block_bits // BITS_PER_BYTE
        airtime_s = BITS_PER_BYTE * (size_bytes + again_bytes) / self._rates_bps[direction]
        demands = list(map(Demand, airtime_s.tolist(), again_bytes.tolist()))
        self._demands[direction, size_bytes] = _Demands(demands, distribution)
        return self._demands[direction, size_bytes]

    def send(self, transfer: Transfer, demand: Demand) -> Delivery:
        pool = self._pools[transfer.direction]
        if self._radios is not None:
            return self._radios.send(transfer.sensor, pool, demand.airtime_s)
        return pool.send(demand.airtime_s)


class HalfDuplexRadios:
    """Until a payload is delivered or its transfer cancelled, the sensor's next one waits. First come, first served."""

    def __init__(self, env: Environment) -> None:
        self.env = env
        self._queues: dict[int, deque[tuple[Pool, Delivery]]] = {}  # of every busy radio, the one under way first
        self._sensors: dict[Delivery, int] = {}

    def send(self, sensor: int, pool: Pool, airtime_s: float) -> Delivery:
        delivery = Delivery(self.env, airtime_s, self)
        delivery.callbacks.append(self._release)
        self._sensors[delivery] = sensor
        queue = self._queues.setdefault(sensor, deque())
        queue.append((pool, delivery))
        if len(queue) == 1:
            pool.start(delivery)
        return delivery

    def withdraw(self, delivery: Delivery) -> float:
        queue = self._queues[self._sensors[delivery]]
        pool, under_way = queue[0]
        if delivery is under_way:
            received_s = pool.withdraw(delivery)
            self._release(delivery)
            return received_s
        queue.remove(next(each for each in queue if each[1] is delivery))
        del self._sensors[delivery]
        return 0.0

    def _release(self, delivery: Event) -> None:
        """Begin the sensor's next transfer; the radio of a cancelled one is free already."""
        assert isinstance(delivery, Delivery)
        sensor = self._sensors.pop(delivery, None)
        if sensor is None:
            return
        queue = self._queues[sensor]
        queue.popleft()
        if queue:
            pool, following = queue[0]
            pool.start(following)
        else:
            del self._queues[sensor]


def _pools(env: Environment, profile: NetworkProfile, draws: Draws, cell: int) -> dict[Direction, Pool]:
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
