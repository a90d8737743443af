"""Airtime that the sensors of a cell share: LTE, NB-IoT, 5G, Wi-SUN, Ethernet.

Duplex: `full` has a pool per direction; `device-half` too, but a sensor does one thing at a time; `cell-half` has one
pool for both directions, which is how the HFedMS paper accounts.

A cell that has a capacity of its own, C bit/s where one sensor has r, serves c = C / r of them at full rate, which need
be no whole number: while a sensor waits between its blocks, others use the gaps.

Duty cycles (Wi-Fi HaLow): a sensor may send a share d_up of the time, the base station, one sender for all, a share
d_down. So the downlink is a pool of d_down channels, and each uplink transfer has at most the speed d_up; where both
share one airtime, the uplink has what the downlink may not use.

A transfer of B bytes at r bit/s has an airtime of 8 (B + R) / r, where R are the bytes of blocks that failed and are
sent again (blocks.py); those of a broadcast are sent until its last listener has them.
"""

from bisect import bisect_right
from collections import deque
from collections.abc import Sequence
from math import ceil
from typing import NamedTuple

import numpy as np
from simpy import Environment, Event

from hfedms_sim.rounds import Direction
from hfedms_sim.scenario import NetworkProfile
from hfedms_sim.scenario.profile import Blocks
from hfedms_sim.seeds import Draws
from hfedms_sim.transfers import Demand, Transfer
from hfedms_sim.units import BITS_PER_BYTE
from hfedms_sim.world.radio.airtime import FairPool, FifoPool, Pool
from hfedms_sim.world.radio.blocks import Law, failed_blocks, law_of_failures
from hfedms_sim.world.radio.delivery import Delivery
from hfedms_sim.world.radio.fluctuation import Availability
from hfedms_sim.world.radio.loss_draws import LossDraws
from hfedms_sim.world.radio.medium import Capacity
from hfedms_sim.world.radio.tabulated import Tabulated
from hfedms_sim.world.site.attachment import Attachment


class _Demands(NamedTuple):
    """The demands that a payload may have at the full rate, and P(F <= f) of each number f of failed blocks.

    Both are empty where F can have too many values for a table: then each transfer's demand is worked out by itself.
    """

    demands: list[Demand]
    distribution: Sequence[float]


