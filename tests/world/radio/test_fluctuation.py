"""A cell that is good or bad by turns, against its path written out and against the stationary law."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from simpy import Environment

from hfedms_sim.scenario.profile import Fluctuation
from hfedms_sim.seeds import Draws
from hfedms_sim.simulation import run
from hfedms_sim.world.radio.airtime import FairPool, FifoPool
from hfedms_sim.world.radio.fluctuation import Availability
from tests.conftest import FAST, tiny_scenario

SETTINGS = Fluctuation(bad_share=0.25, good_s=3.0, bad_s=1.0)


def availability(seed: int = 1, cell: int = 0, settings: Fluctuation = SETTINGS) -> Availability:
    return Availability(settings, Draws(seed), cell)


def airtime_by_hand_s(seed: int, cell: int, to_s: float) -> float:
    """Sojourn by sojourn from time zero."""
    draws, time_s, airtime_s, sojourn = Draws(seed), 0.0, 0.0, 0
    is_good = draws.one_uniform("fluctuation/start", cell) < 0.75
    while time_s < to_s:
        mean_s, share = (3.0, 1.0) if is_good else (1.0, 0.25)
        length_s = -mean_s * np.log1p(-draws.one_uniform("fluctuation", cell, sojourn))
        airtime_s += share * min(length_s, to_s - time_s)
        time_s, sojourn, is_good = time_s + length_s, sojourn + 1, not is_good
    return airtime_s


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("to_s", [0.1, 3.0, 50.0, 5_000.0])
def test_airtime_is_the_integral_over_the_states(seed: int, to_s: float) -> None:
    expected_s = airtime_by_hand_s(seed, 2, to_s)
    assert availability(seed, 2).airtime_s(0.0, to_s) == pytest.approx(expected_s, rel=1e-12)
    assert availability(seed, 2).when_s(0.0, expected_s) == pytest.approx(to_s, rel=1e-12)


@given(st.lists(st.floats(1e-3, 3_000.0), min_size=1, max_size=20), st.integers(0, 5))
def test_the_path_is_the_same_however_it_is_asked(steps_s: list[float], seed: int) -> None:
    asked, whole, time_s, airtime_s = availability(seed), availability(seed), 0.0, 0.0
    for step_s in steps_s:
        airtime_s += asked.airtime_s(time_s, time_s + step_s)
        time_s += step_s
    assert airtime_s == pytest.approx(whole.airtime_s(0.0, time_s), rel=1e-9)
    assert asked.when_s(time_s, 10.0) == pytest.approx(availability(seed).when_s(0.0, airtime_s + 10.0), rel=1e-9)


def test_in_the_long_run_the_cell_has_its_mean_share() -> None:
    """A renewal reward: 99.9 % interval over 40 seeds of 2,500 cycles each."""
    shares = np.array([availability(seed).airtime_s(0.0, 1e4) / 1e4 for seed in range(40)])
    assert SETTINGS.mean_share == pytest.approx(3.25 / 4)
    assert abs(shares.mean() - SETTINGS.mean_share) < 3.55 * shares.std(ddof=1) / np.sqrt(40)


def test_the_state_at_the_start_follows_the_stationary_law() -> None:
    """At once: the share of cells that have full airtime is g / (g + b) = 0.75; binomial, 99.9 %."""
    early_s = [availability(1, cell).airtime_s(0.0, 1e-9) for cell in range(2_000)]
    good = np.mean(np.array(early_s) > 0.6e-9)
    assert abs(good - 0.75) < 3.3 * np.sqrt(0.75 * 0.25 / 2_000)


@pytest.mark.parametrize("pool_type", [FairPool, FifoPool])
def test_a_transfer_takes_what_the_cell_has(pool_type: type[FairPool] | type[FifoPool]) -> None:
    env = Environment(0.0)
    pool = pool_type(env, 1, availability=availability())
    env.run(pool.send(100.0))
    assert env.now == pytest.approx(availability().when_s(0.0, 100.0), rel=1e-12)


def test_sharing_stays_fair_and_exact() -> None:
    """Two transfers of 30 and 50 s of airtime: the first ends after 60 s of the cell's airtime, the second after 80."""
    env, ends_s = Environment(0.0), []
    pool = FairPool(env, 1, availability=availability())
    for airtime_s in (30.0, 50.0):
        pool.send(airtime_s).callbacks.append(lambda _: ends_s.append(env.now))
    env.run()
    assert ends_s == pytest.approx([availability().when_s(0.0, 60.0), availability().when_s(0.0, 80.0)], rel=1e-9)


def test_a_run_on_a_fluctuating_cell_takes_longer_and_sends_the_same() -> None:
    profile = FAST | {"fluctuation": {"bad_share": 0.1, "good_s": 20.0, "bad_s": 20.0}}
    steady = run(tiny_scenario(), timing_only=True)
    unsteady = run(tiny_scenario(cells=[{"name": "hall", "profile": profile}]), timing_only=True)
    assert unsteady.summary["bytes"] == steady.summary["bytes"]
    ratio = unsteady.summary["simulated_s"] / steady.summary["simulated_s"]
    assert 1 / 0.9 < ratio < 1 / 0.1
    assert unsteady.summary["closed_form"]["seconds"] is None
