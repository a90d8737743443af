"""Keyed draws are uniform, independent across keys, and depend on nothing but their key."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from hfedms_sim.seeds import Draws

ALPHA = 0.001  # 99.9 %
FROZEN_BITS = [8486065395128162925, 17779452027652212078]
FROZEN_ORDER = [0, 1, 4, 2, 6, 7, 5, 3]


@pytest.mark.parametrize("axis", ["entity", "index"])
def test_draws_are_uniform_along_entities_and_along_indices(axis: str) -> None:
    counter = np.arange(100_000)
    values = Draws(1).uniform("test", counter if axis == "entity" else 7, counter if axis == "index" else 7)
    observed, _ = np.histogram(values, bins=100, range=(0, 1))
    assert stats.chisquare(observed).pvalue > ALPHA


def test_neighbouring_keys_are_uncorrelated() -> None:
    entity, index = np.arange(2_000), np.arange(50)[:, None]
    values = Draws(3).uniform("test", entity, index)
    bound = stats.norm.isf(ALPHA / 2) / np.sqrt(values.size)
    for shifted in (np.roll(values, 1, axis=0), np.roll(values, 1, axis=1), Draws(4).uniform("test", entity, index)):
        assert abs(np.corrcoef(values.ravel(), shifted.ravel())[0, 1]) < bound


def test_flipping_one_bit_of_the_key_flips_half_of_the_bits_of_the_draw() -> None:
    entity = np.arange(4_096)
    for bit in range(0, 40, 3):
        changed = Draws(1).bits("test", entity) ^ Draws(1).bits("test", entity ^ (1 << bit))
        flipped = np.unpackbits(changed.view(np.uint8)).mean()
        assert flipped == pytest.approx(0.5, abs=4 * 0.5 / np.sqrt(64 * entity.size))


@given(st.integers(0, 2**63 - 1), st.integers(1, 500), st.integers(0, 100))
def test_one_more_entity_moves_nobody_elses_draw(seed: int, count: int, index: int) -> None:
    draws = Draws(seed)
    fewer = draws.bits("test", np.arange(count), index)
    more = draws.bits("test", np.arange(count + 1), index)
    assert np.array_equal(fewer, more[:count])


def test_purposes_and_seeds_are_separate_streams() -> None:
    entity = np.arange(1_000)
    streams = [Draws(seed).bits(purpose, entity) for seed in (1, 2) for purpose in ("a", "b")]
    assert len(np.unique(np.concatenate(streams))) == 4_000


def test_draws_do_not_change_between_versions() -> None:
    """A changed hash would silently change every published result."""
    assert Draws(1).bits("selection", [0, 1], 2).tolist() == FROZEN_BITS
    assert Draws(1).order("grouping", np.arange(8), 1).tolist() == FROZEN_ORDER


@given(st.integers(0, 1000), st.integers(1, 200), st.data())
def test_a_subset_has_its_size_and_no_repetition(seed: int, count: int, data: st.DataObject) -> None:
    size = data.draw(st.integers(0, count))
    subset = Draws(seed).subset("test", np.arange(count), size, 3)
    assert len(set(subset.tolist())) == size
    assert all(0 <= entity < count for entity in subset)


def test_every_entity_is_drawn_equally_often() -> None:
    drawn = np.concatenate([Draws(1).subset("test", np.arange(20), 6, index) for index in range(5_000)])
    observed = np.bincount(drawn, minlength=20)
    assert stats.chisquare(observed).pvalue > ALPHA


@given(st.integers(0, 2**63 - 1), st.integers(0, 2**62), st.integers(0, 2**62))
def test_a_single_draw_is_the_one_the_array_has(seed: int, entity: int, index: int) -> None:
    assert Draws(seed).one_uniform("test", entity, index) == Draws(seed).uniform("test", entity, index)


def test_normal_draws_are_normal() -> None:
    assert stats.kstest(Draws(1).normal("test", np.arange(100_000)), "norm").pvalue > ALPHA


@given(st.integers(0, 2**63 - 1), st.integers(0, 50), st.lists(st.integers(0, 2**40), min_size=1, max_size=5))
def test_draws_prepared_for_entities_are_the_same_draws(seed: int, count: int, indices: list[int]) -> None:
    draws = Draws(seed)
    prepared = draws.of_entities(["a", "b"], count).uniform(np.array(indices))
    for purpose, rows in zip(["a", "b"], prepared, strict=True):
        for index, row in zip(indices, rows, strict=True):
            assert np.array_equal(row, draws.uniform(purpose, np.arange(count), index))
