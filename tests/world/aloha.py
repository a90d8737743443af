"""Frame by frame: what radios of single frames do, slowly and obviously. The oracle of the closed forms."""

from heapq import heappop, heappush

import numpy as np


class Sent:
    """A frame on the air."""

    def __init__(self, sender: int, end_s: float) -> None:
        self.sender = sender
        self.end_s = end_s
        self.is_lost = False


def sent_again_per_frame(
    senders: int,
    frames: int,
    frame_s: float,
    silence_s: float,
    channels: int,
    rng: np.random.Generator,
    downlink: tuple[float, float, float] = (0.0, 1.0, 0.0),
) -> float:
    """Let each sender send its frames until they have arrived, on random channels.

    Senders start at any time in a period, and their silences vary by up to two frames, so that none of them keeps its
    phase. Two frames that overlap on a channel are both lost, and so is one that overlaps a frame of the
    gateway: `downlink` is the length of these, their period, and when the last of them begins.
    """
    left, attempts = [frames] * senders, 0
    on_air: list[list[Sent]] = [[] for _ in range(channels)]
    events: list[tuple[float, int, int, Sent | None]] = []  # time, order, sender, the frame that ends or none
    for sender in range(senders):
        heappush(events, (rng.uniform(0, frame_s + silence_s), sender, sender, None))
    order = senders
    while events:
        now_s, _, sender, ending = heappop(events)
        order += 1
        if ending is None:
            attempts += 1
            sent = Sent(sender, now_s + frame_s)
            channel = on_air[rng.integers(channels)]
            channel[:] = [each for each in channel if each.end_s > now_s]
            for each in channel:
                each.is_lost = sent.is_lost = True
            channel.append(sent)
            sent.is_lost |= _meets_downlink(now_s, frame_s, *downlink)
            heappush(events, (sent.end_s, order, sender, sent))
        else:
            left[sender] -= not ending.is_lost
            if left[sender]:
                heappush(events, (now_s + silence_s + rng.uniform(-2 * frame_s, 2 * frame_s), order, sender, None))
    return attempts / (senders * frames) - 1


def _meets_downlink(start_s: float, frame_s: float, downlink_frame_s: float, period_s: float, until_s: float) -> bool:
    """Whether [start, start + frame) overlaps some [k period, k period + downlink frame)."""
    into_s = start_s % period_s
    return start_s < until_s and (into_s < downlink_frame_s or into_s + frame_s > period_s)


def polled_s(
    frames_s: list[float],
    lost_before: list[int],
    poll_s: float,
    delay_s: float,
    windows_s: float,
    silences: tuple[float, float],
) -> float:
    """Return when a sensor of class A has the last of its downlink frames, polling for one after the other.

    `lost_before` counts the polls that are lost before the one that a frame answers, `windows_s` is from the end of a
    poll to when its second window has closed, `silences` are of sensor and gateway for a second on the air. A sensor
    polls as soon as it may and the gateway could answer.
    """
    now_s = sensor_free_s = gateway_free_s = 0.0
    for frame_s, lost in zip(frames_s, lost_before, strict=True):
        for is_lost in [True] * lost + [False]:
            poll_end_s = max(now_s, sensor_free_s, gateway_free_s - poll_s - delay_s) + poll_s
            sensor_free_s = poll_end_s + silences[0] * poll_s
            now_s = poll_end_s + windows_s
            if not is_lost:
                now_s = poll_end_s + delay_s + frame_s
                gateway_free_s = now_s + silences[1] * frame_s
    return now_s
