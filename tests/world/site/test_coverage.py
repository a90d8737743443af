"""Who hears whom, and how well: link budgets by hand, the law of shadowing, and common random numbers."""

import math
import tracemalloc
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray
from scipy import stats

from hfedms_sim.errors import InputError
from hfedms_sim.seeds import Draws
from hfedms_sim.world.site import coverage as coverage_module
from hfedms_sim.world.site.coverage import Coverage, RadioBudget, attach, coverage_class, noise_dbm
from hfedms_sim.world.site.path_loss import LINES, Environment, rate_factor
from hfedms_sim.world.site.placement import Hall, uniform
from tests.world.site.links import NoShadowing, los_loss_db, nlos_loss_db

ALPHA = 0.001  # 99.9 %
HALL = Hall(200.0, 300.0)
CELLS_M = np.array([[20.0, 30.0], [180.0, 30.0], [100.0, 270.0]])
LTE_M = RadioBudget(carrier_ghz=0.8, bandwidth_hz=5e6, uplink_power_dbm=23.0, downlink_power_dbm=30.0, environment="DL")
NB_IOT = replace(LTE_M, bandwidth_hz=180e3)
FIVE_G = replace(LTE_M, carrier_ghz=3.7, bandwidth_hz=20e6)
FIELDS = tuple(Coverage.__dataclass_fields__)


def only(cell: int, sensors: int, cells: int) -> NDArray[np.bool_]:
    allowed = np.zeros((sensors, cells), dtype=np.bool_)
    allowed[:, cell] = True
    return allowed


def at_distance(distance_m: float, count: int = 1) -> NDArray[np.float64]:
    return np.tile([distance_m, 0.0], (count, 1))


def slanted_m(budget: RadioBudget, distance_m: float) -> float:
    """Return how far apart sensor and base station are that stand so far apart on the ground."""
    return math.hypot(distance_m, budget.law.base_height_m - budget.sensor_height_m)


ORIGIN_M = np.zeros((1, 2))


def shadowing_db(budget: RadioBudget, distance_m: float, count: int, seed: int, cell: int = 0) -> NDArray[np.float64]:
    """What is left of the coupling loss of `count` sensors without line of sight, after the path loss by formula."""
    cells_m, budgets = np.zeros((cell + 1, 2)), [budget] * (cell + 1)
    found = attach(at_distance(distance_m, count), cells_m, budgets, Draws(seed), only(cell, count, cell + 1))
    assert (found.cell == cell).all()
    assert not found.los.any()
    return found.coupling_loss_db - nlos_loss_db(budget.environment, slanted_m(budget, distance_m), budget.carrier_ghz)


def test_one_link_has_the_signal_it_has_by_hand() -> None:
    # DL, base station and sensor both 1.5 m high, 600 m apart: 18.6 + 35.7 x 2.778151 - 1.938200 = 115.841798 dB.
    # 10 lg 5e6 = 66.989700, so noise up = -174 + 66.989700 + 5 = -102.010300 dBm, down (9 dB) -98.010300 dBm.
    # SNR up = 23 - 115.841798 + 102.010300 = 9.168502 dB, that is 8.257534, log2(9.257534) = 3.210628;
    # SNR down = 30 - 115.841798 + 98.010300 = 12.168502 dB, that is 16.476, log2(17.476) = 4.127305.
    # log2(101) = 6.658211: factors 0.482206 and 0.619882.
    found = attach(at_distance(600.0), ORIGIN_M, [LTE_M], NoShadowing(1))
    assert noise_dbm(5e6, 5.0) == pytest.approx(-102.0103, abs=1e-4)
    assert found.coupling_loss_db == pytest.approx(115.841798, abs=1e-4)
    assert (found.snr_up_db[0], found.snr_down_db[0]) == pytest.approx((9.168502, 12.168502), abs=1e-4)
    assert (rate_factor(found.snr_up_db)[0], rate_factor(found.snr_down_db)[0]) == pytest.approx(
        (0.482206, 0.619882), abs=1e-4
    )
    assert (found.cell[0], found.los[0], found.covered[0]) == (0, False, True)


