"""Radios of single frames, LoRaWAN and Sigfox: a transfer is computed in closed form, without an event per frame.

A transfer of B bytes is N = ceil(B / payload) frames of time on air T, each followed by a silence T_off that the
duty cycle or the daily quota demands. The last arrives N T + (N - 1) T_off after the first began; the sender's
silence after it holds up its next transfer. Uplinks are pure ALOHA over c channels: a frame collides with
probability 1 - exp(-2 G), where G = n T / (T + T_off) / c and n senders are active when the transfer starts, and is
sent again; how many are is negative binomial (blocks.py). The gateway's downlink is one sender for all sensors,
first come first served, or has a quota for each of them.

A cancelled transfer ends with the part of a frame that it is at; those that wait behind it move up.

An approximation: the collision probability stays that of the transfer's start, and senders are taken as
independent. Left out: capture effect, adaptive data rate, acknowledgements, lost downlinks.
"""

from math import ceil, exp

from simpy import Environment, Event, Timeout

from hfedms_sim.rounds import Direction
from hfedms_sim.scenario.frames import Frames
from hfedms_sim.world.blocks import failed_blocks
from hfedms_sim.world.delivery import Delivery
from hfedms_sim.world.loss_draws import LossDraws
from hfedms_sim.world.transfer import Demand, Transfer

_GATEWAY = -1

Sender = tuple[Direction, int]


class FrameMedium:
    """The medium of one gateway. Between its frames a sensor sleeps."""

    is_connected = False

    def __init__(
        self, env: Environment, frames: Frames, channels: float, latency_s: float, loss_draws: LossDraws
    ) -> None:
        self.env = env
        self._channels = channels
        self._latency_s = latency_s
        self._loss_draws = loss_draws
        self._payload_bytes = {"up": frames.uplink_payload_bytes, "down": frames.downlink_payload_bytes}
        self._frame_s = {"up": frames.uplink_frame_s, "down": frames.downlink_frame_s}
        self._silence_s = {"up": frames.uplink_silence_s, "down": frames.downlink_silence_s}
        self._one_downlink = frames.downlink_limit == "gateway"
        self._silent_until_s: dict[Sender, float] = {}
        self._queues: dict[Sender, list[Delivery]] = {}  # what has not arrived yet, in the order it was sent
        self._senders: dict[Delivery, Sender] = {}
        self._timers: dict[Delivery, Timeout] = {}
        self._uplinks = 0

    def demand(self, transfer: Transfer, rate_share: float) -> Demand:
        """Return what the transfer takes if it starts now. Frames have one rate: its share does not matter."""
        direction = transfer.direction
        frames, again = ceil(transfer.payload.size_bytes / self._payload_bytes[direction]), 0
        if direction == "up":
            again = failed_blocks(frames, self.collision_probability(), self._loss_draws.of(transfer))
        return Demand((frames + again) * self._frame_s[direction], again * self._payload_bytes[direction])

    def collision_probability(self) -> float:
        """Return that of an uplink frame of a transfer that starts now."""
        period_s = self._frame_s["up"] + self._silence_s["up"]
        load = self._uplinks * self._frame_s["up"] / period_s / self._channels
        return 1 - exp(-2 * load)

    def send(self, transfer: Transfer, demand: Demand) -> Delivery:
        direction = transfer.direction
        sender = (direction, _GATEWAY if direction == "down" and self._one_downlink else transfer.sensor)
        delivery = Delivery(self.env, demand.airtime_s, self)
        delivery.callbacks.append(self._forget)
        self._senders[delivery] = sender
        self._queues.setdefault(sender, []).append(delivery)
        self._uplinks += direction == "up"
        self._schedule(delivery, sender)
        return delivery

    def withdraw(self, delivery: Delivery) -> float:
        now_s, sender = self.env.now, self._senders[delivery]
        behind = self._queues[sender][self._queues[sender].index(delivery) + 1 :]
        self._forget(delivery)
        assert delivery.began_s is not None
        if now_s >= delivery.end_s:
            return delivery.airtime_s  # it is on its way
        frame_s, silence_s = self._frame_s[sender[0]], self._silence_s[sender[0]]
        received_s, self._silent_until_s[sender] = 0.0, delivery.began_s
        if delivery.began_s <= now_s:
            sent, into_s = divmod(now_s - delivery.began_s, frame_s + silence_s)
            received_s = sent * frame_s + min(into_s, frame_s)
            self._silent_until_s[sender] = now_s - max(0.0, into_s - frame_s) + silence_s
        for each in behind:
            self._schedule(each, sender)
        return min(delivery.airtime_s, received_s)

    def _schedule(self, delivery: Delivery, sender: Sender) -> None:
        """Plan a transfer, the last of its sender so far; a plan made before is void."""
        now_s, silence_s = self.env.now, self._silence_s[sender[0]]
        frames = round(delivery.airtime_s / self._frame_s[sender[0]])
        delivery.began_s = max(now_s, self._silent_until_s.get(sender, 0.0))
        delivery.end_s = delivery.began_s + delivery.airtime_s + (frames - 1) * silence_s
        self._silent_until_s[sender] = delivery.end_s + silence_s
        timer = self._timers[delivery] = Timeout(self.env, delivery.end_s - now_s + self._latency_s)
        timer.callbacks.append(lambda _: self._arrive(delivery, timer))

    def _arrive(self, delivery: Delivery, timer: Timeout) -> None:
        if self._timers.get(delivery) is timer:
            delivery.arrive()

    def _forget(self, delivery: Event) -> None:
        """Count a transfer as over: it has arrived, or was cancelled, which is said twice."""
        assert isinstance(delivery, Delivery)
        if (sender := self._senders.pop(delivery, None)) is not None:
            del self._timers[delivery]
            self._queues[sender].remove(delivery)
            self._uplinks -= sender[0] == "up"
