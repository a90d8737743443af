"""Frames: duty cycles are kept, transfers take their closed form, collisions follow the ALOHA law."""

from collections.abc import Iterable
from math import ceil, exp
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from simpy import Environment, Interrupt
from simpy.events import ProcessGenerator

from hfedms_sim.feasibility import radio_costs
from hfedms_sim.loading import load_scenario
from hfedms_sim.models import spec_of
from hfedms_sim.rounds import Direction, Payload
from hfedms_sim.scenario import NetworkProfile, load_profile
from hfedms_sim.seeds import Draws
from hfedms_sim.simulation import run
from hfedms_sim.trace import Trace
from hfedms_sim.transfers import Demand
from hfedms_sim.world.processes import AllDone, Process
from hfedms_sim.world.radio.blocks import failed_blocks
from hfedms_sim.world.radio.delivery import Delivery
from hfedms_sim.world.radio.frame_medium import FrameMedium
from hfedms_sim.world.radio.loss_draws import LossDraws
from tests.conftest import tiny_scenario
from tests.world.cells import SEED, SENSORS, make_cell, transfer
from tests.world.frames import FRAMES
from tests.world.radio.lora import time_on_air_s


def medium(env: Environment, channels: int = 3, duplex: str = "full", **changes: Any) -> FrameMedium:
    radio = {"name": "test", "uplink_bps": 1e3, "downlink_bps": 1e3, "channels": channels, "duplex": duplex}
    profile = NetworkProfile.model_validate(radio | {"frames": FRAMES | changes})
    return FrameMedium(env, profile, lambda sensor: 0, LossDraws(Draws(1), 40))


def send(one: FrameMedium, direction: Direction, sensor: int, frames: int) -> Delivery:
    demand = Demand(frames * {"up": 1.0, "down": 2.0}[direction], 0)
    return one.send(transfer(direction, sensor), demand)


ONE_FRAME = Payload("model", 100)


def rows(trace: Trace) -> list[dict[str, Any]]:
    return list(trace.transfers.gathered().to_pylist())


def test_a_transfer_is_its_frames_and_the_silences_between_them(env: Environment) -> None:
    one, sent = medium(env), transfer("up", 1, Payload("model", 250))
    assert one.demand(sent, 1.0) == Demand(3.0, 0)
    env.run(one.send(sent, one.demand(sent, 1.0)))
    assert env.now == 3 * 1.0 + 2 * 99.0


def test_the_silence_after_a_transfer_holds_up_the_senders_next(env: Environment) -> None:
    one = medium(env)
    env.run(send(one, "up", 1, 1))
    assert env.run(send(one, "up", 1, 1)) == 100.0
    assert env.now == 101.0
    assert env.run(send(one, "up", 2, 1)) == 101.0


def test_the_gateway_is_one_sender_for_all(env: Environment) -> None:
    one = medium(env)
    first, second = send(one, "down", 1, 2), send(one, "down", 2, 1)
    env.run(first)
    assert env.now == 2 * 2.0 + 18.0
    assert env.run(second) == 40.0
    assert env.now == 42.0


def test_a_quota_is_each_sensors_own(env: Environment) -> None:
    one = medium(env, 1, downlink_limit="sensor")
    sent = [send(one, "down", sensor, 1) for sensor in (1, 2, 1)]
    env.run(sent[-1])
    assert [each.value for each in sent] == [0.0, 0.0, 20.0]


def test_what_waits_behind_a_cancelled_transfer_moves_up(env: Environment) -> None:
    """Three downlinks of two frames (0, 20 | 40, 60 | 80, 100). The second is cancelled: the third takes its place."""
    one = medium(env)
    first, second, third = (send(one, "down", sensor, 2) for sensor in (1, 2, 3))
    env.run(until=30.0)
    assert second.cancel() == 0.0
    assert env.run(first) == 0.0
    assert env.run(third) == 40.0
    assert env.now == 62.0


@pytest.mark.parametrize(
    ("cancelled_s", "airtime_s", "next_s"),
    [(1.0, 1.0, 19.0), (2.0, 2.0, 20.0), (10.0, 2.0, 20.0), (21.0, 3.0, 39.0), (30.0, 4.0, 40.0)],
)
def test_a_cancelled_transfer_has_sent_its_frames_so_far_and_is_silent_after_the_last(
    env: Environment, cancelled_s: float, airtime_s: float, next_s: float
) -> None:
    """Frames of 2 s at 0, 20, 40, ... each followed by 18 s of silence; a frame is cut where it is cancelled."""
    one = medium(env)
    first, second = send(one, "down", 1, 5), send(one, "down", 2, 1)
    env.run(until=cancelled_s)
    assert first.cancel() == pytest.approx(airtime_s)
    assert env.run(second) == pytest.approx(next_s)