def test_the_distance_is_the_slanted_one() -> None:
    high = replace(LTE_M, environment="LOS", base_height_m=5.5)  # 4 m above the sensor, 3 m away
    found = attach(at_distance(3.0), ORIGIN_M, [high], NoShadowing(1))
    assert found.los.all()
    assert found.coupling_loss_db == pytest.approx(los_loss_db([5.0], 0.8))


@pytest.mark.parametrize("environment", ["SL", "DL", "DH"])
def test_shadowing_is_normal_with_the_sigma_of_the_table(environment: Environment) -> None:
    sigma_db, count = LINES[environment].sigma_db, 20_000
    values_db = shadowing_db(replace(LTE_M, environment=environment), 2_000.0, count, seed=11)
    assert stats.kstest(values_db, "norm", (0.0, sigma_db)).pvalue > ALPHA
    assert abs(values_db.mean()) < stats.norm.isf(ALPHA / 2) * sigma_db / math.sqrt(count)
    squares = (values_db**2).sum() / sigma_db**2
    assert ALPHA / 2 < stats.chi2.cdf(squares, count) < 1 - ALPHA / 2


def test_shadowing_in_line_of_sight_has_the_sigma_of_line_of_sight() -> None:
    clear = replace(LTE_M, environment="LOS")
    found = attach(at_distance(50.0, 20_000), ORIGIN_M, [clear], Draws(12))
    values_db = found.coupling_loss_db - los_loss_db(slanted_m(clear, 50.0), 0.8)
    assert stats.kstest(values_db, "norm", (0.0, 4.3)).pvalue > ALPHA


def test_line_of_sight_comes_as_often_as_its_probability() -> None:
    # SL at 30 m: 0.8^3 = 0.512
    found = attach(at_distance(30.0, 20_000), ORIGIN_M, [replace(LTE_M, environment="SL")], Draws(13))
    assert stats.binomtest(int(found.los.sum()), 20_000, 0.512).pvalue > ALPHA


def test_line_of_sight_is_certain_beneath_the_base_station_however_high_it_hangs() -> None:
    assert attach(at_distance(0.0, 1_000), ORIGIN_M, [replace(LTE_M, environment="DH")], Draws(13)).los.all()


def test_line_of_sight_is_independent_between_cells_and_of_shadowing() -> None:
    count, sparse = 20_000, replace(LTE_M, environment="SL")
    first, second = (
        attach(at_distance(30.0, count), np.zeros((2, 2)), [sparse] * 2, Draws(16), only(cell, count, 2))
        for cell in (0, 1)
    )
    normal = first.coupling_loss_db - np.where(first.los, los_loss_db(30.0, 0.8), nlos_loss_db("SL", 30.0, 0.8))
    normal /= np.where(first.los, LINES["LOS"].sigma_db, LINES["SL"].sigma_db)
    assert stats.kstest(normal[first.los], "norm").pvalue > ALPHA
    assert stats.kstest(normal[~first.los], "norm").pvalue > ALPHA
    both = np.histogram2d(first.los, second.los, bins=2)[0]
    assert stats.chi2_contingency(both).pvalue > ALPHA


def test_shadowing_is_independent_between_cells_and_between_sensors() -> None:
    count = 20_000
    bound = stats.norm.isf(ALPHA / 2) / math.sqrt(count)
    first_db, second_db = (shadowing_db(LTE_M, 500.0, count, seed=14, cell=cell) for cell in (0, 1))
    assert abs(np.corrcoef(first_db, second_db)[0, 1]) < bound
    assert abs(np.corrcoef(first_db[:-1], first_db[1:])[0, 1]) < bound


