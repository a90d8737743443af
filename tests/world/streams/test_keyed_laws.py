"""Each keyed law is the law it says, on both sides of every change of method; and nothing counts but its key."""

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from scipy import stats

from hfedms_sim.seeds import Draws
from hfedms_sim.world.streams.keyed_laws import (
    KeyedBits,
    RejectionHat,
    binomial_half,
    gamma,
    half_hat,
    poisson,
    poisson_hat,
    symmetric_beta,
)
from tests.world.laws import ALPHA, assert_counts_follow

KEYS = 4_000

words = KeyedBits(Draws(1), "test")


def drawn(law: Callable[..., Any], size: float) -> list[Any]:
    return [law(words, entity, 2**40 + index, size) for entity in range(10) for index in range(KEYS // 10)]


@pytest.mark.parametrize("trials", [1, 2, 7, 64, 512, 513, 1_000, 10_001, 10**6, 10**9])
def test_each_trial_falls_into_either_half_alike(trials: int) -> None:
    assert_counts_follow(drawn(binomial_half, trials), stats.binom(trials, 0.5))


def assert_bounds_hold(hat: RejectionHat) -> None:
    for u in np.linspace(-0.5, 0.5, 2_002)[1:-1].tolist():
        inside = 0.5 - abs(u)
        number = math.floor((2 * hat.a / inside + hat.b) * u + hat.centre)
        accepted = math.exp(hat.log_mass(number)) * (hat.a / inside**2 + hat.b) / hat.height
        assert accepted <= 1
        assert accepted >= hat.sure or inside < 0.07


def test_rejection_is_exact() -> None:
    """No proposal would have to be accepted more than surely, nor is one accepted early that might be refused."""
    for trials in (513, 514, 777, 1_000, 5_001, 10**5, 10**7):
        assert_bounds_hold(half_hat(trials))
    for mean in (10.0, 10.4, 11.9, 15.7, 17.35, 24.2, 33.3, 61.0, 150.5, 1e3, 1e5, 1e7):
        assert_bounds_hold(poisson_hat(mean))


def test_no_trials_no_successes() -> None:
    assert binomial_half(words, 0, 0, 0) == 0


@pytest.mark.parametrize("mean", [0.01, 0.5, 4.0, 9.99, 10.0, 33.3, 1_000.0, 1e6, 1e9])
def test_counts_are_poisson(mean: float) -> None:
    assert_counts_follow(drawn(poisson, mean), stats.poisson(mean))


@pytest.mark.parametrize("shape", [1, 2, 5, 100, 10**6])
def test_sums_of_exponentials_are_gamma(shape: int) -> None:
    assert stats.kstest(drawn(gamma, shape), stats.gamma(shape).cdf).pvalue > ALPHA


@pytest.mark.parametrize("shape", [1, 2, 5, 100, 10**6])
def test_shares_of_halves_are_beta(shape: int) -> None:
    assert stats.kstest(drawn(symmetric_beta, shape), stats.beta(shape, shape).cdf).pvalue > ALPHA


def test_uniforms_are_uniform_and_go_on_beyond_a_block() -> None:
    uniforms = words.uniforms(3, 4)
    assert stats.kstest([next(uniforms) for _ in range(KEYS)], "uniform").pvalue > ALPHA


def test_only_the_key_counts() -> None:
    keys = [(1, "a", 0, 0), (2, "a", 0, 0), (1, "b", 0, 0), (1, "a", 1, 0), (1, "a", 0, 1)]
    blocks = [KeyedBits(Draws(seed), purpose).block(entity, index) for seed, purpose, entity, index in keys]
    assert len(set(blocks)) == len(keys)
    assert blocks == [KeyedBits(Draws(seed), purpose).block(entity, index) for seed, purpose, entity, index in keys]
    assert KeyedBits(Draws(1), "a").block(0, 0, 1) not in blocks
