"""Static groups: formed once, drawn from each round."""

from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

from hfedms_sim.models import spec_of
from hfedms_sim.rounds import Group, Payload, Plan, RoundRecord
from hfedms_sim.strategies.static import StaticGroups, StaticGroupsSettings, StaticICG, StaticICGSettings
from tests.strategies.factories import context, factory

CNN = spec_of("cnn")
COUNTS = np.random.default_rng(1).multinomial(50, [1 / 62] * 62, 97).astype(np.int64)
BOTH = ("static-groups", "static-icg")
both = pytest.mark.parametrize("name", BOTH)


def make(name: str, sensors: int = 97, seed: int = 1, **settings: Any) -> StaticGroups | StaticICG:
    """97 sensors by default: ten groups of nine, and seven left over."""
    if name == "static-groups":
        return StaticGroups(StaticGroupsSettings(**settings), factory(sensors, seed))
    settings = {"solver": "exact"} | settings
    return StaticICG(StaticICGSettings(**settings), factory(sensors, seed))


def plans(strategy: StaticGroups | StaticICG, rounds: int = 20) -> Iterator[Plan]:
    """Class counts only where the strategy asked for them, as the simulation has it."""
    state = strategy.start()
    for number in range(1, rounds + 1):
        counts = None if strategy.report(state) is None else COUNTS[: len(strategy.factory.sensors)]
        plan = strategy.plan(state, context(counts))
        yield plan
        state = strategy.update(state, plan, RoundRecord(number, number, "full", (), (), 0.0, 1.0))


def members(groups: tuple[Group, ...]) -> set[tuple[int, ...]]:
    return {group.sensors for group in groups}


@both
def test_membership_and_order_never_change_in_twenty_rounds(name: str) -> None:
    played = list(plans(make(name)))
    assert len({plan.formed for plan in played}) == 1
    drawn = set().union(*(members(plan.groups) for plan in played))
    assert drawn <= set(played[0].formed)
    assert len(drawn) == 10  # all of them come up, each in one order only
    assert any(list(group) != sorted(group) for group in drawn)


@both
def test_every_round_draws_floor_kappa_m_of_ten_groups_anew(name: str) -> None:
    played = list(plans(make(name)))
    assert {len(members(plan.groups)) for plan in played} == {3}
    assert {plan.participants for plan in played} == {27}
    assert [group.number for group in played[0].groups] == [0, 1, 2]
    assert len({frozenset(members(plan.groups)) for plan in played}) > 10


@both
@pytest.mark.parametrize(("ratio", "drawn"), [(0.01, 1), (0.3, 3), (0.39, 3), (1.0, 10)])
def test_the_ratio_is_of_groups_and_at_least_one_takes_part(name: str, ratio: float, drawn: int) -> None:
    assert {len(plan.groups) for plan in plans(make(name, sample_ratio=ratio), 3)} == {drawn}


@both
def test_groups_are_equal_and_disjoint_and_the_left_over_never_train(name: str) -> None:
    (plan,) = plans(make(name), 1)
    everyone = [sensor for group in plan.formed for sensor in group]
    assert {len(group) for group in plan.formed} == {9}
    assert len(set(everyone)) == len(everyone) == 90
    trained = {s for plan in plans(make(name, sample_ratio=1.0)) for group in plan.groups for s in group.sensors}
    assert trained == set(everyone)


@both
def test_spread_gives_every_left_over_sensor_a_group(name: str) -> None:
    (plan,) = plans(make(name, leftover="spread"), 1)
    assert sorted(sensor for group in plan.formed for sensor in group) == list(range(97))
    assert sorted(len(group) for group in plan.formed) == [9] * 3 + [10] * 7


@both
def test_fewer_sensors_than_groups_make_groups_of_one(name: str) -> None:
    (plan,) = plans(make(name, sensors=4), 1)
    assert sorted(plan.formed) == [(0,), (1,), (2,), (3,)]
    assert plan.participants == 1


def test_only_static_icg_reports_and_only_before_the_first_round() -> None:
    asked = {}
    for name in BOTH:
        strategy = make(name)
        state, asked[name] = strategy.start(), []
        for plan in plans(strategy, 4):
            asked[name].append(strategy.report(state))
            state = strategy.update(state, plan, RoundRecord(plan.round, plan.round, "full", (), (), 0.0, 1.0))
    assert asked == {"static-groups": [None] * 4, "static-icg": [Payload("report", 4 * 62), None, None, None]}


def test_inter_cluster_groups_are_more_alike_than_random_ones() -> None:
    """On types with classes of their own; the distance is told once, in the round they were formed."""
    counts = np.zeros((96, 62), dtype=np.int64)
    counts[np.arange(96), np.arange(96) // 12] = 50
    strategy = make("static-icg", sensors=96, beta=12)
    first = strategy.plan(strategy.start(), context(counts))
    later = strategy.plan(
        strategy.update(strategy.start(), first, RoundRecord(1, 1, "full", (), (), 0.0, 1.0)), context()
    )
    assert first.group_distance == 0  # one sensor of each of the eight types in every group
    assert all({sensor // 12 for sensor in group} == set(range(8)) for group in first.formed)
    assert later.group_distance is None
    (random,) = plans(make("static-groups", sensors=96, beta=12), 1)
    assert random.group_distance is None
    assert any({sensor // 12 for sensor in group} != set(range(8)) for group in random.formed)


@both
def test_groups_and_draws_follow_from_the_seed(name: str) -> None:
    first, again, other = ([*plans(make(name, seed=seed), 3)] for seed in (1, 1, 2))
    assert [plan.groups for plan in first] == [plan.groups for plan in again]
    assert first[0].formed != other[0].formed


@both
def test_a_round_sends_the_whole_model_down_the_chains_and_scatters_nothing(name: str) -> None:
    for plan in plans(make(name, epochs=2), 2):
        assert (plan.phase, plan.scatter, plan.memory_fill, plan.reuse_batch) == ("full", None, {}, False)
        assert plan.payload == plan.uplink_payload == Payload("model", 4 * 6_687_834)
        assert [(s.kind, s.multiply_adds_per_sample) for s in plan.work] == [("train", 2 * 3 * 17_295_928)]
        assert plan.trained_parameters == 6_687_834
        assert plan.cycle == plan.round