def test_the_same_sensor_on_another_radio_has_the_same_normals() -> None:
    on_lte_m = shadowing_db(LTE_M, 500.0, 1_000, seed=15, cell=1) / LINES["DL"].sigma_db
    on_five_g = shadowing_db(replace(FIVE_G, environment="SL"), 5_000.0, 1_000, seed=15, cell=1) / LINES["SL"].sigma_db
    assert on_five_g == pytest.approx(on_lte_m, abs=1e-9)
    assert on_lte_m == pytest.approx(Draws(15).normal("shadowing", np.arange(1_000), 1), abs=1e-9)


def test_another_carrier_leaves_line_of_sight_as_it_is() -> None:
    positions_m = uniform(2_000, HALL, Draws(2))
    one, other = (
        attach(positions_m, CELLS_M[:1], [replace(radio, environment="SL")], Draws(3)) for radio in (LTE_M, FIVE_G)
    )
    assert 0 < one.los.sum() < 2_000
    assert (one.los == other.los).all()


@settings(max_examples=25)
@given(seed=st.integers(0, 2**63 - 1), count=st.integers(0, 60))
def test_one_more_sensor_moves_nobody(seed: int, count: int) -> None:
    positions_m = uniform(count + 1, HALL, Draws(seed))
    fewer = attach(positions_m[:count], CELLS_M, [LTE_M, NB_IOT, FIVE_G], Draws(seed))
    more = attach(positions_m, CELLS_M, [LTE_M, NB_IOT, FIVE_G], Draws(seed))
    for field in FIELDS:
        assert len(getattr(fewer, field)) == count
        assert (getattr(fewer, field) == getattr(more, field)[:count]).all()


def test_one_more_cell_moves_only_those_who_take_it() -> None:
    positions_m = uniform(3_000, HALL, Draws(4))
    before = attach(positions_m, CELLS_M[:2], [LTE_M] * 2, Draws(4))
    after = attach(positions_m, CELLS_M, [LTE_M] * 3, Draws(4))
    stayed = after.cell != 2
    assert 0 < stayed.sum() < 3_000
    for field in FIELDS:
        assert (getattr(before, field)[stayed] == getattr(after, field)[stayed]).all()
    assert (after.coupling_loss_db[~stayed] < before.coupling_loss_db[~stayed]).all()


def test_how_sensors_are_cut_into_chunks_changes_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    positions_m = uniform(100, HALL, Draws(5))
    allowed = Draws(6).uniform("allowed", np.arange(100)[:, None], np.arange(3)) < 0.7
    allowed[:, 0] = True
    whole = attach(positions_m, CELLS_M, [LTE_M, NB_IOT, FIVE_G], Draws(5), allowed)
    monkeypatch.setattr(coverage_module, "_CHUNK", 7)
    parts = attach(positions_m, CELLS_M, [LTE_M, NB_IOT, FIVE_G], Draws(5), allowed)
    for field in FIELDS:
        assert (getattr(whole, field) == getattr(parts, field)).all()


def test_without_shadowing_the_nearest_cell_wins() -> None:
    positions_m = uniform(2_000, HALL, Draws(7))
    nearest = np.linalg.norm(positions_m[:, None] - CELLS_M, axis=2).argmin(axis=1)
    found = attach(positions_m, CELLS_M, [replace(LTE_M, environment="LOS")] * 3, NoShadowing(7))
    assert (found.cell == nearest).all()


@pytest.mark.parametrize("power_dbm", [23.0, -20.0, -100.0], ids=["all at peak rate", "some covered", "none covered"])
def test_among_cells_of_one_radio_the_smallest_coupling_loss_wins(power_dbm: float) -> None:
    positions_m, budgets = uniform(2_000, HALL, Draws(8)), [replace(LTE_M, uplink_power_dbm=power_dbm)] * 3
    found = attach(positions_m, CELLS_M, budgets, Draws(8))
    each_db = [
        attach(positions_m, CELLS_M, budgets, Draws(8), only(cell, 2_000, 3)).coupling_loss_db for cell in range(3)
    ]
    assert (found.cell == np.argmin(each_db, axis=0)).all()
    assert (found.coupling_loss_db == np.min(each_db, axis=0)).all()
    assert (found.covered == (found.snr_up_db >= -10.0)).all()


