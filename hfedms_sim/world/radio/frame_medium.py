"""Radios of single frames, LoRaWAN and Sigfox: a transfer is computed in closed form, without an event per frame.

What a transfer amounts to, with the silences that a duty cycle or a daily quota demands, is in frame_trains.py; how
many of its frames are lost and sent again, in frame_losses.py. The gateway's downlink is one sender for all sensors,
first come first served, or has a quota for each of them. The silence after a transfer holds up its sender's next.

The sensors of a coverage class, LoRa's spreading factor, collide with each other alone; the downlink is one for all
classes. A broadcast goes to the class of its farthest listener, and in class A too without polls: its listeners agree
on a session in which they listen all the time, as LoRaWAN's multicast does.

A transfer meets the load at its start: the other senders of which a transfer is under way at the end of the instant in
which it is ready, so that those that start together all count, in whatever order. That load is taken to stay.

A cancelled transfer ends with the part of a frame that it is at; those that wait behind it move up.

Left out: capture effect, adaptive data rate, acknowledgements, lost downlink frames, and a gateway that answers other
sensors of class A between two polls of one.
"""

from collections.abc import Callable
from functools import lru_cache
from math import ceil
from typing import NamedTuple

from simpy import Environment, Event, Timeout

from hfedms_sim.frame_trains import PolledTrain, Train, downlink_train, polled_train, uplink_train
from hfedms_sim.rounds import EVERYONE
from hfedms_sim.scenario import NetworkProfile
from hfedms_sim.transfers import Demand, Transfer
from hfedms_sim.world.processes import EndOfInstant
from hfedms_sim.world.radio.airspace import Airspace, Sender, Voice
from hfedms_sim.world.radio.delivery import Delivery
from hfedms_sim.world.radio.frame_losses import Deafness, loss_probability, lost_frames, overlap
from hfedms_sim.world.radio.loss_draws import LossDraws
from hfedms_sim.world.radio.medium import Capacity

_GATEWAY = -1
_ROUNDING = 1e-9  # of a share of frames
_TRAINS = 1024  # kept: there are few sizes and few classes


class _UnderWay(NamedTuple):
    """A transfer that was sent and has not arrived yet."""

    transfer: Transfer
    sender: Sender
    train: Train | PolledTrain
    pauses_s: float
    """Without a frame of it, from its start to its end."""


