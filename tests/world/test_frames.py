"""Frames: duty cycles are kept, transfers take their closed form, collisions follow the ALOHA law."""

from math import exp
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hfedms_sim.feasibility import radio_costs
from hfedms_sim.rounds import Direction
from hfedms_sim.scenario import load_profile, load_scenario
from hfedms_sim.scenario.profile import Frames
from hfedms_sim.simulation import run
from hfedms_sim.world.air import Need
from hfedms_sim.world.clock import Clock
from hfedms_sim.world.frames import FrameAir
from hfedms_sim.world.lora import time_on_air_s
from tests.conftest import tiny_scenario
from tests.world.waiting import run_until

FRAMES = Frames(
    uplink_payload_bytes=100,
    downlink_payload_bytes=50,
    uplink_frame_s=1.0,
    downlink_frame_s=2.0,
    uplink_silence_s=99.0,
    downlink_silence_s=18.0,
)


def frames(direction: Direction, count: int) -> Need:
    return Need(count * {"up": 1.0, "down": 2.0}[direction], 0, count)


def air(env: Clock, channels: float = 3) -> FrameAir:
    return FrameAir(env, FRAMES, channels, latency_s=0.0)


def test_a_transfer_is_its_frames_and_the_silences_between_them(env: Clock) -> None:
    one = air(env)
    one.foresee("up", 250, [1], np.array([0.5]))
    need = one.need("up", 1, 250, 1.0)
    assert need == (3.0, 0, 3)
    run_until(env, one.send("up", 1, need))
    assert env.now == 3 * 1.0 + 2 * 99.0


def test_the_silence_after_a_transfer_holds_up_the_senders_next(env: Clock) -> None:
    one = air(env)
    run_until(env, one.send("up", 1, frames("up", 1)))
    delivery = one.send("up", 1, frames("up", 1))
    run_until(env, delivery)
    assert (delivery.value, env.now) == (100.0, 101.0)
    other = one.send("up", 2, frames("up", 1))
    run_until(env, other)
    assert other.value == 101.0


def test_the_gateway_is_one_sender_for_all(env: Clock) -> None:
    one = air(env)
    first, second = one.send("down", 1, frames("down", 2)), one.send("down", 2, frames("down", 1))
    run_until(env, first)
    assert env.now == 2 * 2.0 + 18.0
    run_until(env, second)
    assert (second.value, env.now) == (40.0, 42.0)


def test_a_quota_is_each_sensors_own(env: Clock) -> None:
    one = FrameAir(env, FRAMES.model_copy(update={"downlink_limit": "sensor"}), 1, latency_s=0.0)
    first, second, again = (
        one.send("down", 1, frames("down", 1)),
        one.send("down", 2, frames("down", 1)),
        one.send("down", 1, frames("down", 1)),
    )
    run_until(env, again)
    assert [each.value for each in (first, second, again)] == [0.0, 0.0, 20.0]


def test_sigfox_carries_140_uplinks_and_4_downlinks_a_day() -> None:
    given = load_profile("sigfox-rc1").frames
    assert given is not None
    assert 86_400 / (given.uplink_frame_s + given.uplink_silence_s) == pytest.approx(140, rel=1e-6)
    assert 86_400 / (given.downlink_frame_s + given.downlink_silence_s) == pytest.approx(4)


def test_a_model_over_sigfox_takes_43_years() -> None:
    (cost,) = radio_costs(load_scenario("paper-stream", profile="sigfox-rc1"))
    assert cost.model_up_s / (365.25 * 86_400) == pytest.approx(43.6, abs=0.1)


def test_collisions_follow_the_aloha_law_at_the_current_load(env: Clock) -> None:
    one = air(env)
    assert one.collision_probability() == 0
    for sensor in range(30):
        one.send("up", sensor, frames("up", 1000))
    assert one.collision_probability() == pytest.approx(1 - exp(-2 * 30 * 0.01 / 3))
    one.foresee("down", 50_000, [1], np.array([0.99]))
    one.foresee("up", 100_000, [1], np.array([0.99]))
    assert one.need("down", 1, 50_000, 1.0).retransmitted_bytes == 0
    assert one.need("up", 1, 100_000, 1.0).retransmitted_bytes > 0


def test_the_aloha_law_is_what_colliding_frames_do() -> None:
    """Poisson starts at load G; a frame survives if no other starts within its length before or after it."""
    rng = np.random.default_rng(0)
    for load in (0.05, 0.2, 0.5):
        starts = np.cumsum(rng.exponential(1 / load, 200_000))
        gaps = np.diff(starts)
        survived = float(np.mean((gaps[:-1] > 1) & (gaps[1:] > 1)))
        assert survived == pytest.approx(exp(-2 * load), abs=4 * 0.5 / np.sqrt(len(gaps)))


@settings(max_examples=25, deadline=None)
@given(st.sampled_from([7, 9, 12]), st.sampled_from(["unicast", "broadcast"]), st.integers(0, 100))
def test_no_sender_exceeds_its_duty_cycle_in_any_hour_by_more_than_a_frame(
    spreading: int, scatter: Any, seed: int
) -> None:
    profile = load_profile(f"lorawan-eu868-sf{spreading}")
    assert profile.frames is not None
    strategy = {"name": "hfedms-d", "interval": 3, "beta": 2, "sample_ratio": 0.5, "scatter": scatter}
    scenario = tiny_scenario(
        seed=seed, cells=[{"name": "g", "profile": profile.model_dump(mode="json")}], strategy=strategy, rounds=4
    )
    transfers = run(scenario, timing_only=True, allow_infeasible=True).transfers
    for direction, frame_s, silence_s, duty in (
        ("up", profile.frames.uplink_frame_s, profile.frames.uplink_silence_s, 0.01),
        ("down", profile.frames.downlink_frame_s, profile.frames.downlink_silence_s, 0.1),
    ):
        rows = transfers[transfers["direction"] == direction]
        senders = rows.groupby("sensor") if direction == "up" else [(0, rows)]
        for _, own in senders:
            starts_s = np.concatenate(
                [
                    row.start_s + np.arange(round(row.airtime_s / frame_s)) * (frame_s + silence_s)
                    for row in own.sort_values("start_s").itertuples()
                ]
            )
            in_hour = np.searchsorted(starts_s, starts_s + 3600.0 - 1e-6) - np.arange(len(starts_s))
            assert (in_hour * frame_s).max() <= 3600.0 * duty + frame_s * (1 + 1e-9)


@pytest.mark.parametrize("spreading", [7, 8, 9, 10, 11, 12])
def test_the_shipped_frames_are_the_closed_form(spreading: int) -> None:
    frames = load_profile(f"lorawan-eu868-sf{spreading}").frames
    assert frames is not None
    frame_s = time_on_air_s(frames.uplink_payload_bytes + 13, spreading)
    assert frames.uplink_frame_s == pytest.approx(frame_s, rel=1e-5)
    assert frames.uplink_silence_s == pytest.approx(99 * frame_s, rel=1e-5)
    assert frames.downlink_silence_s == pytest.approx(9 * frame_s, rel=1e-5)
