"""Trains of frames against timelines by hand, LoRa's time on air, and a slow walk from frame to frame."""

from math import ceil
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hfedms_sim.frame_trains import downlink_train, polled_train, uplink_train
from hfedms_sim.scenario.frames import Frames
from tests.world.aloha import polled_s
from tests.world.radio.lora import LORAWAN_OVERHEAD_BYTES, time_on_air_s


def frames(**changes: Any) -> Frames:
    """Uplink frames of 100 bytes in 10 s, downlink frames of 50 bytes in 20 s; duty cycles of 10 and 50 %."""
    given: dict[str, Any] = {
        "uplink_payload_bytes": 100,
        "downlink_payload_bytes": 50,
        "uplink_frame_s": 10.0,
        "downlink_frame_s": 20.0,
        "uplink_silence_s": 90.0,
        "downlink_silence_s": 20.0,
    }
    return Frames.model_validate(given | changes)


def lora(spreading_factor: int, payload_bytes: int) -> Frames:
    full_s = time_on_air_s(payload_bytes + LORAWAN_OVERHEAD_BYTES, spreading_factor)
    return frames(
        uplink_payload_bytes=payload_bytes,
        downlink_payload_bytes=payload_bytes,
        uplink_frame_s=full_s,
        downlink_frame_s=full_s,
        uplink_silence_s=99 * full_s,
        downlink_silence_s=9 * full_s,
        empty_frame_s=time_on_air_s(LORAWAN_OVERHEAD_BYTES, spreading_factor),
    )


def test_every_frame_counts_as_a_full_one_unless_an_empty_one_is_known() -> None:
    """120 bytes: 10 s, 90 s of silence, 10 s. With empty frames of 5 s the second has 20 bytes: 6 s."""
    whole, short = uplink_train(frames(), 120), uplink_train(frames(empty_frame_s=5.0), 120)
    assert (whole.airtime_s(), whole.duration_s(), whole.last_silence_s) == (20.0, 110.0, 90.0)
    assert short.airtime_s() == pytest.approx(16.0)
    assert short.duration_s() == pytest.approx(106.0)
    assert short.last_silence_s == pytest.approx(54.0)


def test_frames_sent_again_have_the_mean_length_of_the_transfers_own() -> None:
    """Frames of 10 and 6 s with silences of 90 and 54 s: one more takes 8 s on the air and 72 s of silence."""
    train = uplink_train(frames(empty_frame_s=5.0), 120)
    assert train.airtime_s(1) - train.airtime_s() == pytest.approx(8.0)
    assert train.airtime_s(1) + train.pauses_s(1) - train.duration_s() == pytest.approx(80.0)


@pytest.mark.parametrize("size_bytes", [0, 1, 49, 50, 51, 500])
def test_without_empty_frames_a_train_is_the_law_of_full_frames_bit_for_bit(size_bytes: int) -> None:
    given = frames(uplink_frame_s=0.368896, uplink_silence_s=36.520704)
    train, count = uplink_train(given, size_bytes), max(1, ceil(size_bytes / 100))
    for again in (0, 1, 7):
        assert train.airtime_s(again) == (count + again) * 0.368896
        assert train.pauses_s(again) == (count + again - 1) * 36.520704
    assert train.last_silence_s == 36.520704


@pytest.mark.parametrize(("spreading_factor", "payload_bytes"), [(7, 222), (9, 115), (10, 51), (12, 51)])
def test_a_short_frame_is_loras_within_a_group_of_symbols(spreading_factor: int, payload_bytes: int) -> None:
    given, group_s = lora(spreading_factor, payload_bytes), 5 * 2**spreading_factor / 125e3
    for size_bytes in (0, 1, 4, 17, 36, payload_bytes - 1, payload_bytes):
        exact_s = time_on_air_s(size_bytes + LORAWAN_OVERHEAD_BYTES, spreading_factor)
        assert uplink_train(given, size_bytes).airtime_s() == pytest.approx(exact_s, abs=group_s)
        assert downlink_train(given, size_bytes).airtime_s() == pytest.approx(exact_s, abs=group_s)
    report_s = sum(time_on_air_s(each + LORAWAN_OVERHEAD_BYTES, spreading_factor) for each in (payload_bytes, 26))
    assert uplink_train(given, payload_bytes + 26).airtime_s() == pytest.approx(report_s, abs=group_s)


def test_a_sensor_of_class_a_polls_for_every_downlink_frame() -> None:
    """Polls of 5 s at 0, 50, 100 s: silent for 45 s after each. Frames of 20, 20 and 12 s from 6, 56, 106 s on."""
    given = frames(empty_frame_s=5.0, device_class="A")
    train = polled_train(given, given, 50 + 50 + 23)
    assert train.frames == 3
    assert train.answered_s == 50.0
    assert train.airtime_s() == pytest.approx(20.0 + 20.0 + 11.9)
    assert train.duration_s() == pytest.approx(106.0 + 11.9)


@pytest.mark.parametrize(
    ("changes", "answered_s"),
    [
        ({"uplink_silence_s": 0.0}, 40.0),  # the gateway's silence: 20 + 20
        ({"uplink_silence_s": 0.0, "downlink_silence_s": 0.0}, 31.0),  # poll, delay and frame: 10 + 1 + 20
        ({"uplink_silence_s": 0.0, "downlink_silence_s": 0.0, "receive_delay_s": 5.0}, 35.0),
    ],
)
def test_the_next_poll_waits_for_what_takes_longest(changes: dict[str, float], answered_s: float) -> None:
    given = frames(device_class="A", **changes)
    assert polled_train(given, given, 50).answered_s == answered_s


def test_a_poll_that_was_lost_is_sent_again_after_the_silence_and_both_windows() -> None:
    given = frames(device_class="A", empty_frame_s=5.0)
    assert polled_train(given, given, 50).lost_s == 50.0
    given = frames(device_class="A", empty_frame_s=5.0, uplink_silence_s=0.0, window_s=0.25)
    assert polled_train(given, given, 50).lost_s == 5.0 + 1.0 + 1.0 + 0.25


@settings(max_examples=200, deadline=None)
@given(
    size_bytes=st.integers(1, 400),
    lost=st.lists(st.integers(0, 3), min_size=8, max_size=8),
    empty_s=st.sampled_from([0.5, 3.0, 10.0]),
    silences=st.tuples(st.sampled_from([0.0, 0.1, 9.0, 99.0]), st.sampled_from([0.0, 1.0, 9.0])),
    delay_s=st.sampled_from([0.0, 1.0, 5.0]),
    window_s=st.sampled_from([0.0, 0.2]),
)
def test_polling_is_what_a_walk_from_frame_to_frame_finds(
    size_bytes: int, lost: list[int], empty_s: float, silences: tuple[float, float], delay_s: float, window_s: float
) -> None:
    given = frames(
        device_class="A",
        empty_frame_s=empty_s,
        uplink_silence_s=10.0 * silences[0],
        downlink_silence_s=20.0 * silences[1],
        receive_delay_s=delay_s,
        window_s=window_s,
    )
    train = polled_train(given, given, size_bytes)
    lost_before = lost[: train.frames]
    frames_s = [20.0] * (train.frames - 1) + [empty_s + (20.0 - empty_s) * (size_bytes - 50 * (train.frames - 1)) / 50]
    walked_s = polled_s(frames_s, lost_before, empty_s, delay_s, delay_s + 1.0 + window_s, silences)
    assert train.duration_s(sum(lost_before)) == pytest.approx(walked_s)
    assert train.airtime_s() == pytest.approx(sum(frames_s))
