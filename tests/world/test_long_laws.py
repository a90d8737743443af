"""Laws of failed blocks whose tables would be long: the forms without one agree with tables, and need no memory."""

import tracemalloc
from math import sqrt

import numpy as np
import pytest
from scipy import stats

from hfedms_sim.world.radio.blocks import NegativeBinomial, failed_blocks, law_of_failures, negative_binomial_table
from hfedms_sim.world.radio.broadcasts import Bundled, ManyBlocks, broadcast_law, largest_geometric, sum_of_blocks
from hfedms_sim.world.radio.tabulated import Tabulated

UNIFORMS = (0.0, 1e-12, 1e-6, 0.01, 0.1, 0.3, 0.5, 0.7, 0.9, 0.99, 1 - 1e-6, 1 - 2**-53)
MOST_BYTES = 50e6


@pytest.mark.parametrize(("blocks", "error_rate"), [(1, 0.999), (3, 0.99), (10_000, 0.9), (500_000, 0.5), (10**7, 0.1)])
def test_the_beta_function_gives_what_a_long_table_gives(blocks: int, error_rate: float) -> None:
    assert isinstance(law_of_failures(blocks, error_rate), NegativeBinomial)
    table = negative_binomial_table(blocks, error_rate)
    for uniform in UNIFORMS[2:-1]:  # the table itself is right to about 1e-11
        assert failed_blocks(blocks, error_rate, uniform) == table.failed(uniform)


@pytest.mark.parametrize(("error_rate", "listeners"), [(0.9, 2), (0.9, 110), (0.99, 12)])
@pytest.mark.parametrize("blocks", [1_000, 4_000])
def test_many_blocks_by_four_cumulants_are_a_thousandth_of_a_deviation_from_the_transform(
    blocks: int, error_rate: float, listeners: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("hfedms_sim.world.radio.broadcasts._LONGEST_RANGE", 2**20)
    exact = sum_of_blocks(blocks, error_rate, listeners)
    monkeypatch.setattr("hfedms_sim.world.radio.broadcasts._LONGEST_RANGE", 0)
    nearly = sum_of_blocks(blocks, error_rate, listeners)
    assert isinstance(exact, Tabulated)
    assert isinstance(nearly, ManyBlocks)
    for uniform in UNIFORMS[2:-1]:
        assert abs(nearly.failed(uniform) - exact.failed(uniform)) <= 1 + 1e-3 * nearly.deviation


@pytest.mark.parametrize("listeners", [2, 12, 110])
@pytest.mark.parametrize("blocks", [1, 2, 30])
def test_bundles_of_transmissions_have_the_law_of_single_ones(
    blocks: int, listeners: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    exact = broadcast_law.__wrapped__(blocks, 0.99, listeners)
    monkeypatch.setattr("hfedms_sim.world.radio.broadcasts._LONGEST_BLOCK", 500)
    bundled = broadcast_law.__wrapped__(blocks, 0.99, listeners)
    assert isinstance(exact, Tabulated)
    assert isinstance(bundled, Bundled)
    for uniform in UNIFORMS[3:-2]:
        assert abs(bundled.failed(uniform) - exact.failed(uniform)) <= bundled.size * (1 + sqrt(blocks))


@pytest.mark.parametrize("error_rate", [0.99999, 0.9999999, 1 - 1e-9])
def test_one_block_of_a_broadcast_that_nearly_always_fails_has_the_law_of_the_maximum(error_rate: float) -> None:
    """P(F <= f) = (1 - p^(f + 1))^n, turned around by hand."""
    for uniform in (0.01, 0.5, 0.99):
        exact = np.log(-np.expm1(np.log(uniform) / 60)) / np.log(error_rate)
        assert failed_blocks(1, error_rate, uniform, 60) == pytest.approx(exact, rel=1e-2)


@pytest.mark.parametrize("listeners", [1, 2, 110])
@pytest.mark.parametrize("blocks", [1, 40, 214_011, 10**9])
@pytest.mark.parametrize("error_rate", [1e-300, 0.1, 0.999, 0.9999999, 1 - 1e-9])
def test_no_law_within_the_bounds_takes_much_memory(blocks: int, error_rate: float, listeners: int) -> None:
    failed_blocks(3, 0.9999, 0.5)  # scipy is there
    tracemalloc.start()
    drawn = [failed_blocks(blocks, error_rate, uniform, listeners) for uniform in UNIFORMS]
    _, peak_bytes = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert peak_bytes < MOST_BYTES
    assert drawn == sorted(drawn)
    assert drawn[0] >= 0


@pytest.mark.parametrize(("blocks", "error_rate"), [(40, 0.9999), (214_011, 0.999)])
def test_a_law_without_a_table_has_mean_and_deviation_of_the_theory(blocks: int, error_rate: float) -> None:
    for listeners in (1, 20):
        draws = (np.arange(2_000) + 0.5) / 2_000
        drawn = np.array([failed_blocks(blocks, error_rate, uniform, listeners) for uniform in draws], dtype=float)
        one = np.diff((1 - error_rate ** (np.arange(1.0, 60 / (1 - error_rate)))) ** listeners, prepend=0.0)
        numbers = np.arange(len(one))
        mean = one @ numbers
        deviation = np.sqrt(one @ (numbers - mean) ** 2)
        assert drawn.mean() == pytest.approx(blocks * mean, rel=2e-3)
        assert drawn.std() == pytest.approx(np.sqrt(blocks) * deviation, rel=2e-2)


def test_the_law_of_one_block_sums_to_one_and_has_no_negative_part() -> None:
    for error_rate, listeners in ((1e-9, 5), (0.5, 2), (0.99, 1_000)):
        one = largest_geometric(error_rate, listeners)
        assert one.sum() == pytest.approx(1.0, abs=1e-12)
        assert (one >= 0).all()


def test_the_beta_function_and_the_negative_binomial_of_others_agree() -> None:
    for uniform in (0.001, 0.4, 0.999):
        assert failed_blocks(50, 0.9999, uniform) == stats.nbinom.ppf(uniform, 50, 1 - 0.9999)