def test_a_cancelled_uplink_no_longer_collides(env: Environment) -> None:
    one = medium(env)
    sent = [send(one, "up", sensor, 1000) for sensor in range(30)]
    sent[0].cancel()
    assert one.loss_probability(transfer("up", 31)) == pytest.approx(1 - exp(-2 * 29 * 0.01 / 3))
    env.run(until=1.0)
    assert one.loss_probability(transfer("up", 31)) == pytest.approx(1 - exp(-2 * 29 * 0.01 / 3))


def test_sigfox_carries_140_uplinks_and_4_downlinks_a_day() -> None:
    given = load_profile("sigfox-rc1").frames
    assert given is not None
    assert 86_400 / (given.uplink_frame_s + given.uplink_silence_s) == pytest.approx(140, rel=1e-6)
    assert 86_400 / (given.downlink_frame_s + given.downlink_silence_s) == pytest.approx(4)


def test_a_model_over_sigfox_takes_43_years() -> None:
    (cost,) = radio_costs(load_scenario("paper-stream", profile="sigfox-rc1"), spec_of("cnn"))
    assert cost.model_up_s / (365.25 * 86_400) == pytest.approx(43.6, abs=0.1)


def test_collisions_follow_the_aloha_law_at_the_current_load(env: Environment) -> None:
    one = medium(env)
    assert one.loss_probability(transfer("up", 31)) == 0
    for sensor in range(30):
        send(one, "up", sensor, 1000)
    assert one.loss_probability(transfer("up", 31)) == pytest.approx(1 - exp(-2 * 30 * 0.01 / 3))
    assert one.demand(transfer("down", 31, Payload("model", 50_000)), 1.0).retransmitted_bytes == 0
    assert one.demand(transfer("up", 31, Payload("model", 100_000)), 1.0).retransmitted_bytes > 0