def test_of_two_radios_the_fast_one_is_used_where_it_reaches_and_the_robust_one_beyond() -> None:
    # DL at 3.7 GHz, 600 m: 18.6 + 99.179991 + 11.364040 = 129.144031 dB; 20 MHz: noise up -95.989700 dBm,
    # so SNR up = -10.154 dB: out of coverage. At 300 m, 35.7 lg 2 = 10.746771 dB better: covered, at 0.59 dB.
    positions_m = np.array([[10.0, 0.0], [300.0, 0.0], [600.0, 0.0]])
    for order in ([FIVE_G, NB_IOT], [NB_IOT, FIVE_G]):
        found = attach(positions_m, np.zeros((2, 2)), order, NoShadowing(1))
        assert [order[cell] for cell in found.cell] == [FIVE_G, FIVE_G, NB_IOT]
        assert found.covered.all()


def test_the_weaker_direction_decides() -> None:
    # Downlink at -20 dBm: 0 dB of SNR at a coupling loss of 78 dB. DL at 90 m: 86.4 dB, covered but slow;
    # the other cell is 20 m farther and has all its rate.
    whispering, cells_m = replace(LTE_M, downlink_power_dbm=-20.0), np.array([[100.0, 0.0], [300.0, 0.0]])
    positions_m = np.array([[100.0, 0.0], [190.0, 0.0]])
    assert attach(positions_m, cells_m, [whispering, LTE_M], NoShadowing(1)).cell.tolist() == [0, 1]


def test_a_sensor_uses_only_the_cells_it_may_use() -> None:
    positions_m = uniform(500, HALL, Draws(9))
    allowed = Draws(9).uniform("allowed", np.arange(500)[:, None], np.arange(3)) < 0.5
    allowed[~allowed.any(axis=1), 1] = True
    found = attach(positions_m, CELLS_M, [LTE_M, NB_IOT, FIVE_G], Draws(9), allowed)
    assert allowed[np.arange(500), found.cell].all()
    everywhere = np.broadcast_to(np.array(True), (500, 3))
    free = attach(positions_m, CELLS_M, [LTE_M, NB_IOT, FIVE_G], Draws(9))
    assert (attach(positions_m, CELLS_M, [LTE_M, NB_IOT, FIVE_G], Draws(9), everywhere).cell == free.cell).all()


def test_a_sensor_out_of_coverage_is_said_to_be_and_has_no_rate() -> None:
    found = attach(at_distance(50_000.0), ORIGIN_M, [LTE_M], NoShadowing(1))
    assert not found.covered[0]
    assert (rate_factor(found.snr_up_db)[0], rate_factor(found.snr_down_db)[0]) == (0.0, 0.0)


def test_a_radio_that_repeats_itself_covers_up_to_its_coupling_loss() -> None:
    # DL at 6 km: 18.6 + 35.7 x 3.778151 - 1.938200 = 151.541791 dB: class 1. At 180 kHz noise up is
    # -174 + 52.552725 + 5 = -116.447275 dBm, so SNR up = 23 - 151.541791 + 116.447275 = -12.094516 dB.
    repeating = replace(NB_IOT, max_coupling_loss_db=164.0)
    positions_m = np.array([[6_000.0, 0.0], [50_000.0, 0.0]])  # the second: 184.4 dB
    found = attach(positions_m, ORIGIN_M, [repeating], NoShadowing(1))
    assert found.coupling_loss_db[0] == pytest.approx(151.541791, abs=1e-4)
    assert found.snr_up_db[0] == pytest.approx(-12.094516, abs=1e-4)
    assert found.covered.tolist() == [True, False]
    assert rate_factor(found.snr_up_db).tolist() == [0.0, 0.0]
    assert coverage_class(found.coupling_loss_db).tolist() == [1, -1]
    assert not attach(positions_m, ORIGIN_M, [NB_IOT], NoShadowing(1)).covered.any()


