"""Radios that send single frames, as a profile describes them. hfedms_sim/frame_trains.py says what they amount to."""

from typing import Literal

from pydantic import model_validator

from hfedms_sim.scenario.base import NonNegativeFloat, PositiveFloat, PositiveInt, Seconds, Settings


class FrameTimes(Settings):
    """What a frame carries, and how long it and the silence after it last: one spreading factor."""

    uplink_payload_bytes: PositiveInt
    """Application bytes in an uplink frame."""
    downlink_payload_bytes: PositiveInt
    """Application bytes in a downlink frame."""
    uplink_frame_s: PositiveFloat
    """Time on air of an uplink frame."""
    downlink_frame_s: PositiveFloat
    """Time on air of a downlink frame."""
    uplink_silence_s: NonNegativeFloat
    """How long a sensor is silent after a frame."""
    downlink_silence_s: NonNegativeFloat
    """How long the downlink's sender is silent after a frame."""
    empty_frame_s: PositiveFloat | None = None
    """Time on air of a frame without application bytes; null: every frame counts as a full one."""

    @model_validator(mode="after")
    def _short_frames_are_short(self) -> "FrameTimes":
        full_s = min(self.uplink_frame_s, self.downlink_frame_s)
        if self.empty_frame_s is not None and self.empty_frame_s > full_s:
            raise ValueError(f"empty_frame_s must be at most uplink_frame_s and downlink_frame_s, here {full_s:g}")
        return self


class Frames(FrameTimes):
    """Radios that send single frames and must be silent after each: LoRaWAN, Sigfox."""

    downlink_limit: Literal["gateway", "sensor"] = "gateway"
    """gateway: one silence for all its sensors (a duty cycle); sensor: one for each (a quota)."""
    device_class: Literal["A", "C"] = "C"
    """C: a downlink frame at any time; A: only after an uplink frame of the sensor, which polls for it."""
    receive_delay_s: Seconds = 1.0
    """From the end of an uplink frame to the first receive window, in class A."""
    window_s: Seconds = 0.0
    """How long each of the two windows after an uplink frame is open when nothing comes, in class A."""
