"""Retransmitted blocks against the negative binomial law; those of a broadcast against the largest of n geometrics."""

from fractions import Fraction
from math import comb

import numpy as np
import pytest
from scipy import stats

from hfedms_sim.seeds import Draws
from hfedms_sim.world.radio.blocks import failed_blocks, law_of_failures, negative_binomial_table
from hfedms_sim.world.radio.broadcasts import sum_of_blocks
from hfedms_sim.world.radio.tabulated import Tabulated

CASES = [(1, 0.1), (7, 0.5), (40, 0.9), (214_011, 0.1), (10_000, 0.001), (3, 1e-6)]


@pytest.mark.parametrize(("blocks", "error_rate"), CASES)
def test_thedistribution_of_failures_is_the_negative_binomial_one(blocks: int, error_rate: float) -> None:
    first, distribution = negative_binomial_table(blocks, error_rate)
    theory = stats.nbinom.cdf(np.arange(first, first + len(distribution)), blocks, 1 - error_rate)
    assert np.abs(np.array(distribution) - theory).max() < 1e-9


@pytest.mark.parametrize(("blocks", "error_rate"), CASES[:5])
def test_mean_and_variance_are_those_of_the_theory(blocks: int, error_rate: float) -> None:
    """Within 99.9 % intervals: normal for the mean; for the variance by its asymptotic standard error."""
    draws = Draws(1).uniform("test", np.arange(40_000))
    failed = np.array([failed_blocks(blocks, error_rate, uniform) for uniform in draws])
    mean, variance = blocks * error_rate / (1 - error_rate), blocks * error_rate / (1 - error_rate) ** 2
    fourth = stats.nbinom.stats(blocks, 1 - error_rate, moments="k") + 3
    quantile = stats.norm.isf(0.0005)
    assert abs(failed.mean() - mean) < quantile * np.sqrt(variance / failed.size)
    assert abs(failed.var() - variance) < quantile * variance * np.sqrt((fourth - 1) / failed.size)


def test_without_errors_nothing_is_sent_again() -> None:
    assert failed_blocks(1_000, 0.0, 0.999) == 0


@pytest.mark.parametrize(("uniform", "failed"), [(0.0, 0), (0.0999, 0), (0.1001, 1), (0.189, 1), (0.1901, 2)])
def test_one_block_is_inverted_by_hand(uniform: float, failed: int) -> None:
    """p = 0.9: P(F = 0) = 0.1, P(F <= 1) = 0.19."""
    assert failed_blocks(1, 0.9, uniform) == failed


def test_the_largest_draw_stays_in_the_table() -> None:
    assert failed_blocks(214_011, 0.1, 1 - 2**-53) < 214_011


BROADCASTS = [(1, 0.1, 110), (7, 0.5, 3), (40, 0.9, 12), (214_011, 0.1, 110), (54, 0.1, 60), (10_000, 0.001, 1_000)]


def law(blocks: int, error_rate: float, listeners: int) -> tuple[np.ndarray, np.ndarray]:
    """The numbers of further blocks that matter, and the probability of each."""
    law = law_of_failures(blocks, error_rate, listeners)
    assert isinstance(law, Tabulated)
    first, distribution = law
    return np.arange(first, first + len(distribution)), np.diff(distribution, prepend=0.0)


def expected_transmissions(error_rate: float, listeners: int) -> float:
    """E[max] of n geometric numbers by inclusion and exclusion: the sum over j of (-1)^(j+1) C(n, j) / (1 - p^j)."""
    exact = Fraction(error_rate)
    return float(sum((-1) ** (j + 1) * comb(listeners, j) / (1 - exact**j) for j in range(1, listeners + 1)))


@pytest.mark.parametrize(("blocks", "error_rate", "listeners"), [*BROADCASTS[:5], (10_000, 0.001, 100)])
def test_a_broadcast_takes_the_expectation_of_the_maximum_for_each_block(
    blocks: int, error_rate: float, listeners: int
) -> None:
    failures, probability = law(blocks, error_rate, listeners)
    expected = blocks * (expected_transmissions(error_rate, listeners) - 1)
    assert probability @ failures == pytest.approx(expected, rel=1e-9)


def test_110_listeners_at_one_error_in_ten_take_almost_three_times_the_airtime() -> None:
    failures, probability = law(1_000, 0.1, 110)
    assert 1 + probability @ failures / 1_000 == pytest.approx(2.785, abs=1e-3)


@pytest.mark.parametrize(("error_rate", "listeners"), [(0.1, 110), (0.5, 3), (0.9, 12)])
def test_one_block_has_the_law_of_the_maximum_and_few_that_of_its_convolutions(
    error_rate: float, listeners: int
) -> None:
    most = np.arange(1_000)
    one = np.diff((1 - error_rate ** (most + 1.0)) ** listeners, prepend=0.0)
    several = one
    for blocks in range(1, 5):
        failures, probability = law(blocks, error_rate, listeners)
        theory = np.zeros(failures[-1] + 1)
        theory[: len(several[: len(theory)])] = several[: len(theory)]
        assert np.abs(np.cumsum(probability) - np.cumsum(theory)[failures]).max() < 1e-11
        several = np.convolve(several, one)


@pytest.mark.parametrize(("blocks", "error_rate", "listeners"), BROADCASTS[:3] + BROADCASTS[4:5])
def test_a_broadcast_block_by_block_and_listener_by_listener_takes_as_long(
    blocks: int, error_rate: float, listeners: int
) -> None:
    """Brute force against draws by the law: means of 2,000 broadcasts each, within a 99.9 % interval."""
    generator, count = np.random.default_rng(5), 2_000
    brute = np.array(
        [(generator.geometric(1 - error_rate, (blocks, listeners)).max(axis=1) - 1).sum() for _ in range(count)]
    )
    drawn = np.array(
        [
            failed_blocks(blocks, error_rate, uniform, listeners)
            for uniform in Draws(3).uniform("test", np.arange(count))
        ]
    )
    assert abs(brute.mean() - drawn.mean()) < stats.norm.isf(0.0005) * np.sqrt((brute.var() + drawn.var()) / count)
    assert stats.ks_2samp(brute, drawn).pvalue > 0.001


@pytest.mark.parametrize(("blocks", "error_rate"), CASES)
def test_by_transforms_one_listener_has_the_negative_binomial_law(blocks: int, error_rate: float) -> None:
    first, distribution = sum_of_blocks(blocks, error_rate, 1)
    theory = stats.nbinom.cdf(np.arange(first, first + len(distribution)), blocks, 1 - error_rate)
    assert np.abs(np.array(distribution) - theory).max() < 1e-9


@pytest.mark.parametrize(("blocks", "error_rate", "listeners"), BROADCASTS)
def test_more_listeners_never_need_less_and_every_draw_stays_in_the_table(
    blocks: int, error_rate: float, listeners: int
) -> None:
    for uniform in (0.0, 0.001, 0.5, 0.999, 1 - 2**-53):
        alone, together = (failed_blocks(blocks, error_rate, uniform, each) for each in (1, listeners))
        assert 0 <= alone <= together
    assert law_of_failures(blocks, error_rate, listeners)[1][-1] == 1.0
