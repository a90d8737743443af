"""Arrival paths: the same however they are asked, consistent to the last bit, and of the law they claim."""

import math
from collections.abc import Callable
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from hfedms_sim.seeds import Draws
from hfedms_sim.world.streams.arrivals import HORIZON_S, ArrivalPath, PeriodicPath, PoissonPath
from hfedms_sim.world.streams.bursts import BurstyPath
from hfedms_sim.world.streams.shifts import ShiftsPath
from tests.conftest import some_of
from tests.world.laws import ALPHA, assert_counts_follow, assert_dispersed_like_poisson
from tests.world.streams.traces import trace_path

SENSORS = 2_000
FROZEN_TIMES_S = [2.3063087463378906, 6.492571830749512, 2048.371717453003, 1998819.1410140991]
FROZEN_BURSTY_TIMES_S = [2.3063087463378906, 6.492571830749512, 9387.858024597168, 8084503.534247398]

PATHS: dict[str, Callable[[], ArrivalPath]] = {
    "periodic": lambda: PeriodicPath(0.3, Draws(1)),
    "rare poisson": lambda: PoissonPath(0.001, Draws(1)),
    "poisson": lambda: PoissonPath(1.0, Draws(1)),
    "fast poisson": lambda: PoissonPath(100.0, Draws(1)),
    "bursty": lambda: BurstyPath(2.0, 30.0, 100.0, Draws(1)),
    "shifts": lambda: ShiftsPath(2.0, 30.0, 100.0, Draws(1)),
    "trace": lambda: trace_path([[float(n * n) / 7 for n in range(50)], [], [1.0, 1.0, 2.0]] * 2),
}
every_path = pytest.mark.parametrize("path_of", PATHS.values(), ids=PATHS)
sensors = st.integers(0, 5)
times_s = st.sampled_from([0.0, 1.0, 4.0, 64.0, 4096.0]) | st.floats(0, 100) | st.floats(0, 1e8)
numbers = st.integers(1, 40) | st.integers(1, 10**7)
questions = st.lists(st.tuples(sensors, times_s | numbers), min_size=2, max_size=12)
# The same examples every time.
thoroughly = settings(max_examples=60, deadline=None, derandomize=True)


def answer(path: ArrivalPath, sensor: int, question: float) -> float:
    """A whole number asks when, a time asks how many."""
    return path.time_of(sensor, question) if isinstance(question, int) else path.count(sensor, question)


@every_path
@given(asked=questions)
@thoroughly
def test_the_path_is_the_same_however_it_is_asked(path_of: Callable[[], ArrivalPath], asked: list) -> None:
    fresh = [answer(path_of(), *question) for question in asked]
    path = path_of()
    assert [answer(path, *question) for question in asked] == fresh
    assert [answer(path, *question) for question in reversed(asked)] == fresh[::-1]


@every_path
@given(sensor=sensors, number=numbers)
@thoroughly
def test_when_and_how_many_never_contradict(path_of: Callable[[], ArrivalPath], sensor: int, number: int) -> None:
    path = path_of()
    time_s = path.time_of(sensor, number)
    assert time_s <= path.time_of(sensor, number + 1)
    if time_s < math.inf:
        assert path.count(sensor, time_s) >= number
        assert path.count(sensor, math.nextafter(time_s, -1)) < number


@every_path
@given(sensor=sensors, time_s=times_s)
@thoroughly
def test_the_arrivals_counted_are_those_that_came(
    path_of: Callable[[], ArrivalPath], sensor: int, time_s: float
) -> None:
    path = path_of()
    count = path.count(sensor, time_s)
    assert count == 0 or path.time_of(sensor, count) <= time_s
    assert path.time_of(sensor, count + 1) > time_s


@every_path
def test_other_sensors_move_nobodys_path(path_of: Callable[[], ArrivalPath]) -> None:
    alone, together = path_of(), path_of()
    for time_s in (3.0, 500.0, 40_000.0, 7e6):
        counts = [together.count(sensor, time_s) for sensor in range(6)]
        assert counts[4] == alone.count(4, time_s)


@pytest.mark.parametrize("name", ["periodic", "poisson", "bursty", "shifts"])
def test_sensors_and_seeds_have_paths_of_their_own(name: str) -> None:
    path = PATHS[name]()
    other_seed = replace(path, draws=Draws(2))
    assert len({answer(path, sensor, 5) for sensor in range(100)}) == 100
    assert path.time_of(0, 5) != other_seed.time_of(0, 5)


