"""Frames of a profile: short frames are short, and every coverage class has frames."""

from typing import Any

import pytest
from pydantic import ValidationError

from hfedms_sim.scenario import NetworkProfile
from hfedms_sim.scenario.frames import Frames, FrameTimes
from tests.world.frames import FRAMES

SLOW = FRAMES | {"uplink_frame_s": 4.0, "uplink_silence_s": 396.0}


def profile(**changes: Any) -> NetworkProfile:
    return NetworkProfile.model_validate({"name": "test", "uplink_bps": 1e3, "downlink_bps": 1e3} | changes)


def coverage_class(coupling_loss_db: float, **changes: Any) -> dict[str, Any]:
    return {"coupling_loss_db": coupling_loss_db, "uplink_bps": 1e3, "downlink_bps": 1e3} | changes


def test_an_empty_frame_is_no_longer_than_a_full_one() -> None:
    assert FrameTimes.model_validate(FRAMES | {"empty_frame_s": 1.0}).empty_frame_s == 1.0
    with pytest.raises(ValidationError, match=r"empty_frame_s must be at most .* here 1"):
        FrameTimes.model_validate(FRAMES | {"empty_frame_s": 1.5})


def test_frames_are_of_class_c_unless_they_say_otherwise() -> None:
    frames = Frames.model_validate(FRAMES)
    assert (frames.device_class, frames.receive_delay_s, frames.window_s, frames.empty_frame_s) == ("C", 1.0, 0.0, None)


def test_a_profile_without_classes_has_one_kind_of_frames_or_none() -> None:
    assert profile().frame_classes == ()
    assert profile(frames=FRAMES).frame_classes == (Frames.model_validate(FRAMES),)


def test_a_coverage_class_without_frames_of_its_own_has_the_profiles() -> None:
    one = profile(frames=FRAMES, repetitions=[coverage_class(130.0), coverage_class(140.0, frames=SLOW)])
    assert [each.uplink_frame_s for each in one.frame_classes] == [1.0, 4.0]


def test_frames_of_a_class_need_frames_of_the_profile() -> None:
    with pytest.raises(ValidationError, match="repetitions have frames, but the profile has none"):
        profile(repetitions=[coverage_class(130.0, frames=FRAMES)])
