"""Bursty arrivals against the exact theory of the interrupted Poisson process."""

import math

import numpy as np
import pytest
from scipy import stats

from hfedms_sim.seeds import Draws
from hfedms_sim.world.streams.arrivals import TICKS_PER_S
from hfedms_sim.world.streams.bursts import BurstyPath
from tests.conftest import some_of
from tests.world.laws import ALPHA, assert_dispersed_like_poisson

CRITICAL = stats.norm.isf(ALPHA / 2)
SENSORS = 2_000
RATE_HZ, ON_S, OFF_S = 2.0, 30.0, 90.0
ON_SHARE = ON_S / (ON_S + OFF_S)
CHANGES_HZ = 1 / ON_S + 1 / OFF_S

# From the start, and far away.
STRETCHES_S = [(0.0, 1.0), (0.0, 60.0), (500.0, 20.0), (1e6, 5.0), (1e6, 3_600.0), (3e7, 100_000.0)]
stretches = pytest.mark.parametrize("stretch_s", some_of(STRETCHES_S, kept=STRETCHES_S[1::2]))
"""Where each begins, and how long it is."""


def count_mean(length_s: float) -> float:
    return RATE_HZ * ON_SHARE * length_s


def count_variance(length_s: float) -> float:
    remembered = length_s / CHANGES_HZ - (1 - math.exp(-CHANGES_HZ * length_s)) / CHANGES_HZ**2
    return count_mean(length_s) + 2 * RATE_HZ**2 * ON_SHARE * (1 - ON_SHARE) * remembered


@stretches
def test_counts_have_the_mean_and_the_variance_of_theory(stretch_s: tuple[float, float]) -> None:
    start_s, length_s = stretch_s
    path = BurstyPath(RATE_HZ, ON_S, OFF_S, Draws(1))
    ends_s = (start_s, start_s + length_s)
    counts = np.array([path.count(s, ends_s[1]) - path.count(s, ends_s[0]) for s in range(SENSORS)], dtype=float)
    mean, variance = count_mean(length_s), count_variance(length_s)
    assert abs(counts.mean() - mean) < CRITICAL * math.sqrt(variance / SENSORS)
    squares = (counts - mean) ** 2
    assert abs(squares.mean() - variance) < CRITICAL * squares.std() / math.sqrt(SENSORS)
    assert squares.mean() / mean > 1.2


@pytest.mark.parametrize("first", [1, 100_000])
def test_gaps_follow_the_hyperexponential_law_of_theory(first: int) -> None:
    """After an arrival the sensor is on: a gap is a race of the next arrival against an off sojourn (Kuczura 1973)."""
    total_hz = RATE_HZ + CHANGES_HZ
    spread_hz = math.sqrt(total_hz**2 - 4 * RATE_HZ / OFF_S)
    fast_hz, slow_hz = (total_hz + spread_hz) / 2, (total_hz - spread_hz) / 2
    fast_share = (RATE_HZ - slow_hz) / (fast_hz - slow_hz)
    path = BurstyPath(RATE_HZ, ON_S, OFF_S, Draws(2))
    gaps_s = np.diff([[path.time_of(sensor, first + n) for n in range(101)] for sensor in range(60)]).ravel()
    assert (
        stats.kstest(
            gaps_s, lambda t: 1 - fast_share * np.exp(-fast_hz * t) - (1 - fast_share) * np.exp(-slow_hz * t)
        ).pvalue
        > ALPHA
    )


@pytest.mark.parametrize("time_s", [0.0, 77.7, 1e7])
def test_a_sensor_is_on_its_share_of_the_time_at_any_time(time_s: float) -> None:
    path = BurstyPath(RATE_HZ, ON_S, OFF_S, Draws(3))
    tick = int(time_s * TICKS_PER_S)
    on = [path.on_ticks(sensor, tick + 1) - path.on_ticks(sensor, tick) for sensor in range(SENSORS)]
    assert set(on) == {0, 1}
    assert stats.binomtest(sum(on), SENSORS, ON_SHARE).pvalue > ALPHA


@pytest.mark.parametrize("time_s", [0.0, 12_345.6])
def test_what_is_left_of_a_sojourn_is_exponential(time_s: float) -> None:
    """The sensors that are on and those of them still on after 10 s and 40 s; and so for off."""
    path = BurstyPath(RATE_HZ, ON_S, OFF_S, Draws(4))
    start = int(time_s * TICKS_PER_S)
    for after_s in (10.0, 40.0):
        ticks = int(after_s * TICKS_PER_S)
        on = np.array([path.on_ticks(s, start + ticks) - path.on_ticks(s, start) for s in range(SENSORS)])
        first = np.array([path.on_ticks(s, start + 1) - path.on_ticks(s, start) for s in range(SENSORS)])
        for state, mean_s, whole in ((1, ON_S, ticks), (0, OFF_S, 0)):
            stayed, all_in_state = np.sum(on[first == state] == whole), np.sum(first == state)
            assert stats.binomtest(stayed, all_in_state, math.exp(-after_s / mean_s)).pvalue > ALPHA


def test_hardly_ever_off_is_poisson() -> None:
    path = BurstyPath(1.0, 1e9, 1e-3, Draws(5))
    assert_dispersed_like_poisson([path.count(sensor, 50.0) for sensor in range(SENSORS)], mean=50.0)
