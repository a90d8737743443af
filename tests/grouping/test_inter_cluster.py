"""Inter-cluster grouping: invariants, edge cases, proposition 1."""

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hfedms_sim.errors import InputError
from hfedms_sim.grouping import Grouping, inter_cluster_grouping
from hfedms_sim.grouping.distances import class_probability_distances, group_sums
from hfedms_sim.grouping.equal_clusters import equal_clusters
from hfedms_sim.seeds import Draws
from tests.grouping.instances import factory_counts


def grouping(counts: np.ndarray, groups: int, seed: int = 1, **options: Any) -> Grouping:
    """Sensor ids are not row numbers."""
    options = {"cycle": 1, "solver": "exact"} | options
    return inter_cluster_grouping(1_000 + np.arange(len(counts)), counts, groups, Draws(seed), **options)


def rows(groups: list[np.ndarray]) -> list[np.ndarray]:
    return [group - 1_000 for group in groups]


@settings(deadline=None)
@given(
    sensors=st.integers(1, 60),
    data=st.data(),
    seed=st.integers(0, 100),
    leftover=st.sampled_from(["drop", "spread"]),
    draw=st.sampled_from(["random", "matched"]),
)
def test_groups_are_disjoint_as_many_as_asked_and_equal(
    sensors: int, data: st.DataObject, seed: int, leftover: str, draw: str
) -> None:
    count = data.draw(st.integers(1, sensors))
    counts = np.random.default_rng(seed).integers(0, 3, (sensors, 4))
    found = grouping(counts, count, seed, leftover=leftover, draw=draw)
    members = np.concatenate(found.groups)
    length = sensors // count
    assert len(found.groups) == count
    assert len(set(members.tolist())) == len(members)
    assert set(members.tolist()) <= set(range(1_000, 1_000 + sensors))
    assert len(found.clusters) == length
    assert {len(cluster) for cluster in found.clusters} == {sensors // length}
    if leftover == "drop":
        assert {len(group) for group in found.groups} == {length}
        for cluster in found.clusters:
            assert all(len(np.intersect1d(group, cluster)) == 1 for group in found.groups)
    else:
        assert len(members) == sensors
        assert {len(group) for group in found.groups} <= {length, -(-sensors // count)}


def assert_mean_bound(counts: np.ndarray, found: Grouping) -> None:
    """|C_m - C|^2 <= (sum of the clusters' radii / L)^2, with C the mean of the cluster means."""
    clusters = [counts[cluster] for cluster in rows(found.clusters)]
    means = np.array([cluster.mean(axis=0) for cluster in clusters])
    radii = [np.sqrt(((c - m) ** 2).sum(axis=1).max()) for c, m in zip(clusters, means, strict=True)]
    for group in rows(found.groups):
        gap = float(((counts[group].mean(axis=0) - means.mean(axis=0)) ** 2).sum())
        assert gap <= (sum(radii) / len(radii)) ** 2 + 1e-9


@pytest.mark.parametrize("draw", ["random", "matched"])
def test_every_group_is_within_the_clusters_spread_of_the_global_mean(draw: str) -> None:
    for seed in range(20):
        counts = factory_counts(60, seed)
        assert_mean_bound(counts, grouping(counts, 10, seed, draw=draw))


def test_a_groups_mean_is_the_global_mean_in_expectation_with_the_clusters_variance() -> None:
    """Proposition 1. Draws differ by the cycle; the clusters are the same, as separate types leave no choice."""
    rng = np.random.default_rng(4)
    types = np.eye(5, dtype=np.int64)[np.repeat(np.arange(5), 8)] * 100
    counts = types + rng.integers(0, 9, types.shape)
    first_means = []
    for cycle in range(3_000):
        found = grouping(counts, 8, cycle=cycle)
        first_means.append(counts[rows(found.groups)[0]].mean(axis=0))
    variances = np.array([counts[cluster].var(axis=0) for cluster in rows(found.clusters)])
    expected_variance = variances.sum(axis=0) / 5**2
    deviations = np.array(first_means) - counts.mean(axis=0)
    standard_error = np.sqrt(expected_variance / len(deviations))
    assert (np.abs(deviations.mean(axis=0)) < 4.5 * standard_error).all()
    assert (deviations**2).sum(axis=1).mean() == pytest.approx(expected_variance.sum(), rel=0.1)


def test_one_cluster_gives_random_singletons() -> None:
    found = grouping(factory_counts(7), 5)
    assert [len(group) for group in found.groups] == [1] * 5
    assert len({tuple(grouping(factory_counts(7), 5, cycle=cycle).groups[0]) for cycle in range(60)}) == 7


def test_as_many_groups_as_sensors_takes_everybody() -> None:
    found = grouping(factory_counts(9), 9)
    assert sorted(np.concatenate(found.groups).tolist()) == list(range(1_000, 1_009))


def test_one_group_is_everybody_however_many() -> None:
    found = grouping(np.ones((30_000, 2), np.int64), 1, solver="auto")
    assert sorted(found.groups[0].tolist()) == list(range(1_000, 31_000))
    assert found.groups[0].tolist() != sorted(found.groups[0].tolist())


@pytest.mark.parametrize("solver", ["auto", "pulp", "pulp-ilp", "exact", "lsa"])
@pytest.mark.parametrize(("sensors", "groups"), [(1, 1), (12, 5), (12, 4)])
def test_empty_streams_and_equal_sensors_are_grouped_too(solver: str, sensors: int, groups: int) -> None:
    for counts in (np.zeros((sensors, 3), np.int64), np.full((sensors, 3), 4)):
        found = grouping(counts, groups, solver=solver)
        assert [len(group) for group in found.groups] == [sensors // groups] * groups
        assert found.objective == 0.0


def test_the_same_seed_and_cycle_give_the_same_groups_whatever_the_order_of_the_rows() -> None:
    counts, sensors = factory_counts(50), np.arange(50)
    shuffled = np.random.default_rng(0).permutation(50)
    first = inter_cluster_grouping(sensors, counts, 8, Draws(1), cycle=3, draw="matched")
    again = inter_cluster_grouping(sensors[shuffled], counts[shuffled], 8, Draws(1), cycle=3, draw="matched")
    other = inter_cluster_grouping(sensors, counts, 8, Draws(1), cycle=4, draw="matched")
    as_lists = [[group.tolist() for group in each.groups] for each in (first, again, other)]
    assert as_lists[0] == as_lists[1]
    assert as_lists[0] != as_lists[2]


def test_a_chain_starts_in_any_cluster() -> None:
    counts = np.repeat(np.eye(3, dtype=np.int64) * 50, 20, axis=0)
    starts = [int(group[0]) // 20 for group in rows(grouping(counts, 20).groups)]
    assert set(starts) == {0, 1, 2}


def test_over_the_cycles_everybody_takes_part() -> None:
    counts = factory_counts(68, types=5)
    taken = {int(s) for cycle in range(60) for group in grouping(counts, 20, cycle=cycle).groups for s in group}
    assert taken == set(range(1_000, 1_068))


def test_more_iterations_do_not_come_than_asked_for() -> None:
    counts = factory_counts(300)
    each = equal_clusters(1_000 + np.arange(300), counts, 6, Draws(1), cycle=1, solver="exact").objectives
    for iterations in (1, 2):
        found = grouping(counts, 50, max_iterations=iterations)
        assert (found.objective, found.settled) == (each[iterations - 1], False)
    assert grouping(counts, 50).objective == each[-1] < each[1] < each[0]


def test_groups_are_more_alike_than_random_ones_and_these_than_single_sensors() -> None:
    counts = factory_counts(368)
    by_cluster = group_sums(counts, rows(grouping(counts, 10).groups))
    at_random = group_sums(counts, list(np.random.default_rng(0).permutation(368)[:360].reshape(10, 36)))
    for kind in ("onehot", "entries"):
        medians = [
            float(np.median(class_probability_distances(sums, kind)))  # type: ignore[arg-type]
            for sums in (by_cluster, at_random, counts)
        ]
        assert medians == sorted(medians)


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"groups": 0}, "groups = 0: must be from 1 to the number of sensors, 4"),
        ({"groups": 5}, "groups = 5"),
        ({"counts": np.ones((3, 2), np.int64)}, "a row per sensor"),
        ({"counts": np.ones((4, 2))}, "must be integers"),
        ({"counts": np.full((4, 2), -1)}, "must be at least 0"),
        ({"max_iterations": 0}, "max_iterations = 0: must be at least 1"),
    ],
)
def test_bad_input_is_refused(changes: dict[str, Any], message: str) -> None:
    good = {"counts": np.ones((4, 2), np.int64), "groups": 2, "draws": Draws(1), "cycle": 1}
    with pytest.raises(InputError, match=message):
        inter_cluster_grouping(np.arange(4), **(good | changes))