class SharedMedium:
    is_connected = True
    is_down = False

    def __init__(
        self,
        env: Environment,
        profile: NetworkProfile,
        draws: Draws,
        loss_draws: LossDraws,
        cell: int,
        attachment: Attachment,
    ) -> None:
        self._pools = _pools(env, profile, draws, cell)
        up, down = Capacity(("up",), profile.channels_in("up")), Capacity(("down",), profile.channels_in("down"))
        self.capacities = (Capacity(("up", "down"), up.channels),) if profile.duplex == "cell-half" else (up, down)
        self._rates_bps: dict[Direction, float] = {"up": profile.uplink_bps, "down": profile.downlink_bps}
        self._latencies_s = profile.class_latencies_s
        self._attachment = attachment
        self._blocks = profile.blocks
        self._loss_draws = loss_draws
        self._demands: dict[tuple[Direction, int], _Demands] = {}
        self._radios = HalfDuplexRadios(env) if profile.duplex == "device-half" else None

    @property
    def is_idle(self) -> bool:
        return all(pool.is_idle for pool in self._pools.values()) and (self._radios is None or self._radios.is_idle)

    def announce(self, transfer: Transfer) -> None:
        """Do nothing: what a transfer takes does not depend on who else is on the air."""

    def renounce(self, transfer: Transfer) -> None:
        """Do nothing, as nothing was noted."""

    def demand(self, transfer: Transfer, rate_share: float) -> Demand:
        key = (transfer.direction, transfer.payload.size_bytes)
        if len(transfer.radios) > 1 and self._blocks is not None:
            demand = self._after_failures(self._blocks, transfer)
        else:
            demands, distribution = self._demands.get(key) or self._work_out(*key)
            if self._blocks is None:
                demand = demands[0]
            elif distribution:
                demand = demands[bisect_right(distribution, self._loss_draws.of(transfer))]
            else:
                demand = self._after_failures(self._blocks, transfer)
        return demand if rate_share == 1.0 else Demand(demand.airtime_s / rate_share, demand.retransmitted_bytes)

    def _work_out(self, direction: Direction, size_bytes: int) -> _Demands:
        """Return the demands of a size, and keep them: there are few sizes."""
        law: Law = Tabulated(0, [1.0])
        block_bits = 0
        if self._blocks is not None:
            block_bits = self._blocks.bits(direction)
            law = law_of_failures(ceil(BITS_PER_BYTE * size_bytes / block_bits), self._blocks.error_rate)
        self._demands[direction, size_bytes] = known = self._tabulated(law, direction, size_bytes, block_bits)
        return known

    def _tabulated(self, law: Law, direction: Direction, size_bytes: int, block_bits: int) -> _Demands:
        if not isinstance(law, Tabulated):
            return _Demands([], [])
        again_bytes = np.arange(law.first, law.first + len(law.distribution)) * block_bits // BITS_PER_BYTE
        airtime_s = BITS_PER_BYTE * (size_bytes + again_bytes) / self._rates_bps[direction]
        return _Demands(list(map(Demand, airtime_s.tolist(), again_bytes.tolist())), law.distribution)

    def _after_failures(self, settings: Blocks, transfer: Transfer) -> Demand:
        """Return what a transfer takes until every listener has every block. How many listen differs by round."""
        block_bits, size_bytes = settings.bits(transfer.direction), transfer.payload.size_bytes
        blocks = ceil(BITS_PER_BYTE * size_bytes / block_bits)
        uniform = self._loss_draws.of(transfer)
        failed = failed_blocks(blocks, settings.error_rate, uniform, len(transfer.radios))
        again_bytes = failed * block_bits // BITS_PER_BYTE
        return Demand(BITS_PER_BYTE * (size_bytes + again_bytes) / self._rates_bps[transfer.direction], again_bytes)

    def part(self, transfer: Transfer, demand: Demand, share: float) -> Demand:
        return demand.taken_after(demand.airtime_s * share)

    def has_left(self, delivery: Delivery) -> bool:
        return delivery.is_on_its_way

    def send(self, transfer: Transfer, demand: Demand) -> Delivery:
        pool = self._pools[transfer.direction]
        latency_s = self._latency_s(transfer.radios)
        if self._radios is not None:
            return self._radios.send(transfer.sensor, pool, demand.airtime_s, latency_s)
        return pool.send(demand.airtime_s, latency_s)

    def _latency_s(self, radios: tuple[int, ...]) -> float:
        """Return the latency of the sensors' coverage class; a broadcast has arrived when the last listener has it."""
        if len(self._latencies_s) == 1:
            return self._latencies_s[0]
        return max(self._latencies_s[self._attachment.coverage_class(sensor)] for sensor in radios)


class HalfDuplexRadios:
    """Until a payload is delivered or its transfer cancelled, the sensor's next one waits. First come, first served."""

    def __init__(self, env: Environment) -> None:
        self.env = env
        self._queues: dict[int, deque[tuple[Pool, Delivery]]] = {}  # of every busy radio, the one under way first
        self._sensors: dict[Delivery, int] = {}

    def send(self, sensor: int, pool: Pool, airtime_s: float, latency_s: float) -> Delivery:
        delivery = Delivery(self.env, airtime_s, self, latency_s)
        delivery.callbacks.append(self._release)
        self._sensors[delivery] = sensor
        queue = self._queues.setdefault(sensor, deque())
        queue.append((pool, delivery))
        if len(queue) == 1:
            pool.start(delivery)
        return delivery

    @property
    def is_idle(self) -> bool:
        return not self._queues

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
    duty_cycle = profile.duty_cycle

    def availability() -> Availability | None:
        return None if profile.fluctuation is None else Availability(profile.fluctuation, draws, cell)

    def pool(direction: Direction) -> Pool:
        channels = profile.channels_in(direction)
        if profile.sharing == "fifo":
            return FifoPool(env, channels, availability())
        return FairPool(env, channels, profile.resource_units, availability=availability())

    if duty_cycle is not None:
        left = profile.channels_in("up") - (duty_cycle.downlink if profile.duplex == "cell-half" else 0.0)
        return {
            "up": FairPool(env, left, None, duty_cycle.uplink, availability()),
            "down": FairPool(env, duty_cycle.downlink, None, duty_cycle.downlink, availability()),
        }
    uplink = pool("up")
    return {"up": uplink, "down": uplink if profile.duplex == "cell-half" else pool("down")}
