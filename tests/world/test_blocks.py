"""Retransmitted blocks against the negative binomial law."""

import numpy as np
import pytest
from scipy import stats

from hfedms_sim.seeds import Draws
from hfedms_sim.world.blocks import distribution_of_failures, failed_blocks

CASES = [(1, 0.1), (7, 0.5), (40, 0.9), (214_011, 0.1), (10_000, 0.001), (3, 1e-6)]


@pytest.mark.parametrize(("blocks", "error_rate"), CASES)
def test_thedistribution_of_failures_is_the_negative_binomial_one(blocks: int, error_rate: float) -> None:
    first, distribution = distribution_of_failures(blocks, error_rate)
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
