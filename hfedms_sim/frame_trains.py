"""What a transfer over a radio of single frames amounts to: its frames, one after the other, in closed form.

A transfer of B bytes is N = ceil(B / payload) frames. A full one takes T on the air, one of b bytes

    T_b = T_0 + (T - T_0) b / payload,      T_0 an empty frame; without it every frame counts as a full one,

and the sender is silent after it for as long in proportion, T_off T_b / T. Frames that are sent again have the mean
length of the transfer's own.

A sensor of LoRaWAN's class A hears a downlink frame only in the window that opens `receive_delay_s` after an uplink
frame of its own: it polls with an empty frame for each. With a poll of T_p and its silence S_p, a downlink frame of
T_d and its silence S_d, delay D, and two windows of W, of which the second opens a second after the first,

    Q = max(T_p + S_p, T_d + S_d, T_p + D + T_d)     from a poll that was answered to the next
    R = max(T_p + S_p, T_p + D + 1 + W)              from one that was lost to the next
    T_p + D + (N - 1) Q + L R + T_last               N frames with L polls lost

because sensor and gateway both keep their silences, and nobody polls before the frame has come or the windows have
closed. Sources: LoRaWAN L2 1.0.4 (class A; RECEIVE_DELAY2 = RECEIVE_DELAY1 + 1 s), EN 300 220 (duty cycles).
"""

from math import ceil
from typing import NamedTuple

from hfedms_sim.scenario.frames import Frames, FrameTimes

_SECOND_WINDOW_S = 1.0  # after the first


class Rhythm(NamedTuple):
    """How a sender is heard while it sends: a frame in every period."""

    frame_s: float
    period_s: float


class Train(NamedTuple):
    """The frames of a transfer that its sender sends by itself. Those sent again are counted by whoever asks."""

    frames: int
    frame_s: float
    """Time on air of a frame, on average."""
    silence_s: float
    """After a frame, on average."""
    last_silence_s: float
    """After the last frame."""

    @property
    def rhythm(self) -> Rhythm:
        return Rhythm(self.frame_s, self.frame_s + self.silence_s)

    @property
    def lead_s(self) -> float:
        """Return the time from the start to the first frame."""
        return 0.0

    def airtime_s(self, again: int = 0) -> float:
        return (self.frames + again) * self.frame_s

    def pauses_s(self, again: int = 0) -> float:
        """Return how long nothing is sent from the start of the first frame to the end of the last."""
        return (self.frames + again - 1) * self.silence_s + (self.silence_s - self.last_silence_s)

    def duration_s(self) -> float:
        return self.airtime_s() + self.pauses_s()


class PolledTrain(NamedTuple):
    """The downlink frames that a sensor of class A polls for."""

    frames: int
    frame_s: float
    """Time on air of a downlink frame, on average."""
    last_s: float
    """Time on air of the last one."""
    silence_s: float
    """How long the gateway is silent after a frame, on average."""
    last_silence_s: float
    """How long the gateway is silent after the last frame."""
    poll_s: float
    """Time on air of a poll."""
    poll_silence_s: float
    """How long the sensor is silent after it."""
    lead_s: float
    """The time from the start of a poll to the frame that answers it."""
    answered_s: float
    """The time from a poll that was answered to the next: Q."""
    lost_s: float
    """The time from a poll that was lost to the next: R."""

    @property
    def rhythm(self) -> Rhythm:
        return Rhythm(self.frame_s, self.answered_s)

    @property
    def poll_rhythm(self) -> Rhythm:
        return Rhythm(self.poll_s, self.answered_s)

    def airtime_s(self) -> float:
        """Return that of the downlink frames."""
        return self.frames * self.frame_s

    def pauses_s(self, lost: int = 0) -> float:
        """Return how long no downlink frame is sent from the start of the first poll to the end of the last frame."""
        return self.duration_s(lost) - self.airtime_s()

    def duration_s(self, lost: int = 0) -> float:
        return self.lead_s + (self.frames - 1) * self.answered_s + lost * self.lost_s + self.last_s


def uplink_train(times: FrameTimes, size_bytes: int) -> Train:
    return _train(
        size_bytes, times.uplink_payload_bytes, times.uplink_frame_s, times.uplink_silence_s, times.empty_frame_s
    )


def downlink_train(times: FrameTimes, size_bytes: int) -> Train:
    """Return the frames of a downlink that its receivers hear at any time."""
    return _train(
        size_bytes, times.downlink_payload_bytes, times.downlink_frame_s, times.downlink_silence_s, times.empty_frame_s
    )


def polled_train(times: FrameTimes, frames: Frames, size_bytes: int) -> PolledTrain:
    """Return the frames of a downlink to a sensor of class A; `frames` has what its radio does after a poll."""
    poll, free = uplink_train(times, 0), downlink_train(times, size_bytes)
    lead_s = poll.frame_s + frames.receive_delay_s
    poll_s, full_s = poll.rhythm.period_s, times.downlink_frame_s
    return PolledTrain(
        frames=free.frames,
        frame_s=free.frame_s,
        last_s=full_s + free.frames * (free.frame_s - full_s),
        silence_s=free.silence_s,
        last_silence_s=free.last_silence_s,
        poll_s=poll.frame_s,
        poll_silence_s=poll.silence_s,
        lead_s=lead_s,
        answered_s=max(poll_s, full_s + times.downlink_silence_s, lead_s + full_s),
        lost_s=max(poll_s, lead_s + _SECOND_WINDOW_S + frames.window_s),
    )


def _train(size_bytes: int, payload_bytes: int, full_s: float, silence_s: float, empty_s: float | None) -> Train:
    frames = max(1, ceil(size_bytes / payload_bytes))
    filled = (size_bytes - (frames - 1) * payload_bytes) / payload_bytes  # of the last frame
    last_s = full_s if empty_s is None else empty_s + (full_s - empty_s) * filled
    frame_s = full_s + (last_s - full_s) / frames
    return Train(frames, frame_s, silence_s * (frame_s / full_s), silence_s * (last_s / full_s))
