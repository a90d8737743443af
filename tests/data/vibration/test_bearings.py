"""Kinematics of bearings against the frequencies that test rigs publish for them."""

import pytest

from hfedms_sim.data.vibration.bearings import BEARINGS, Bearing
from hfedms_sim.data.vibration.machines import RATE_HZ, SHAFT_HZ
from hfedms_sim.data.vibration.motion import SPEED_SPREAD
from hfedms_sim.data.vibration.windows import SAMPLES

BY_NAME = {bearing.name: bearing for bearing in BEARINGS}


@pytest.mark.parametrize(
    ("name", "outer_race", "inner_race", "twice_ball_spin", "cage"),
    [("SKF 6205", 3.5848, 5.4152, 4.7135, 0.39828), ("SKF 6203", 3.0530, 4.9469, 3.9874, 0.3817)],
)
def test_multiples_are_those_of_the_cwru_bearing_data_center(
    name: str, outer_race: float, inner_race: float, twice_ball_spin: float, cage: float
) -> None:
    orders = BY_NAME[name].orders
    assert orders.outer_race == pytest.approx(outer_race, rel=2e-4)
    assert orders.inner_race == pytest.approx(inner_race, rel=2e-4)
    assert 2 * orders.ball_spin == pytest.approx(twice_ball_spin, rel=2e-4)
    assert orders.cage == pytest.approx(cage, rel=2e-4)


def test_a_6205_at_1797_turns_a_minute_has_the_textbook_frequencies() -> None:
    found_hz = [order * 1797 / 60 for order in BY_NAME["SKF 6205"].orders]
    assert found_hz == pytest.approx([107.4, 162.2, 70.6, 11.9], abs=0.05)


def test_frequencies_of_the_other_rigs_are_as_published() -> None:
    """IMS at 2,000 turns a minute, with a contact angle; XJTU-SY at 2,400; MFPT at 1,500."""
    ims_hz = [order * 2000 / 60 for order in BY_NAME["Rexnord ZA-2115"].orders]
    assert ims_hz == pytest.approx([236.4, 296.9, 139.9, 14.8], abs=0.1)
    xjtu = BY_NAME["LDK UER204"].orders
    assert (40 * xjtu.outer_race, 40 * xjtu.inner_race) == pytest.approx((123.32, 196.68), abs=0.01)
    mfpt = BY_NAME["NICE"].orders
    assert (25 * mfpt.outer_race, 25 * mfpt.inner_race) == pytest.approx((81.12, 118.88), abs=0.01)


@pytest.mark.parametrize("bearing", BEARINGS, ids=lambda bearing: bearing.name)
def test_rolling_without_slip_holds_between_the_frequencies(bearing: Bearing) -> None:
    """Elements pass a spot of the outer race at the cage's speed, of the inner race at the shaft's less the cage's."""
    orders = bearing.orders
    assert orders.outer_race == pytest.approx(bearing.rolling_elements * orders.cage)
    assert orders.inner_race == pytest.approx(bearing.rolling_elements * (1 - orders.cage))


@pytest.mark.parametrize("bearing", BEARINGS, ids=lambda bearing: bearing.name)
def test_a_window_holds_five_turns_of_the_cage_of_the_slowest_shaft(bearing: Bearing) -> None:
    slowest_hz = SHAFT_HZ[0] * (1 - 5 * SPEED_SPREAD)
    assert SAMPLES / RATE_HZ * slowest_hz * bearing.orders.cage >= 5
