"""Path loss, line of sight and Shannon's law against arithmetic done by hand from 3GPP TR 38.901 section 7.4."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from hfedms_sim.world.site.path_loss import (
    CLUTTER,
    LINES,
    VALID_DISTANCE_M,
    Clutter,
    Environment,
    los_decay_m,
    los_probability,
    loss_db,
    rate_factor,
    sigma_db,
    spectral_efficiency,
)
from tests.world.site.links import los_loss_db, nlos_loss_db

ENVIRONMENTS: tuple[Environment, ...] = ("LOS", "SL", "DL", "SH", "DH")
DISTANCES_M = [10.0, 50.0, 200.0]  # lg 10 = 1, lg 50 = 1.698970, lg 200 = 2.301030

# At 0.8 GHz: lg 0.8 = -0.096910, so 19 lg f = -1.841290 and 20 lg f = -1.938200.
BY_HAND_DB: dict[Environment, list[float]] = {
    # 31.84 - 1.84129 = 29.99871; plus 21.5, 21.5 x 1.698970 = 36.527855, 21.5 x 2.301030 = 49.472145
    "LOS": [51.49871, 66.526565, 79.470855],
    # 33 - 1.9382 = 31.0618; plus 25.5, 25.5 x 1.698970 = 43.323735, 25.5 x 2.301030 = 58.676265
    "SL": [56.5618, 74.385535, 89.738065],
    # 18.6 - 1.9382 = 16.6618; plus 35.7 = 52.3618, which is less than SL's 56.5618 and gives way to it;
    # plus 35.7 x 1.698970 = 60.653229, plus 35.7 x 2.301030 = 82.146771, both more than SL's
    "DL": [56.5618, 77.315029, 98.808571],
    # 32.4 - 1.9382 = 30.4618; plus 23, 23 x 1.698970 = 39.076310, 23 x 2.301030 = 52.923690
    "SH": [53.4618, 69.53811, 83.38549],
    # 33.63 - 1.9382 = 31.6918; plus 21.9, 21.9 x 1.698970 = 37.207443, 21.9 x 2.301030 = 50.392557
    "DH": [53.5918, 68.899243, 82.084357],
}


@pytest.mark.parametrize("environment", ENVIRONMENTS)
def test_path_loss_at_three_distances_is_what_it_is_by_hand(environment: Environment) -> None:
    assert nlos_loss_db(environment, DISTANCES_M, 0.8) == pytest.approx(BY_HAND_DB[environment], abs=1e-4)
    assert los_loss_db(DISTANCES_M, 0.8) == pytest.approx(BY_HAND_DB["LOS"], abs=1e-4)


def test_a_higher_carrier_is_lost_more() -> None:
    # lg 3.7 = 0.568202. LOS at 50 m: 31.84 + 36.527855 + 19 x 0.568202 = 31.84 + 36.527855 + 10.795838
    assert los_loss_db(50.0, 3.7) == pytest.approx(79.163693, abs=1e-4)
    # SL at 50 m: 33 + 43.323735 + 20 x 0.568202 = 33 + 43.323735 + 11.364040
    assert nlos_loss_db("SL", 50.0, 3.7) == pytest.approx(87.687775, abs=1e-4)


def test_a_formula_below_line_of_sight_gives_way_to_it() -> None:
    # At 0.1 GHz and 1 m: SH 32.4 - 20 = 12.4, LOS 31.84 - 19 = 12.84.
    assert nlos_loss_db("SH", 1.0, 0.1) == pytest.approx(12.84)


@given(st.sampled_from(ENVIRONMENTS), st.floats(0.0, 1e5), st.floats(0.05, 100.0))
def test_clutter_never_helps_and_dense_low_never_beats_sparse_low(
    environment: Environment, distance_m: float, carrier_ghz: float
) -> None:
    assert nlos_loss_db(environment, distance_m, carrier_ghz) >= los_loss_db(distance_m, carrier_ghz)
    assert nlos_loss_db("DL", distance_m, carrier_ghz) >= nlos_loss_db("SL", distance_m, carrier_ghz)


@given(st.sampled_from(ENVIRONMENTS), st.floats(0.0, 1e5), st.floats(0.0, 1e5))
def test_farther_is_never_lost_less(environment: Environment, one_m: float, other_m: float) -> None:
    near_db, far_db = nlos_loss_db(environment, sorted([one_m, other_m]), 0.8)
    assert near_db <= far_db


def test_below_one_metre_counts_as_one_metre_and_beyond_600_the_line_goes_on() -> None:
    assert VALID_DISTANCE_M == (1.0, 600.0)
    assert los_loss_db([0.0, 0.3, 1.0], 1.0) == pytest.approx([31.84] * 3)
    assert los_loss_db(6000.0, 1.0) - los_loss_db(600.0, 1.0) == pytest.approx(21.5)


def test_each_link_has_the_loss_and_the_sigma_of_its_own_state() -> None:
    los = np.array([True, False])
    assert loss_db("DL", 200.0, los, 0.8) == pytest.approx([79.470855, 98.808571], abs=1e-4)
    assert sigma_db("DL", los).tolist() == [4.3, 7.2]


def test_sigmas_are_those_of_the_table() -> None:
    assert {name: line.sigma_db for name, line in LINES.items()} == {
        "LOS": 4.3,
        "SL": 5.7,
        "DL": 7.2,
        "SH": 5.9,
        "DH": 4.0,
    }


# exp(-d / k) with k = -d_clutter / ln(1 - r) is (1 - r)^(d / d_clutter), here with r = 0.2 (sparse) and 0.6 (dense).
# SH has k times (8 - 1.5) / (2 - 1.5) = 13, DH times (8 - 1.5) / (6 - 1.5) = 13 / 9.
LOS_BY_HAND: dict[Environment, dict[float, float]] = {
    "LOS": {0.0: 1.0, 50.0: 1.0, 1e6: 1.0},
    "SL": {0.0: 1.0, 10.0: 0.8, 30.0: 0.512},  # d_clutter 10 m: 0.8^1, 0.8^3
    "DL": {2.0: 0.4, 4.0: 0.16, 10.0: 0.01024},  # d_clutter 2 m: 0.4^1, 0.4^2, 0.4^5
    "SH": {130.0: 0.8, 260.0: 0.64, 390.0: 0.512},  # 10 m x 13 = 130 m: 0.8^1, 0.8^2, 0.8^3
    "DH": {26 / 9: 0.4, 52 / 9: 0.16, 26.0: 0.000262144},  # 2 m x 13 / 9 = 26 / 9 m: 0.4^1, 0.4^2, 0.4^9
}


@pytest.mark.parametrize("environment", ENVIRONMENTS)
def test_line_of_sight_is_as_likely_as_by_hand(environment: Environment) -> None:
    decay_m = los_decay_m(environment, CLUTTER[environment])
    distances_m, expected = zip(*LOS_BY_HAND[environment].items(), strict=True)
    assert los_probability(distances_m, decay_m) == pytest.approx(expected, rel=1e-9)


def test_line_of_sight_depends_on_density_and_heights_as_the_table_says() -> None:
    hall = Clutter(size_m=10.0, density=0.5, height_m=4.0, base_height_m=10.0)
    # 10 / ln 2 = 14.426950; SH times (10 - 1) / (4 - 1) = 3
    assert los_decay_m("SL", hall, sensor_height_m=1.0) == pytest.approx(14.426950)
    assert los_decay_m("SH", hall, sensor_height_m=1.0) == pytest.approx(43.280851)


def test_sparse_and_dense_are_on_their_side_of_the_tables_limit() -> None:
    assert all(CLUTTER[sparse].density < 0.4 and CLUTTER[sparse].size_m == 10.0 for sparse in ("SL", "SH"))
    assert all(CLUTTER[dense].density >= 0.4 and CLUTTER[dense].size_m == 2.0 for dense in ("DL", "DH"))


def test_the_rate_factor_is_shannons_share_of_its_value_at_20_db() -> None:
    # log2(1 + 100) = 6.658211. -10 dB: log2(1.1) = 0.137504; 0 dB: log2(2) = 1; 10 dB: log2(11) = 3.459432.
    by_hand = {-11.0: 0.0, -10.0: 0.020652, 0.0: 0.150190, 10.0: 0.519574, 20.0: 1.0, 30.0: 1.0}
    assert rate_factor(list(by_hand)) == pytest.approx(list(by_hand.values()), abs=1e-6)
    assert rate_factor([20.0, 30.0, math.inf]).tolist() == [1.0, 1.0, 1.0]
    assert rate_factor([-10.000001, -math.inf]).tolist() == [0.0, 0.0]


@given(st.floats(-400.0, 400.0), st.floats(-400.0, 400.0))
def test_more_signal_is_never_a_lower_rate(one_db: float, other_db: float) -> None:
    weak_db, strong_db = sorted([one_db, other_db])
    assert 0.0 <= rate_factor(weak_db) <= rate_factor(strong_db) <= 1.0
    assert spectral_efficiency(weak_db) <= spectral_efficiency(strong_db)
