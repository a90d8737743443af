"""Paths that are up or down by turns: exact, the same however they are asked, and as available as they should be."""

from itertools import pairwise
from math import inf, sqrt

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from hfedms_sim.seeds import Draws
from hfedms_sim.world.faults.spells import ALWAYS_UP, AnyDown, Once, Renewal, Spell, Spells

ENTITIES = 2_000
times = st.lists(st.floats(0, 3_000, allow_subnormal=False), min_size=1, max_size=30).map(sorted)


def renewal(up_s: float = 90.0, down_s: float = 10.0, entities: int = ENTITIES, **keys: object) -> Renewal:
    return Renewal(Draws(7), "test", entities, up_s, down_s, **keys)  # type: ignore[arg-type]


def walked(path: Spells, entity: int, until_s: float) -> list[Spell]:
    """Ask for every standing from the beginning, each at the moment the last one ends."""
    found, now_s = list[Spell](), 0.0
    while now_s < until_s:
        found.append(path.spell_at(entity, now_s))
        now_s = found[-1].until_s
    return found


def test_one_spell_begins_and_ends() -> None:
    path = Once(10.0, 5.0, {3})
    assert path.spell_at(3, 9.9) == Spell(False, 10.0)
    assert path.spell_at(3, 10.0) == Spell(True, 15.0)
    assert path.spell_at(3, 15.0) == ALWAYS_UP
    assert path.spell_at(4, 12.0) == ALWAYS_UP
    assert Once(0.0, inf).spell_at(9, 1e9) == Spell(True, inf)


@given(asked_s=times, entity=st.integers(0, ENTITIES - 1))
def test_a_path_is_the_same_however_it_is_asked(asked_s: list[float], entity: int) -> None:
    """Asked only at the end, at many times, or looked ahead for all at once: to the last bit."""
    often, ahead = renewal(), renewal()
    for now_s in asked_s:
        ahead.prepare(np.arange(ENTITIES), now_s)
        assert often.spell_at(entity, now_s) == ahead.spell_at(entity, now_s)
    assert renewal().spell_at(entity, asked_s[-1]) == often.spell_at(entity, asked_s[-1])


@given(entity=st.integers(0, ENTITIES - 1), now_s=st.floats(0, 3_000))
def test_a_standing_holds_until_it_says(entity: int, now_s: float) -> None:
    standing = renewal().spell_at(entity, now_s)
    assert standing.until_s > now_s
    assert renewal().spell_at(entity, np.nextafter(standing.until_s, 0)) == standing
    assert renewal().spell_at(entity, standing.until_s).is_down != standing.is_down


def test_a_path_is_up_and_down_by_turns() -> None:
    states = [each.is_down for each in walked(renewal(), 5, 5_000.0)]
    assert len(states) > 20
    assert all(one != other for one, other in pairwise(states))


@pytest.mark.parametrize("now_s", [0.0, 3.0, 100.0, 12_345.6])
def test_the_availability_is_that_of_the_means_at_any_time(now_s: float) -> None:
    path = renewal()
    share = np.mean([not path.spell_at(entity, now_s).is_down for entity in range(ENTITIES)])
    assert abs(share - 0.9) < 4 * sqrt(0.9 * 0.1 / ENTITIES)


def test_sojourns_are_exponential_with_their_means() -> None:
    """Kolmogorov-Smirnov at the level of 0.1 %, of what lies between the first and the last change."""
    path = renewal(up_s=30.0, down_s=5.0, entities=1)
    standings = walked(path, 0, 100_000.0)[1:-1]
    lengths = np.diff([each.until_s for each in standings])
    for is_down, mean_s in ((False, 30.0), (True, 5.0)):
        sample = np.sort([s for s, each in zip(lengths, standings[1:], strict=True) if each.is_down is is_down])
        law = 1 - np.exp(-sample / mean_s)
        steps = np.arange(len(sample) + 1) / len(sample)
        distance = max((law - steps[:-1]).max(), (steps[1:] - law).max())
        assert distance < 1.95 / sqrt(len(sample))


def test_another_entity_moves_nobodys_path() -> None:
    few, many = renewal(entities=10), renewal(entities=1_000)
    assert all(few.spell_at(entity, 500.0) == many.spell_at(entity, 500.0) for entity in range(10))


def test_whoever_is_not_hit_is_up() -> None:
    path = renewal(hit={1, 2})
    assert path.spell_at(0, 100.0) == ALWAYS_UP
    assert path.spell_at(1, 100.0) == renewal().spell_at(1, 100.0)


def test_seconds_down_are_those_of_the_path() -> None:
    until_s = np.linspace(10.0, 2_000.0, 40)
    down_s = renewal(entities=40).down_s(until_s)
    for entity in range(40):
        standings = walked(renewal(entities=40), entity, until_s[entity])
        begins_s = [0.0, *(each.until_s for each in standings)]
        by_hand = sum(
            min(each.until_s, until_s[entity]) - begin_s
            for each, begin_s in zip(standings, begins_s, strict=False)
            if each.is_down
        )
        assert down_s[entity] == pytest.approx(by_hand, abs=1e-9)


@given(asked_s=times, entity=st.integers(0, 20))
def test_joint_paths_are_down_while_any_of_them_is(asked_s: list[float], entity: int) -> None:
    joint = AnyDown([renewal(60.0, 20.0, 21), Renewal(Draws(8), "other", 21, 50.0, 50.0), Once(100.0, 700.0, {4})])
    for now_s in asked_s:
        alone = (renewal(60.0, 20.0, 21), Renewal(Draws(8), "other", 21, 50.0, 50.0), Once(100.0, 700.0, {4}))
        standing = joint.spell_at(entity, now_s)
        assert standing.is_down == any(path.spell_at(entity, now_s).is_down for path in alone)
        assert standing.until_s > now_s


def test_joint_paths_that_touch_are_one_spell() -> None:
    joint = AnyDown([Once(10.0, 5.0), Once(15.0, 5.0)])
    assert joint.spell_at(0, 0.0) == Spell(False, 10.0)
    assert joint.spell_at(0, 12.0) == Spell(True, 20.0)
    assert joint.spell_at(0, 20.0) == ALWAYS_UP


def test_an_entity_can_be_ended() -> None:
    joint = AnyDown([])
    assert joint.spell_at(2, 5.0) == ALWAYS_UP
    joint.end(2)
    assert joint.spell_at(2, 6.0) == Spell(True, inf)
    assert joint.spell_at(3, 6.0) == ALWAYS_UP
