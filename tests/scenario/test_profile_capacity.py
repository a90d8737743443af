"""What a cell carries apart from what one sensor can: c by hand, and which keys do not go together."""

from math import inf
from typing import Any

import pytest

from hfedms_sim.errors import InputError
from hfedms_sim.loading import load_scenario
from hfedms_sim.scenario import NetworkProfile

NB_IOT = {"name": "nb", "uplink_bps": 62e3, "downlink_bps": 26e3}
FRAMES = (
    "{uplink_payload_bytes: 1, downlink_payload_bytes: 1, uplink_frame_s: 1, downlink_frame_s: 1,"
    " uplink_silence_s: 1, downlink_silence_s: 1}"
)
DUTY = "{uplink: 0.1, downlink: 0.1}"
BLOCKS = "{uplink_bits: 1000, downlink_bits: 680, error_rate: 0.1}"


def profile(**changes: Any) -> NetworkProfile:
    return NetworkProfile.model_validate(NB_IOT | changes)


def test_without_capacities_the_channels_say_how_many_devices_are_served() -> None:
    assert (profile(channels=4).channels_in("up"), profile(channels=4).channels_in("down")) == (4.0, 4.0)
    assert profile(channels="dedicated").channels_in("down") == inf


def test_a_capacity_counts_devices_in_its_own_direction_and_may_be_a_fraction() -> None:
    radio = profile(uplink_capacity_bps=155e3)  # 155 / 62 = 2.5
    assert (radio.channels_in("up"), radio.channels_in("down")) == (2.5, 1.0)
    both = profile(uplink_capacity_bps=155e3, downlink_capacity_bps=65e3, duplex="cell-half")  # 65 / 26 = 2.5
    assert (both.channels_in("up"), both.channels_in("down")) == pytest.approx((2.5, 2.5))


@pytest.mark.parametrize(
    ("keys", "message"),
    [
        ("uplink_capacity_bps: 20000, channels: 2", "uplink_capacity_bps is for fair sharing", ),
        ("downlink_capacity_bps: 20000, channels: dedicated", "leave out channels other than 1"),
        ("uplink_capacity_bps: 20000, sharing: fifo", "leave out sharing: fifo"),
        ("uplink_capacity_bps: 20000, resource_units: 12", "leave out resource_units"),
        (f"uplink_capacity_bps: 20000, duty_cycle: {DUTY}", "leave out duty_cycle"),
        (f"uplink_capacity_bps: 20000, frames: {FRAMES}", "leave out frames"),
        ("downlink_capacity_bps: 9999", "downlink_capacity_bps (9999) must be at least downlink_bps (10000)"),
        ("uplink_capacity_bps: 20000, duplex: cell-half", "the same multiple of their rates; here 2 up and 1 down"),
        ("uplink_capacity_bps: 0", "uplink_capacity_bps = 0: must be at least 0.001"),
        ("repetitions: [{coupling_loss_db: 1, uplink_bps: 1, downlink_bps: 1, latency_s: -1}]", "must be at least 0"),
        ("resource_units: 12, sharing: fifo", "under fifo a transfer has a whole channel"),
        ("resource_units: 12, channels: dedicated", "resource_units needs a number of channels"),
        (f"blocks: {BLOCKS}, frames: {FRAMES}", "frames have collisions of their own"),
        (f"duty_cycle: {DUTY}, frames: {FRAMES}", "frames have silences"),
        (f"duty_cycle: {DUTY}, sharing: fifo", "duty_cycle is for sharing: fair"),
        (f"release_assistance: true, frames: {FRAMES}", "release_assistance is for connections"),
    ],
)  # fmt: skip
def test_what_does_not_go_together_is_refused_in_one_line(keys: str, message: str) -> None:
    with pytest.raises(InputError) as caught:
        load_scenario(
            "quickstart", overrides=[f"cells.0.profile={{name: x, uplink_bps: 10000, downlink_bps: 10000, {keys}}}"]
        )
    assert message in str(caught.value)
    assert "\n" not in str(caught.value)


def test_a_coverage_class_has_its_own_latency_or_the_profiles() -> None:
    classes = [
        {"coupling_loss_db": 144.0, "uplink_bps": 1e3, "downlink_bps": 1e3},
        {"coupling_loss_db": 154.0, "uplink_bps": 1e3, "downlink_bps": 1e3, "latency_s": 0.4},
    ]
    assert profile(latency_s=0.1, repetitions=classes).class_latencies_s == (0.1, 0.4)
    assert profile(latency_s=0.1).class_latencies_s == (0.1,)
