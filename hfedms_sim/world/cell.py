"""A base station: its airtime in both directions, and the sensors' radios where they are half duplex.

Duplex: `full` has a pool per direction; `device-half` too, but a sensor does one thing at a time; `cell-half` has
one pool for both directions, which is how the HFedMS paper accounts.
"""

from collections import deque
from typing import Literal

from simpy import Environment, Event

from hfedms_sim.scenario import Cell as CellSettings
from hfedms_sim.scenario import NetworkProfile
from hfedms_sim.units import BITS_PER_BYTE
from hfedms_sim.world.airtime import Delivery, FairPool, FifoPool, Pool

Direction = Literal["up", "down"]


class Cell:
    def __init__(self, env: Environment, settings: CellSettings) -> None:
        profile = settings.profile
        self.name = settings.name
        uplink = _pool(env, profile)
        downlink = uplink if profile.duplex == "cell-half" else _pool(env, profile)
        self._pools: dict[Direction, Pool] = {"up": uplink, "down": downlink}
        self._rates_bps: dict[Direction, float] = {"up": profile.uplink_bps, "down": profile.downlink_bps}
        self._airtimes_s: dict[tuple[Direction, int], float] = {}
        self._radios = Radios(env) if profile.duplex == "device-half" else None

    def airtime_s(self, direction: Direction, size_bytes: int) -> float:
        """Seconds a payload needs when alone. There are few sizes: each is worked out once."""
        key = (direction, size_bytes)
        if key not in self._airtimes_s:
            self._airtimes_s[key] = BITS_PER_BYTE * size_bytes / self._rates_bps[direction]
        return self._airtimes_s[key]

    def send(self, direction: Direction, sensor: int, size_bytes: int) -> Delivery:
        """A payload to or from `sensor`, ready now."""
        airtime_s = self.airtime_s(direction, size_bytes)
        if self._radios is not None:
            return self._radios.send(sensor, self._pools[direction], airtime_s)
        return self._pools[direction].send(airtime_s)


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
