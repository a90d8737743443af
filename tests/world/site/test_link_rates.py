"""Rates of placed sensors: by hand, and never above Shannon's bound, which is written out again here."""

import math
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from hfedms_sim.scenario import NetworkProfile, load_profile, shipped
from hfedms_sim.scenario.base import Direction
from hfedms_sim.world.site.link_rates import classes_of, rate_share, shannon_bps

BUDGETED = [name for name in sorted(shipped("profile")) if load_profile(name).budget is not None]
NB_IOT = {
    "name": "nb",
    "uplink_bps": 62e3,
    "downlink_bps": 26e3,
    "budget": {"carrier_ghz": 0.8, "bandwidth_hz": 180e3, "device_power_dbm": 23.0, "base_power_dbm": 30.0},
    "repetitions": [
        {"coupling_loss_db": 144.0, "uplink_bps": 62e3, "downlink_bps": 26e3},
        {"coupling_loss_db": 154.0, "uplink_bps": 19.61e3, "downlink_bps": 9.067e3},
        {"coupling_loss_db": 164.0, "uplink_bps": 5.848e3, "downlink_bps": 1.456e3},
    ],
}


def profile(**budget: Any) -> NetworkProfile:
    return NetworkProfile.model_validate(NB_IOT | {"budget": {**NB_IOT["budget"], **budget}})  # type: ignore[dict-item]


def rates_bps(radio: NetworkProfile, direction: Direction, losses_db: list[float]) -> list[float]:
    """The rates of sensors with these coupling losses."""
    losses = np.array(losses_db)
    share = rate_share(radio, direction, classes_of(radio, losses), snr_db(radio, direction) - losses)
    return [float(each) * radio.rate_bps(direction) for each in share]


def snr_db(radio: NetworkProfile, direction: Direction) -> float:
    """At a coupling loss of 0 dB: power - (-174 + 10 lg B + noise figure)."""
    budget = radio.budget
    assert budget is not None
    power_dbm = budget.device_power_dbm if direction == "up" else budget.base_power_dbm
    figure_db = budget.base_noise_figure_db if direction == "up" else budget.device_noise_figure_db
    return power_dbm + 174 - 10 * math.log10(budget.bandwidth_hz) - figure_db


def bound_bps(radio: NetworkProfile, direction: Direction, loss_db: float) -> float:
    assert radio.budget is not None
    snr = 10 ** ((snr_db(radio, direction) - loss_db) / 10)
    return radio.budget.streams * radio.budget.bandwidth_hz * math.log1p(snr) / math.log(2)


def test_deep_coverage_is_bound_by_the_power_and_not_by_the_table() -> None:
    # 10 lg 180e3 = 52.552725: noise up -116.447275 dBm, down -112.447275. At 154 dB: SNR up 23 - 154 + 116.447275
    # = -14.552725 dB = 0.0350532, log2(1.0350532) = 0.0497050, times 180 kHz = 8,946.9 bit/s, less than the table's.
    # Down 30 - 154 + 112.447275 = -11.552725 dB = 0.0699403: 0.0975303 x 180 kHz = 17,555 bit/s: the table's holds.
    # At 164 dB a tenth of the SNR: 0.00504826 x 180 kHz = 908.69 bit/s up, 0.0100551 x 180 kHz = 1,810 down.
    assert rates_bps(profile(), "up", [144.0, 154.0, 164.0]) == pytest.approx([62e3, 8_946.9, 908.69], rel=1e-4)
    assert rates_bps(profile(), "down", [144.0, 154.0, 164.0]) == pytest.approx([26e3, 9_067.0, 1_456.0])


def test_a_class_whose_first_sensors_stand_nearer_gives_them_its_rate() -> None:
    """At 150 dB the uplink could carry 22 kbit/s; its class has 19.61."""
    assert bound_bps(profile(), "up", 150.0) > 19.61e3
    assert rates_bps(profile(), "up", [145.0, 150.0]) == pytest.approx([19.61e3] * 2)


def test_powers_noise_figures_and_streams_all_matter() -> None:
    plain = rates_bps(profile(), "up", [164.0])[0]
    assert rates_bps(profile(device_power_dbm=20.0), "up", [164.0])[0] == pytest.approx(plain / 2, rel=0.01)
    assert rates_bps(profile(base_noise_figure_db=2.0), "up", [164.0])[0] == pytest.approx(plain * 2, rel=0.01)
    assert rates_bps(profile(streams=3), "up", [164.0])[0] == pytest.approx(plain * 3)
    assert rates_bps(profile(base_power_dbm=20.0), "up", [164.0])[0] == plain
    weak = profile(base_power_dbm=20.0)
    assert bound_bps(weak, "down", 164.0) < 1_456.0
    assert rates_bps(weak, "down", [164.0]) == pytest.approx([bound_bps(weak, "down", 164.0)])
    noisy = profile(base_power_dbm=20.0, device_noise_figure_db=12.0)
    assert rates_bps(noisy, "down", [164.0])[0] == pytest.approx(rates_bps(weak, "down", [164.0])[0] / 2, rel=0.01)


def test_a_rate_that_follows_the_signal_is_bound_where_the_profile_promises_more_than_its_bandwidth_has() -> None:
    """150 Mbit/s in 20 MHz is 7.5 bit/s a Hz, which needs 22.6 dB; at 20 dB one stream carries 6.66, two 13.3."""
    fast = {"name": "fast", "uplink_bps": 150e6, "downlink_bps": 150e6}
    budget = NB_IOT["budget"] | {"bandwidth_hz": 20e6}  # type: ignore[operator]
    one = NetworkProfile.model_validate(fast | {"budget": budget})
    two = NetworkProfile.model_validate(fast | {"budget": budget | {"streams": 2}})
    loss_db = snr_db(one, "up") - 20.0
    assert rates_bps(one, "up", [loss_db]) == pytest.approx([20e6 * math.log2(101)])
    assert rates_bps(two, "up", [loss_db]) == pytest.approx([150e6])
    assert rates_bps(one, "up", [loss_db - 10.0]) == pytest.approx([150e6])
    assert rates_bps(one, "up", [loss_db + 30.1]) == [0.0]


@pytest.mark.parametrize("name", BUDGETED)
def test_no_sensor_of_a_shipped_radio_is_faster_than_shannons_bound_of_its_budget(name: str) -> None:
    radio = load_profile(name)
    losses_db = np.random.default_rng(1).uniform(40.0, 190.0, 1_000).tolist()
    for direction in ("up", "down"):
        rates = rates_bps(radio, direction, losses_db)
        bounds = [bound_bps(radio, direction, loss_db) for loss_db in losses_db]
        assert all(rate <= bound * (1 + 1e-12) for rate, bound in zip(rates, bounds, strict=True))
        assert max(rates) <= radio.rate_bps(direction) * (1 + 1e-12)
        assert any(rate > 0 for rate in rates)


@given(st.floats(-400.0, 400.0), st.integers(1, 8))
def test_the_bound_is_shannons(signal_db: float, streams: int) -> None:
    expected_bps = streams * 5e6 * math.log1p(10 ** (signal_db / 10)) / math.log(2)
    assert shannon_bps(5e6, streams, signal_db) == pytest.approx(expected_bps, rel=1e-12)
