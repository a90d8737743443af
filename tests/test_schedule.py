"""Growth functions, cycles and participants against the table of the paper's setting and against plain formulas."""

from math import floor

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hfedms_sim.schedule import Growth, cycle_of, group_count, group_size, position_in_cycle, selected

K = 368
# cycle from which it holds, M, L, M L, left out, m, m L
TABLE = [
    (1, 10, 36, 360, 8, 3, 108),
    (2, 20, 18, 360, 8, 6, 108),
    (3, 30, 12, 360, 8, 9, 108),
    (5, 40, 9, 360, 8, 12, 108),
    (8, 50, 7, 350, 18, 15, 105),
    (13, 60, 6, 360, 8, 18, 108),
    (21, 70, 5, 350, 18, 21, 105),
    (34, 80, 4, 320, 48, 24, 96),
    (55, 90, 4, 360, 8, 27, 108),
    (91, 100, 3, 300, 68, 30, 90),
    (149, 110, 3, 330, 38, 33, 99),
    (245, 120, 3, 360, 8, 36, 108),
    (404, 130, 2, 260, 108, 39, 78),
]


@pytest.mark.parametrize("row", TABLE, ids=lambda row: f"cycle {row[0]}")
def test_log_growth_gives_the_papers_groups_and_participants(row: tuple[int, ...]) -> None:
    cycle, groups, size, grouped, left_out, chosen, taking_part = row
    assert group_count("log", 2, 10, cycle, K) == groups
    assert group_size(groups, K) == size
    assert groups * size == grouped
    assert K - grouped == left_out
    assert selected(0.3, groups) == chosen
    assert chosen * size == taking_part


@pytest.mark.parametrize("row", TABLE[1:], ids=lambda row: f"cycle {row[0]}")
def test_the_number_of_groups_changes_at_exactly_that_cycle(row: tuple[int, ...]) -> None:
    assert group_count("log", 2, 10, row[0] - 1, K) == row[1] - 10


@given(st.integers(1, 500), st.floats(0, 3), st.integers(1, 50), st.integers(1, 5000))
def test_linear_growth_is_its_formula_capped(cycle: int, alpha: float, beta: int, sensors: int) -> None:
    expected = min(beta * floor(alpha * (cycle - 1) + 1 + 1e-9), sensors)
    assert group_count("linear", alpha, beta, cycle, sensors) == expected


@given(st.integers(1, 100), st.integers(1, 7), st.integers(1, 50), st.integers(1, 10**7))
def test_exponential_growth_is_its_formula_capped(cycle: int, alpha: int, beta: int, sensors: int) -> None:
    assert group_count("exp", alpha, beta, cycle, sensors) == min(beta * (1 + alpha) ** (cycle - 1), sensors)


@pytest.mark.parametrize(("cycle", "groups"), [(1, 10), (2, 10), (36, 30), (72, 100), (100, 260), (500, 368)])
def test_exponential_growth_with_a_small_rate(cycle: int, groups: int) -> None:
    """By hand: 1.0335^35 = 3.17, 1.0335^71 = 10.4, 1.0335^99 = 26.1."""
    assert group_count("exp", 0.0335, 10, cycle, K) == groups


@pytest.mark.parametrize("growth", ["log", "linear", "exp"])
@given(cycle=st.integers(1, 10**6), alpha=st.floats(0, 1e6), beta=st.integers(1, 10**6), sensors=st.integers(1, 10**6))
def test_any_growth_starts_at_beta_and_stays_within_the_sensors(
    growth: Growth, cycle: int, alpha: float, beta: int, sensors: int
) -> None:
    assert group_count(growth, alpha, beta, 1, sensors) == min(beta, sensors)
    assert 1 <= group_count(growth, alpha, beta, cycle, sensors) <= sensors


def test_500_rounds_with_interval_5_are_100_full_and_400_calibration_rounds() -> None:
    positions = [position_in_cycle(number, 5) for number in range(1, 501)]
    assert positions.count(0) == 100
    assert sum(position > 0 for position in positions) == 400
    assert cycle_of(500, 5) == 100


def test_the_first_round_of_a_cycle_is_the_full_one() -> None:
    assert [cycle_of(number, 3) for number in range(1, 8)] == [1, 1, 1, 2, 2, 2, 3]
    assert [position_in_cycle(number, 3) for number in range(1, 8)] == [0, 1, 2, 0, 1, 2, 0]
    assert [position_in_cycle(number, 5) for number in range(1, 35)].count(0) == 7  # the paper: 7 full, 27 calibration


@given(st.integers(1, 1000))
def test_a_ratio_that_is_a_whole_number_of_groups_is_not_rounded_down(tens: int) -> None:
    assert selected(0.3, 10 * tens) == 3 * tens
    assert selected(0.7, 10 * tens) == 7 * tens


def test_fedavg_takes_110_of_368_sensors_and_never_none() -> None:
    assert selected(0.3, K) == 110
    assert selected(0.01, 5) == 1