def test_nothing_arrives_while_the_factory_rests_and_everything_while_it_works() -> None:
    """Shifts of 100 s with rests of 50: the n-th arrival of the path without rests, moved by the rests before it."""
    path, without_rests = ShiftsPath(0.5, 100.0, 50.0, Draws(1)), PoissonPath(0.5, Draws(1))
    for sensor in range(20):
        for number in range(1, 200):
            time_s, worked_s = path.time_of(sensor, number), without_rests.time_of(sensor, number)
            assert time_s % 150.0 <= 100.0
            assert time_s == pytest.approx(worked_s + 50.0 * (worked_s // 100.0))
        assert path.count(sensor, 100.0) == path.count(sensor, 150.0) == without_rests.count(sensor, 100.0)


def test_periodic_arrivals_are_a_period_apart_after_a_uniform_phase() -> None:
    path = PeriodicPath(0.25, Draws(1))
    first_s = [path.time_of(sensor, 1) for sensor in range(SENSORS)]
    assert stats.kstest(first_s, stats.uniform(0, 4).cdf).pvalue > ALPHA
    for sensor in range(50):
        assert path.time_of(sensor, 1_000) == pytest.approx(first_s[sensor] + 999 * 4.0, rel=1e-14)
        assert path.count(sensor, 86_400.0) == 21_600
        assert path.count(sensor, first_s[sensor]) == 1


def counts_between(path: ArrivalPath, start_s: float, end_s: float) -> np.ndarray:
    return np.array([path.count(sensor, end_s) - path.count(sensor, start_s) for sensor in range(SENSORS)])


# Inside one slot (8 s at 1 Hz), a whole one, across few and many, and across a doubling; all disjoint.
STRETCHES_S = [(0, 0.7), (0.7, 3.1), (6.5, 9.5), (10, 15.9), (16, 24), (24, 100), (1_000, 1_100), (4_095.5, 4_097.5)]
LONG_STRETCHES_S = [(3e4, 4e4), (86_400.0, 1e8), (31_536_000.25, 31_536_003.0)]


@pytest.mark.parametrize(
    "stretch_s", some_of(STRETCHES_S + LONG_STRETCHES_S, kept=[*STRETCHES_S[::2], LONG_STRETCHES_S[1]])
)
def test_poisson_counts_are_poisson(stretch_s: tuple[float, float]) -> None:
    start_s, end_s = stretch_s
    counts = counts_between(PoissonPath(1.0, Draws(3)), start_s, end_s)
    assert_counts_follow(counts, stats.poisson(end_s - start_s))
    assert_dispersed_like_poisson(counts, end_s - start_s)


@pytest.mark.parametrize("rate_hz", [0.001, 0.3, 100.0, 1e6])
def test_poisson_counts_have_the_mean_and_variance_of_any_rate(rate_hz: float) -> None:
    mean = 321.0
    counts = counts_between(PoissonPath(rate_hz, Draws(4)), 1_234.5 / rate_hz, (1_234.5 + mean) / rate_hz)
    assert abs(counts.mean() - mean) < stats.norm.isf(ALPHA / 2) * math.sqrt(mean / SENSORS)
    assert_dispersed_like_poisson(counts, mean)


@pytest.mark.parametrize("first", [1, 1_000, 10_000_000])
def test_poisson_gaps_are_exponential_and_independent(first: int) -> None:
    path = PoissonPath(0.1, Draws(5))
    arrivals_s = [[path.time_of(sensor, first + n) for n in range(41)] for sensor in range(100)]
    gaps_s = np.diff(arrivals_s)
    assert stats.kstest(gaps_s.ravel(), stats.expon(scale=10).cdf).pvalue > ALPHA
    next_to = np.corrcoef(gaps_s[:, :-1].ravel(), gaps_s[:, 1:].ravel())[0, 1]
    assert abs(next_to) < stats.norm.isf(ALPHA / 2) / math.sqrt(100 * 39)


@pytest.mark.parametrize("time_s", [0.0, 7.99, 8.0, 12_345.6])
def test_the_wait_for_a_poisson_arrival_is_exponential_from_any_time(time_s: float) -> None:
    path = PoissonPath(1.0, Draws(6))
    waits_s = [path.time_of(sensor, path.count(sensor, time_s) + 1) - time_s for sensor in range(SENSORS)]
    assert stats.kstest(waits_s, "expon").pvalue > ALPHA


def test_poisson_counts_of_disjoint_stretches_and_of_different_sensors_are_uncorrelated() -> None:
    path = PoissonPath(1.0, Draws(7))
    stretches = [counts_between(path, start_s, end_s) for start_s, end_s in STRETCHES_S]
    stretches.append(np.roll(stretches[-1], 1))
    correlations = np.corrcoef(stretches)[np.triu_indices(len(stretches), 1)]
    assert np.abs(correlations).max() < stats.norm.isf(ALPHA / 2 / correlations.size) / math.sqrt(SENSORS)


def test_a_seed_means_the_same_arrivals_in_every_version() -> None:
    poisson, bursty = PoissonPath(0.5, Draws(1)), BurstyPath(0.5, 30.0, 90.0, Draws(1))
    assert [poisson.time_of(0, number) for number in (1, 2, 1_000, 1_000_000)] == FROZEN_TIMES_S
    assert [bursty.time_of(0, number) for number in (1, 2, 1_000, 1_000_000)] == FROZEN_BURSTY_TIMES_S


@pytest.mark.parametrize("rate_hz", [1e-300, 1e-12, 1e-9])
def test_nothing_arrives_after_the_horizon(rate_hz: float) -> None:
    draws = Draws(1)
    for path in (PeriodicPath(rate_hz, draws), PoissonPath(rate_hz, draws), BurstyPath(rate_hz, 1e-6, 1e9, draws)):
        count = path.count(0, math.inf)
        assert count == path.count(0, HORIZON_S) <= 40
        assert path.time_of(0, count + 1) == math.inf
        assert path.count(0, 1.0) == 0
