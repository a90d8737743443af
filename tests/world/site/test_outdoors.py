"""Path loss and line of sight outdoors against arithmetic done by hand from 3GPP TR 38.901 section 7.4."""

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray
from scipy import stats

from hfedms_sim.errors import InputError
from hfedms_sim.seeds import Draws
from hfedms_sim.world.site.coverage import RadioBudget, attach
from hfedms_sim.world.site.outdoors import RuralMacro, UrbanMacro
from tests.world.site.links import NoShadowing

RURAL, URBAN = RuralMacro(0.8, 1.5), UrbanMacro(0.8, 1.5)
LAWS = [RURAL, URBAN]
NB_IOT = RadioBudget(carrier_ghz=0.8, bandwidth_hz=180e3, uplink_power_dbm=23.0, downlink_power_dbm=30.0)
GROUND_M = [100.0, 500.0, 2000.0]


def losses_db(law: RuralMacro | UrbanMacro, ground_m: Any, los: bool) -> NDArray[np.float64]:
    """The path loss at distances on the ground."""
    flat_m = np.asarray(ground_m, dtype=np.float64)
    slanted_m = np.sqrt(flat_m**2 + (law.base_height_m - law.sensor_height_m) ** 2)
    return law.loss_db(flat_m, slanted_m, np.full(flat_m.shape, los))


def test_rural_line_of_sight_is_what_it_is_by_hand() -> None:
    # d_BP = 2 pi x 35 x 1.5 x 0.8e9 / 3e8 = 879.646 m. d3 = sqrt(d2^2 + 33.5^2) = 105.4621, 501.1210, 2000.2805.
    # 5^1.72 = 15.93046: 0.03 of it 0.4779139, 0.044 of it 0.7009404; 0.002 lg 5 = 0.00139794.
    # 100 m: 20 lg(40 pi x 105.4621 x 0.8 / 3) = 70.965498, + 0.4779139 x 2.0230963 - 0.7009404 + 0.147430 = 71.378854
    # 500 m: 84.502424 + 0.4779139 x 2.6999426 - 0.7009404 + 0.700537 = 85.792361
    # 2 km: at the breakpoint 91.325608, plus 40 lg(2000.2805 / 879.6459) = 14.271320
    assert RURAL.breakpoint_m == pytest.approx(879.645943)
    assert losses_db(RURAL, GROUND_M, True) == pytest.approx([71.378854, 85.792361, 105.596928], abs=1e-5)


def test_rural_without_line_of_sight_is_what_it_is_by_hand() -> None:
    # 161.04 - 7.1 lg 20 + 7.5 lg 5 = 157.044992... - (24.37 - 3.7 / 49) lg 35 = 119.532617;
    # 20 lg 0.8 - (3.2 (lg 17.625)^2 - 4.97) = -1.937281; slope 43.42 - 3.1 lg 35 = 38.633389 a decade from 1 km:
    # 100 m: 117.595336 + 38.633389 x (2.0230963 - 3) = 79.854236; 500 m: lg 2.6999426: 106.003101; 2 km: 129.227498
    assert losses_db(RURAL, GROUND_M, False) == pytest.approx([79.854236, 106.003101, 129.227498], abs=1e-5)


def test_urban_line_of_sight_is_what_it_is_by_hand() -> None:
    # d_BP = 4 x 24 x 0.5 x 0.8e9 / 3e8 = 128 m. d3 = sqrt(d2^2 + 23.5^2): lg 2.0116725, 2.6994492, 3.3010600.
    # 100 m: 28 + 22 x 2.0116725 - 1.938200 = 70.318596
    # 500 m: 28 + 40 x 2.6994492 - 1.938200 - 9 lg(128^2 + 23.5^2) = 134.039766 - 38.059355 = 95.980411
    # 2 km: 28 + 40 x 3.3010600 - 1.938200 - 38.059355 = 120.044843
    assert URBAN.breakpoint_m == pytest.approx(128.0)
    assert losses_db(URBAN, GROUND_M, True) == pytest.approx([70.318596, 95.980411, 120.044843], abs=1e-5)


def test_urban_without_line_of_sight_is_what_it_is_by_hand() -> None:
    # 13.54 + 39.08 x 2.0116725 - 1.938200 = 90.217962, and so on
    assert losses_db(URBAN, GROUND_M, False) == pytest.approx([90.217962, 117.096273, 140.607224], abs=1e-5)


