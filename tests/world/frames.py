"""A radio of frames whose figures are easy to reckon with."""

from typing import Any

FRAMES: dict[str, Any] = {
    "uplink_payload_bytes": 100,
    "downlink_payload_bytes": 50,
    "uplink_frame_s": 1.0,
    "downlink_frame_s": 2.0,
    "uplink_silence_s": 99.0,
    "downlink_silence_s": 18.0,
}