@pytest.mark.parametrize("order", [range(20), range(19, -1, -1), np.random.default_rng(0).permutation(20).tolist()])
def test_uplinks_that_are_ready_together_all_meet_all_others(env: Environment, order: Iterable[int]) -> None:
    """In whatever order they are told of: each takes what a transfer takes that meets the 19 others."""
    trace, payload = Trace(), Payload("model", 200_000)
    cell = make_cell(env, trace, channels=3, frames=FRAMES)
    env.run(AllDone(env, (cell.transmit(transfer("up", sensor, payload)) for sensor in order)))
    loss = 1 - exp(-2 * 19 * 0.01 / 3)
    draws = LossDraws(Draws(SEED), SENSORS)
    again = {row["sensor"]: row["retransmitted_bytes"] // 100 for row in rows(trace)}
    assert again == {
        sensor: failed_blocks(2000, loss, draws.of(transfer("up", sensor, payload))) for sensor in range(20)
    }
    assert sum(again.values()) / (20 * 2000) == pytest.approx(loss / (1 - loss), rel=0.05)


def test_those_that_are_ready_later_in_the_same_instant_count_too(env: Environment) -> None:
    """The second is brought about by an event that the first does not know of yet."""
    trace = Trace()
    cell = make_cell(env, trace, channels=1, frames=FRAMES | {"uplink_silence_s": 9.0})

    def late() -> ProcessGenerator:
        for _ in range(3):
            yield env.timeout(0)
        yield from cell.transmit(transfer("up", 2, Payload("model", 50_000)))

    env.run(AllDone(env, (cell.transmit(transfer("up", 1, Payload("model", 50_000))), late())))
    assert [row["ready_s"] for row in rows(trace)] == [0.0, 0.0]
    assert all(
        row["retransmitted_bytes"] > 50 * 100 for row in rows(trace)
    )  # each loses about 1 - exp(-0.2) of its 500 frames


def test_an_interrupted_uplink_is_no_load(env: Environment) -> None:
    cell = make_cell(env, channels=3, frames=FRAMES)
    medium = cell.medium
    assert isinstance(medium, FrameMedium)
    one = Process(env, cell.transmit(transfer("up", 1)))
    one.interrupt()
    with pytest.raises(Interrupt):
        env.run(one)
    assert medium.loss_probability(transfer("up", 2)) == 0


def test_a_gateway_is_deaf_while_it_sends_if_its_radio_is_half_duplex(env: Environment) -> None:
    """Downlink frames of 2 s every 20 s, for 400 s; an uplink frame of 1 s overlaps one with probability 3 / 20."""
    for duplex, loss in (("cell-half", 0.15), ("full", 0.0), ("device-half", 0.0)):
        one = medium(env, duplex=duplex)
        send(one, "down", 1, 10)
        send(one, "down", 2, 10)  # waits: there is one downlink
        assert one.loss_probability(transfer("up", 3, ONE_FRAME)) == pytest.approx(loss)


def test_a_gateway_hears_again_when_its_downlinks_are_over(env: Environment) -> None:
    """At 2 s the downlink has 20 s to go, in which a sensor begins a fifth of a frame, and loses 3 / 20 of that."""
    one = medium(env, duplex="cell-half")
    sent = [send(one, "down", sensor, 1) for sensor in (1, 2)]
    env.run(sent[0])
    again = 0.15 * 20 / 100
    assert one.loss_probability(transfer("up", 3, ONE_FRAME)) == pytest.approx(again / (1 + again))
    env.run(sent[1])
    assert one.loss_probability(transfer("up", 3, ONE_FRAME)) == 0


def test_a_downlink_without_silence_only_delays_uplinks(env: Environment) -> None:
    """It takes 1,000 s: the ten frames that a sensor begins in them are all lost."""
    one = medium(env, duplex="cell-half", downlink_silence_s=0.0)
    send(one, "down", 1, 500)
    assert one.loss_probability(transfer("up", 3, Payload("model", 4_000))) == pytest.approx(10 / 50)


def test_a_short_frame_and_its_silence_are_in_proportion(env: Environment) -> None:
    """120 bytes: frames of 1 s and, with 20 of 100 bytes, 0.5 + 0.5 x 0.2 = 0.6 s, silent for 59.4 s after it."""
    one, sent = medium(env, empty_frame_s=0.5), transfer("up", 1, Payload("model", 120))
    demand = one.demand(sent, 1.0)
    assert demand.airtime_s == pytest.approx(1.6)
    env.run(one.send(sent, demand))
    assert env.now == pytest.approx(100.6)
    assert env.run(one.send(sent, demand)) == pytest.approx(160.0)


def test_short_frames_that_are_sent_again_count_with_the_bytes_they_carry(env: Environment) -> None:
    one = medium(env, 1, empty_frame_s=0.5, uplink_silence_s=9.0)
    for sensor in range(30):
        send(one, "up", sensor, 1000)
    demand = one.demand(transfer("up", 31, Payload("model", 10)), 1.0)
    assert demand.retransmitted_bytes == 10 * round(demand.airtime_s / 0.55 - 1)
    assert demand.retransmitted_bytes > 0


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
        ("up", profile.frames.uplink_frame_s, profile.frames.uplink_silence_s, 0.02),
        ("down", profile.frames.downlink_frame_s, profile.frames.downlink_silence_s, 0.1),
    ):
        rows = transfers[transfers["direction"] == direction]
        senders = rows.groupby("sensor") if direction == "up" else [(0, rows)]
        for _, own in senders:
            frames = [
                (row.start_s + number * (frame_s + silence_s), min(frame_s, row.airtime_s - number * frame_s))
                for row in own.sort_values("start_s").itertuples()
                for number in range(ceil(row.airtime_s / frame_s - 1e-9))
            ]
            starts_s, lengths_s = np.array(frames).T
            sent_s = np.concatenate([[0.0], np.cumsum(lengths_s)])
            in_hour_s = sent_s[np.searchsorted(starts_s, starts_s + 3600.0 - 1e-6)] - sent_s[:-1]
            assert in_hour_s.max() <= 3600.0 * duty + frame_s * (1 + 1e-9)


@pytest.mark.parametrize("spreading", [7, 8, 9, 10, 11, 12])
def test_the_shipped_frames_are_the_closed_form(spreading: int) -> None:
    frames = load_profile(f"lorawan-eu868-sf{spreading}").frames
    assert frames is not None
    frame_s = time_on_air_s(frames.uplink_payload_bytes + 13, spreading)
    assert frames.uplink_frame_s == pytest.approx(frame_s, rel=1e-5)
    assert frames.uplink_silence_s == pytest.approx(49 * frame_s, rel=1e-5)  # two sub-bands of 1 % each, in turn
    assert frames.downlink_silence_s == pytest.approx(9 * frame_s, rel=1e-5)
