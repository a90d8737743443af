"""A round's downloads: n equal transfers that start together end together, at airtime / speed(n)."""

from functools import partial

import numpy as np
import pytest

from hfedms_sim.world.radio.airtime import FairPool
from tests.verification.queueing import serve

AIRTIME_S = 30.5
COUNTS = [1, 2, 3, 4, 5, 7, 8, 11, 12, 13, 24, 25, 100, 368]
CHANNELS = [1, 2, 3, 4, 8, 16]
FRACTIONS = [1.25, 2.5, 155 / 62, 6.75]


def last_and_first_end_s(count: int, channels: float, resource_units: int | None = None) -> tuple[float, float]:
    pool_of = partial(FairPool, channels=channels, resource_units=resource_units)
    delivered_s = serve(pool_of, np.zeros(count), [AIRTIME_S] * count).delivered_s
    return float(delivered_s.max()), float(delivered_s.min())


@pytest.mark.parametrize("channels", CHANNELS + FRACTIONS)
@pytest.mark.parametrize("count", COUNTS)
def test_equal_transfers_end_together_when_the_channels_have_carried_them_all(count: int, channels: float) -> None:
    expected_s = AIRTIME_S * max(1.0, count / channels)
    assert last_and_first_end_s(count, channels) == pytest.approx((expected_s, expected_s), rel=1e-12)


@pytest.mark.parametrize("resource_units", [1, 6, 12, 25])
@pytest.mark.parametrize("channels", CHANNELS)
@pytest.mark.parametrize("count", COUNTS)
def test_equal_transfers_get_whole_units_while_there_are_enough(count: int, channels: int, resource_units: int) -> None:
    if count <= resource_units:
        expected_s = AIRTIME_S * max(1.0, resource_units / (channels * (resource_units // count)))
    else:
        expected_s = AIRTIME_S * max(1.0, count / channels)
    assert last_and_first_end_s(count, channels, resource_units) == pytest.approx((expected_s, expected_s), rel=1e-12)


@pytest.mark.parametrize(
    ("count", "efficiency"), [(1, 1.0), (4, 1.0), (5, 10 / 12), (7, 7 / 12), (11, 11 / 12), (12, 1.0), (13, 1.0)]
)
def test_twelve_units_are_used_as_far_as_whole_ones_go_round(count: int, efficiency: float) -> None:
    """0.58 at n = 7, as seen in a packet-level LTE simulation with twelve resource-block groups."""
    last_s, _ = last_and_first_end_s(count, channels=1, resource_units=12)
    assert count * AIRTIME_S / last_s == pytest.approx(efficiency, rel=1e-12)