class FrameMedium:
    """The medium of one gateway. Between its frames a sensor sleeps."""

    is_connected = False
    is_down = False

    def __init__(
        self, env: Environment, profile: NetworkProfile, class_of: Callable[[int], int], loss_draws: LossDraws
    ) -> None:
        """`class_of` tells the coverage class of a sensor."""
        assert profile.frames is not None
        self.env = env
        self._frames, self._classes = profile.frames, profile.frame_classes
        self._class_of = class_of
        self._channels = profile.channel_count
        self._latencies_s = profile.class_latencies_s
        self._is_deaf_while_sending = profile.duplex == "cell-half"
        self._loss_draws = loss_draws
        self._airspace = Airspace(len(self._classes))
        is_one_sender = profile.frames.downlink_limit == "gateway"
        self.capacities = (Capacity(("down",), 1.0),) if is_one_sender else ()
        self._instant: EndOfInstant | None = None
        self._sends_until_s: dict[Sender, float] = {}
        self._silent_until_s: dict[Sender, float] = {}
        self._queues: dict[Sender, list[Delivery]] = {}  # what has not arrived yet, in the order it was sent
        self._under_way: dict[Delivery, _UnderWay] = {}
        self._timers: dict[Delivery, Timeout] = {}
        self._downlink = lru_cache(_TRAINS)(self._work_out_downlink)
        self._uplink = lru_cache(_TRAINS)(lambda number, size: uplink_train(self._classes[number], size))

    @property
    def is_idle(self) -> bool:
        return not self._under_way

    def announce(self, transfer: Transfer) -> Event | None:
        """Count the transfer as load. One that may lose frames waits until all that are ready now are counted."""
        self._enter(transfer)
        if transfer.direction == "down" and not isinstance(self._train(transfer), PolledTrain):
            return None
        if self._instant is None or self._instant.processed:
            self._instant = EndOfInstant(self.env)
        return self._instant

    def renounce(self, transfer: Transfer) -> None:
        self._airspace.leave(self._sender(transfer), transfer)

    def demand(self, transfer: Transfer, rate_share: float) -> Demand:
        """Return what the transfer takes if it starts now. Frames have one rate: its share does not matter."""
        train, is_class_a = self._train(transfer), self._frames.device_class == "A"
        windows_s = 2 * self._frames.window_s if is_class_a else 0.0  # after a frame without an answer
        if transfer.direction == "down" and isinstance(train, Train):
            return Demand(train.airtime_s(), 0, 0.0, train.pauses_s() if is_class_a else 0.0)
        lost = lost_frames(train.frames, self.loss_probability(transfer), self._loss_draws.of(transfer))
        if isinstance(train, PolledTrain):
            return Demand(train.airtime_s(), 0, (train.frames + lost) * train.poll_s, lost * windows_s)
        times = self._classes[self._class(transfer)]
        sent_bytes = train.frames * times.uplink_payload_bytes
        if times.empty_frame_s is not None:
            sent_bytes = transfer.payload.size_bytes
        again_bytes = lost * sent_bytes // train.frames
        return Demand(train.airtime_s(lost), again_bytes, 0.0, (train.frames + lost) * windows_s)

    def loss_probability(self, transfer: Transfer) -> float:
        """Return the share of uplink frames, or of polls, that a transfer loses if it starts now."""
        train = self._train(transfer)
        frame_s = train.poll_s if isinstance(train, PolledTrain) else train.frame_s
        met = self._airspace.uplink_frames_met(self._sender(transfer), self._class(transfer), frame_s)
        deaf = self._deafness(train) if self._is_deaf_while_sending and transfer.direction == "up" else []
        return loss_probability(met, self._channels, train.frames, deaf)

    def _deafness(self, train: Train | PolledTrain) -> list[Deafness]:
        """Return the downlinks under way, those that wait behind them included, as an uplink meets them."""
        now_s = self.env.now
        return [
            Deafness(
                share=min(1.0, overlap(train.frame_s, rhythm)),
                attempts=max(0.0, self._sends_until_s.get(sender, now_s) - now_s) / train.rhythm.period_s,
            )
            for sender, rhythm in self._airspace.downlinks.items()
        ]

    def part(self, transfer: Transfer, demand: Demand, share: float) -> Demand:
        """Return what the last frames of a transfer take: a frame that was broken off is sent again."""
        frames = round(demand.airtime_s / self._train(transfer).frame_s)
        whole = max(1, ceil(frames * share - _ROUNDING))
        return demand.taken_after(demand.airtime_s * whole / frames)

    def has_left(self, delivery: Delivery) -> bool:
        return self.env.now >= delivery.end_s

    def send(self, transfer: Transfer, demand: Demand) -> Delivery:
        self._enter(transfer)
        sender, train = self._sender(transfer), self._train(transfer)
        frames = round(demand.airtime_s / train.frame_s)
        if isinstance(train, PolledTrain):
            train = train._replace(frames=frames)
            frames = round(demand.extra_transmit_s / train.poll_s)
        delivery = Delivery(self.env, demand.airtime_s, self)
        delivery.callbacks.append(self._forget)
        self._under_way[delivery] = _UnderWay(transfer, sender, train, train.pauses_s(frames - train.frames))
        self._queues.setdefault(sender, []).append(delivery)
        self._schedule(delivery)
        return delivery

    def withdraw(self, delivery: Delivery) -> float:
        now_s, (_, sender, train, _) = self.env.now, self._under_way[delivery]
        behind = self._queues[sender][self._queues[sender].index(delivery) + 1 :]
        self._forget(delivery)
        assert delivery.began_s is not None
        if now_s >= delivery.end_s:
            return delivery.airtime_s  # it is on its way
        received_s, first_s = 0.0, delivery.began_s + train.lead_s
        if self.is_down and first_s > now_s:  # nothing of it was sent, and those behind it go too
            self._sends_until_s[sender] = now_s
            self._silent_until_s[sender] = min(self._silent_until_s[sender], first_s)
            return 0.0
        self._sends_until_s[sender] = min(now_s, first_s)
        self._silent_until_s[sender] = first_s
        if first_s <= now_s:
            sent, into_s = divmod(now_s - first_s, train.rhythm.period_s)
            received_s = sent * train.frame_s + min(into_s, train.frame_s)
            self._silent_until_s[sender] = now_s - max(0.0, into_s - train.frame_s) + train.silence_s
        for each in [] if self.is_down else behind:
            self._schedule(each)
        return min(delivery.airtime_s, received_s)

    def _schedule(self, delivery: Delivery) -> None:
        """Plan a transfer, the last of its sender so far; a plan made before is void."""
        now_s, (transfer, sender, train, pauses_s) = self.env.now, self._under_way[delivery]
        silent_until_s = self._silent_until_s.get(sender, 0.0)
        delivery.began_s = max(now_s, self._sends_until_s.get(sender, 0.0), silent_until_s - train.lead_s)
        if isinstance(train, PolledTrain):
            delivery.began_s = max(delivery.began_s, self._silent_until_s.get(("up", transfer.sensor), 0.0))
        delivery.end_s = delivery.began_s + delivery.airtime_s + pauses_s
        self._sends_until_s[sender] = delivery.end_s
        self._silent_until_s[sender] = delivery.end_s + train.last_silence_s
        latency_s = self._latencies_s[self._class(transfer)]
        timer = self._timers[delivery] = Timeout(self.env, delivery.end_s - now_s + latency_s)
        timer.callbacks.append(lambda _: self._arrive(delivery, timer))

    def _arrive(self, delivery: Delivery, timer: Timeout) -> None:
        if self._timers.get(delivery) is timer:
            delivery.arrive()

    def _forget(self, delivery: Event) -> None:
        """Count a transfer as over: it has arrived, or was cancelled.

        A cancelled one comes here from `withdraw`, and again when its event fails; the second call changes nothing.
        """
        assert isinstance(delivery, Delivery)
        if (over := self._under_way.pop(delivery, None)) is not None:
            del self._timers[delivery]
            self._queues[over.sender].remove(delivery)
            self._airspace.leave(over.sender, over.transfer)
            if isinstance(over.train, PolledTrain):
                self._be_silent_after_polls(delivery, over.transfer.sensor, over.train)

    def _be_silent_after_polls(self, delivery: Delivery, sensor: int, train: PolledTrain) -> None:
        """Hold up the sensor's next uplink: its last poll was answered by the last frame, or is cancelled now."""
        polled_s = min(self.env.now, delivery.end_s - train.last_s - train.lead_s + train.poll_s)
        if delivery.began_s is not None and delivery.began_s < polled_s:
            silent_until_s = self._silent_until_s.get(("up", sensor), 0.0)
            self._silent_until_s["up", sensor] = max(silent_until_s, polled_s + train.poll_silence_s)

    def _enter(self, transfer: Transfer) -> None:
        train = self._train(transfer)
        if isinstance(train, PolledTrain):
            voice = Voice(self._class(transfer), train.poll_rhythm, train.rhythm)
        elif transfer.direction == "up":
            voice = Voice(self._class(transfer), train.rhythm, None)
        else:
            voice = Voice(self._class(transfer), None, train.rhythm)
        self._airspace.enter(self._sender(transfer), transfer, voice)

    def _sender(self, transfer: Transfer) -> Sender:
        if transfer.direction == "down" and self._frames.downlink_limit == "gateway":
            return "down", _GATEWAY
        return transfer.direction, transfer.sensor

    def _class(self, transfer: Transfer) -> int:
        return max(map(self._class_of, transfer.radios))

    def _train(self, transfer: Transfer) -> Train | PolledTrain:
        number, size_bytes = self._class(transfer), transfer.payload.size_bytes
        if transfer.direction == "up":
            return self._uplink(number, size_bytes)
        return self._downlink(number, size_bytes, transfer.sensor == EVERYONE)

    def _work_out_downlink(self, number: int, size_bytes: int, is_broadcast: bool) -> Train | PolledTrain:
        times = self._classes[number]
        if self._frames.device_class == "A" and not is_broadcast:
            return polled_train(times, self._frames, size_bytes)
        return downlink_train(times, size_bytes)