def test_coverage_classes_end_at_their_limits() -> None:
    losses_db = [-5.0, 143.9, 144.0, 144.1, 154.0, 154.1, 164.0, 164.1, math.inf]
    assert coverage_class(losses_db).tolist() == [0, 0, 0, 1, 1, 2, 2, -1, -1]
    assert coverage_class([100.0, 120.0], limits_db=(110.0,)).tolist() == [0, -1]


def test_many_sensors_and_cells_need_no_array_of_both() -> None:
    count, cells = 100_000, 20
    positions_m, budgets = (
        uniform(count, HALL, Draws(10)),
        [LTE_M, NB_IOT, FIVE_G, replace(LTE_M, environment="SL")] * 5,
    )
    tracemalloc.start()
    found = attach(positions_m, uniform(cells, HALL, Draws(11)), budgets, Draws(10))
    _, peak_bytes = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert all(getattr(found, field).shape == (count,) for field in FIELDS)
    assert peak_bytes < 8 * count * cells


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"carrier_ghz": 0.0}, "carrier_ghz = 0.0: must be greater than 0"),
        ({"bandwidth_hz": -1.0}, "bandwidth_hz = -1.0: must be greater than 0"),
        ({"uplink_power_dbm": math.nan}, "uplink_power_dbm = nan: must be a finite number"),
        ({"max_coupling_loss_db": math.inf}, "max_coupling_loss_db = inf: must be a finite number"),
        ({"sensor_height_m": -1.0}, "sensor_height_m = -1.0: must be at least 0"),
        ({"clutter_density": 0.0}, "clutter_density = 0.0: must be greater than 0 and less than 1"),
        ({"clutter_density": 1.0}, "clutter_density = 1.0: must be greater than 0 and less than 1"),
        ({"environment": "XL"}, "environment = 'XL': must be one of LOS, SL, DL, SH, DH, RMa, UMa"),
        (
            {"environment": "SH", "base_height_m": 1.0},
            "environment = 'SH': needs heights in ascending order, not sensor 1.5 m, clutter 2 m, base station 1 m",
        ),
    ],
)
def test_a_budget_that_makes_no_sense_is_refused(changes: dict[str, Any], message: str) -> None:
    with pytest.raises(InputError) as refused:
        replace(LTE_M, **changes)
    assert str(refused.value) == message


def test_positions_that_make_no_sense_are_refused() -> None:
    with pytest.raises(InputError, match=r"^cell 1 at \[nan, 0.0\]: must be within 1e\+07 m of 0, 0$"):
        attach(ORIGIN_M, np.array([[0.0, 0.0], [math.nan, 0.0]]), [LTE_M] * 2, Draws(1))
    with pytest.raises(InputError, match=r"^sensor 0 at \[-inf, 0.0\]: must be within"):
        attach(np.array([[-math.inf, 0.0]]), ORIGIN_M, [LTE_M], Draws(1))
    with pytest.raises(InputError, match=r"^sensor 1: there is no cell that it may use$"):
        attach(np.zeros((2, 2)), ORIGIN_M, [LTE_M], Draws(1), np.array([[True], [False]]))


@pytest.mark.parametrize(
    ("positions_m", "cells_m", "budgets", "allowed"),
    [
        (np.zeros((2, 2)), np.zeros((0, 2)), [], None),
        (np.zeros((2, 2)), ORIGIN_M, [LTE_M] * 2, None),
        (np.zeros((2, 3)), ORIGIN_M, [LTE_M], None),
        (np.zeros((2, 2)), ORIGIN_M, [LTE_M], np.ones((1, 2), dtype=np.bool_)),
    ],
    ids=["no cell", "two budgets for one cell", "three coordinates", "transposed"],
)
def test_arrays_that_do_not_belong_together_are_refused(
    positions_m: NDArray[np.float64],
    cells_m: NDArray[np.float64],
    budgets: list[RadioBudget],
    allowed: NDArray[np.bool_] | None,
) -> None:
    with pytest.raises(ValueError, match=r"must be|one each"):
        attach(positions_m, cells_m, budgets, Draws(1), allowed)
