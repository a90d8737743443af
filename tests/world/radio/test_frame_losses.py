"""Lost frames: the laws against a simulation of every frame, and against tables."""

from collections.abc import Sequence
from math import exp, inf, log

import numpy as np
import pytest

from hfedms_sim.frame_trains import Rhythm
from hfedms_sim.rounds import Payload
from hfedms_sim.world.radio.airspace import Airspace, Sender, Voice
from hfedms_sim.world.radio.blocks import NegativeBinomial, law_of_failures, negative_binomial_table
from hfedms_sim.world.radio.frame_losses import LEAST_ARRIVING, Deafness, loss_probability, lost_frames, overlap
from tests.world.aloha import sent_again_per_frame
from tests.world.cells import transfer

FRAME_S, SILENCE_S = 0.368896, 36.520704  # LoRaWAN, spreading factor 7, 222 bytes, 1 %
SF7 = Rhythm(FRAME_S, FRAME_S + SILENCE_S)
TOLERANCE = 0.05


def sensor(number: int) -> Sender:
    return ("up", number)


def crowd(sensors: int) -> Airspace:
    """Return a gateway's airspace with so many sensors on the air."""
    airspace = Airspace(1)
    for number in range(sensors):
        airspace.enter(sensor(number), transfer("up", number), Voice(0, SF7, None))
    return airspace


def expected_again(sensors: int, channels: int, frames: int = 1, deaf: Sequence[Deafness] = ()) -> float:
    """Return how often a frame of sensor 0 is sent again, on average."""
    met = crowd(sensors).uplink_frames_met(sensor(0), 0, FRAME_S)
    loss = loss_probability(met, channels, frames, deaf)
    return loss / (1 - loss)


@pytest.mark.parametrize(("sensors", "published"), [(100, 0.92), (30, 0.22)])
def test_collisions_are_those_of_a_simulation_of_every_frame(sensors: int, published: float) -> None:
    simulated = sent_again_per_frame(sensors, 1000, FRAME_S, SILENCE_S, 3, np.random.default_rng(1))
    expected = expected_again(sensors, 3)
    assert expected == pytest.approx(simulated, rel=TOLERANCE)
    assert expected == pytest.approx(published, rel=TOLERANCE)


@pytest.mark.parametrize("downlink_frame_s", [0.1, FRAME_S, 1.0])
def test_a_gateway_that_sends_misses_what_a_simulation_of_every_frame_misses(downlink_frame_s: float) -> None:
    """At a duty cycle of 10 %; frames of one length lose (T + T) / 10 T, a fifth."""
    downlink = Rhythm(downlink_frame_s, 10 * downlink_frame_s)
    simulated = sent_again_per_frame(1, 20_000, FRAME_S, SILENCE_S, 3, np.random.default_rng(2), (*downlink, inf))
    expected = expected_again(1, 3, 20_000, [Deafness(overlap(FRAME_S, downlink), inf)])
    assert expected == pytest.approx(simulated, rel=TOLERANCE)
    if downlink_frame_s == FRAME_S:
        assert expected == pytest.approx(1 / 0.8 - 1)


@pytest.mark.parametrize(("period", "downlink_periods"), [(10.0, 50), (10.0, 1000), (3.0, 200), (1.0, 200)])
def test_a_gateway_is_deaf_until_its_downlink_is_over(period: float, downlink_periods: int) -> None:
    """While 30 sensors send 500 frames each. Where the downlink never pauses, nothing gets through meanwhile."""
    downlink, until_s = Rhythm(FRAME_S, period * FRAME_S), downlink_periods * SF7.period_s
    simulated = [
        sent_again_per_frame(30, 500, FRAME_S, SILENCE_S, 3, np.random.default_rng(seed), (*downlink, until_s))
        for seed in range(4)
    ]
    deaf = Deafness(min(1.0, overlap(FRAME_S, downlink)), downlink_periods)
    assert expected_again(30, 3, 500, [deaf]) == pytest.approx(np.mean(simulated), rel=TOLERANCE)


def test_short_frames_meet_less_than_long_ones() -> None:
    """There is one other sender with frames of 2 s every 100 s: (1 + 2) / 100 and (3 + 2) / 100."""
    airspace = Airspace(1)
    airspace.enter(sensor(1), transfer("up", 1), Voice(0, Rhythm(2.0, 100.0), None))
    assert airspace.uplink_frames_met(sensor(2), 0, 1.0) == pytest.approx(0.03)
    assert airspace.uplink_frames_met(sensor(2), 0, 3.0) == pytest.approx(0.05)
    assert airspace.uplink_frames_met(sensor(1), 0, 1.0) == 0


def test_a_sender_is_on_the_air_with_one_transfer_at_a_time() -> None:
    airspace, short, long = Airspace(1), Rhythm(1.0, 100.0), Rhythm(4.0, 400.0)
    first, second = (transfer("up", 1, Payload("model", size_bytes)) for size_bytes in (1, 2))
    airspace.enter(sensor(1), first, Voice(0, short, None))
    airspace.enter(sensor(1), second, Voice(0, long, None))
    assert airspace.uplink_frames_met(sensor(2), 0, 1.0) == pytest.approx(2 / 100)
    airspace.leave(sensor(1), first)
    assert airspace.uplink_frames_met(sensor(2), 0, 1.0) == pytest.approx(5 / 400)
    airspace.leave(sensor(1), second)
    airspace.leave(sensor(1), second)
    assert airspace.uplink_frames_met(sensor(2), 0, 1.0) == 0


def test_a_transfer_that_gives_up_its_place_in_the_queue_leaves_the_first_on_the_air() -> None:
    airspace, gateway = Airspace(1), ("down", -1)
    sent = {number: transfer("down", number) for number in (1, 2, 3)}
    for number in sent:
        airspace.enter(gateway, sent[number], Voice(0, None, Rhythm(number, 100.0)))
    for leaving, on_air in ((2, 1.0), (1, 3.0)):
        airspace.leave(gateway, sent[leaving])
        assert airspace.downlinks == {gateway: Rhythm(on_air, 100.0)}
    airspace.leave(gateway, sent[3])
    assert airspace.downlinks == {}


def test_a_jammed_channel_takes_an_absurd_time_and_no_memory() -> None:
    loss = loss_probability(met=1e6, channels=1.0)
    assert loss == 1 - LEAST_ARRIVING
    for uniform in (0.01, 0.5, 0.99):
        exact = log(1 - uniform) / log(loss)  # one frame: geometric
        assert lost_frames(1, loss, uniform) == pytest.approx(exact, rel=1e-6)
    many = lost_frames(100_000, loss, 0.5)
    assert many == pytest.approx(100_000 / LEAST_ARRIVING, rel=1e-4)


@pytest.mark.parametrize(("frames", "loss"), [(1, 0.999), (3, 0.999), (1000, 0.99), (500_000, 0.5)])
def test_a_long_table_and_the_function_instead_of_it_agree(frames: int, loss: float) -> None:
    assert isinstance(law_of_failures(frames, loss), NegativeBinomial)  # a table would be long
    for uniform in (1e-6, 0.1, 0.5, 0.9, 1 - 1e-6):
        assert lost_frames(frames, loss, uniform) == negative_binomial_table(frames, loss).failed(uniform)


def test_nothing_is_lost_by_a_sender_that_is_alone() -> None:
    assert loss_probability(met=0.0, channels=3.0) == 0
    assert lost_frames(1000, 0.0, 1 - 1e-12) == 0
    assert loss_probability(met=0.3, channels=3.0) == pytest.approx(1 - exp(-0.1))
