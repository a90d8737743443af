"""Radios of single frames, LoRaWAN and Sigfox: a transfer is computed in closed form, without an event per frame.

A transfer of B bytes is N = ceil(B / payload) frames of time on air T, each followed by a silence T_off that the
duty cycle or the daily quota demands. The last arrives N T + (N - 1) T_off after the first began; the sender's
silence after it holds up its next transfer. Uplinks are pure ALOHA over c channels: a frame collides with
probability 1 - exp(-2 G), where G = n T / (T + T_off) / c and n senders are active when the transfer starts, and is
sent again; how many are is negative binomial (blocks.py). The gateway's downlink is one sender for all sensors,
first come first served, or has a quota for each of them.

An approximation: the collision probability stays that of the transfer's start, and senders are taken as
independent. Left out: capture effect, adaptive data rate, acknowledgements, lost downlinks.
"""

from collections.abc import Sequence
from math import ceil, exp

import numpy as np
from numpy.typing import NDArray

from hfedms_sim.rounds import Direction
from hfedms_sim.scenario.profile import Frames
from hfedms_sim.world.air import Need
from hfedms_sim.world.blocks import failed_blocks
from hfedms_sim.world.clock import Clock
from hfedms_sim.world.delivery import Delivery

_GATEWAY = -1


class FrameAir:
    """The air of one gateway. Between its frames a sensor sleeps."""

    is_connected = False
    needs_luck = True

    def __init__(self, env: Clock, frames: Frames, channels: float, latency_s: float) -> None:
        self.env = env
        self._channels = channels
        self._latency_s = latency_s
        self._payload_bytes = {"up": frames.uplink_payload_bytes, "down": frames.downlink_payload_bytes}
        self._frame_s = {"up": frames.uplink_frame_s, "down": frames.downlink_frame_s}
        self._silence_s = {"up": frames.uplink_silence_s, "down": frames.downlink_silence_s}
        self._one_downlink = frames.downlink_limit == "gateway"
        self._silent_until_s: dict[tuple[Direction, int], float] = {}
        self._uplinks = 0
        self._luck: dict[int, float] = {}

    def foresee(
        self, direction: Direction, size_bytes: int, sensors: Sequence[int], lucks: NDArray[np.float64]
    ) -> None:
        if direction == "up":
            self._luck = dict(zip(sensors, lucks.tolist(), strict=True))

    def need(self, direction: Direction, sensor: int, size_bytes: int, factor: float) -> Need:
        """Frames have one rate: `factor` does not matter."""
        frames = ceil(size_bytes / self._payload_bytes[direction])
        again = 0 if direction == "down" else failed_blocks(frames, self.collision_probability(), self._luck[sensor])
        airtime_s = (frames + again) * self._frame_s[direction]
        return Need(airtime_s, again * self._payload_bytes[direction], frames + again)

    def collision_probability(self) -> float:
        """Of an uplink frame of a transfer that starts now."""
        period_s = self._frame_s["up"] + self._silence_s["up"]
        load = self._uplinks * self._frame_s["up"] / period_s / self._channels
        return 1 - exp(-2 * load)

    def send(self, direction: Direction, sensor: int, need: Need) -> Delivery:
        now_s, silence_s = self.env.now, self._silence_s[direction]
        sender = (direction, _GATEWAY if direction == "down" and self._one_downlink else sensor)
        start_s = max(now_s, self._silent_until_s.get(sender, 0.0))
        end_s = start_s + need.airtime_s + (need.frames - 1) * silence_s
        delivery = Delivery()
        self._silent_until_s[sender] = end_s + silence_s
        if direction == "up":
            self._uplinks += 1
            delivery.callbacks.append(self._end_uplink)
        delivery.after(self.env, end_s - now_s + self._latency_s, start_s)
        return delivery

    def _end_uplink(self, _: Delivery) -> None:
        self._uplinks -= 1