def test_a_higher_sensor_is_lost_less_in_town() -> None:
    high = UrbanMacro(0.8, 11.5)
    slanted_m = np.array([500.0])
    blocked_db = high.loss_db(slanted_m, slanted_m, np.array([False]))
    assert blocked_db == pytest.approx(URBAN.loss_db(slanted_m, slanted_m, np.array([False])) - 6.0)


def test_line_of_sight_is_as_likely_as_by_hand() -> None:
    # exp(-0.09), exp(-0.49); 0.18 + exp(-100 / 63) x 0.82 = 0.347671, 0.036 + exp(-500 / 63) x 0.964 = 0.036345
    assert RURAL.los_probability(np.array([0.0, 10.0, 100.0, 500.0])) == pytest.approx([1, 1, 0.913931, 0.612626])
    assert URBAN.los_probability(np.array([0.0, 18.0, 100.0, 500.0])) == pytest.approx(
        [1, 1, 0.347671, 0.036345], abs=1e-6
    )


def test_sigmas_are_those_of_the_table() -> None:
    ground_m, los = np.array([100.0, 1000.0, 100.0]), np.array([True, True, False])
    assert RURAL.sigma_db(ground_m, los).tolist() == [4.0, 6.0, 8.0]
    assert URBAN.sigma_db(ground_m, los).tolist() == [4.0, 4.0, 6.0]


@pytest.mark.parametrize("law", LAWS)
def test_the_loss_does_not_jump_at_the_breakpoint(law: RuralMacro | UrbanMacro) -> None:
    before_db, after_db = losses_db(law, [law.breakpoint_m * (1 - 1e-9), law.breakpoint_m * (1 + 1e-9)], True)
    assert 0 <= after_db - before_db < 0.01


@given(st.sampled_from(LAWS), st.floats(0.0, 2e4), st.floats(0.0, 2e4), st.floats(0.5, 30.0))
def test_farther_is_never_lost_less_and_what_stands_between_never_helps(
    law: RuralMacro | UrbanMacro, one_m: float, other_m: float, carrier_ghz: float
) -> None:
    law = replace(law, carrier_ghz=carrier_ghz)
    distances_m = sorted([one_m, other_m])
    clear_db, blocked_db = losses_db(law, distances_m, True), losses_db(law, distances_m, False)
    assert clear_db[0] <= clear_db[1] + 1e-9
    assert blocked_db[0] <= blocked_db[1] + 1e-9
    assert (blocked_db >= clear_db).all()
    assert law.los_probability(np.array(distances_m))[1] <= law.los_probability(np.array(distances_m))[0] <= 1


@pytest.mark.parametrize(("environment", "law"), [("RMa", RURAL), ("UMa", URBAN)])
def test_sensors_outdoors_have_the_loss_the_line_of_sight_and_the_shadowing_of_the_law(
    environment: Any, law: RuralMacro | UrbanMacro
) -> None:
    count, ground_m = 20_000, 1_500.0
    site = np.tile([ground_m, 0.0], (count, 1)), np.zeros((1, 2)), [replace(NB_IOT, environment=environment)]
    found, unshadowed = attach(*site, Draws(3)), attach(*site, NoShadowing(3))
    expected_db = np.where(found.los, losses_db(law, ground_m, True), losses_db(law, ground_m, False))
    assert unshadowed.coupling_loss_db == pytest.approx(expected_db)
    likely = float(law.los_probability(np.array([ground_m]))[0])
    assert stats.binomtest(int(found.los.sum()), count, likely).pvalue > 0.001
    for los, sigma_db in (
        (True, law.sigma_db(np.array(ground_m), np.array(True))),
        (False, 8.0 if law is RURAL else 6.0),
    ):
        shadowing_db = (found.coupling_loss_db - losses_db(law, ground_m, los))[found.los == los]
        assert stats.kstest(shadowing_db, "norm", (0.0, float(sigma_db))).pvalue > 0.001


def test_a_mast_of_its_own_height_is_taken_and_an_impossible_one_refused() -> None:
    high = replace(NB_IOT, environment="RMa", base_height_m=100.0)
    found = attach(np.array([[0.0, 0.0]]), np.zeros((1, 2)), [high], NoShadowing(1))
    assert found.los.all()
    assert found.coupling_loss_db == pytest.approx(losses_db(replace(RURAL, base_height_m=100.0), [0.0], True))
    with pytest.raises(InputError, match=r"needs sensors above 1 m and below the base station's 1.2 m, not at 1.5 m"):
        replace(NB_IOT, environment="UMa", base_height_m=1.2)
