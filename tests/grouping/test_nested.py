"""Clusters in blocks: their sizes, what is guaranteed of their objective, and what they lose against all at once."""

import tracemalloc
from collections.abc import Iterator

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from hfedms_sim.errors import InputError
from hfedms_sim.grouping import equal_clusters, inter_cluster_grouping
from hfedms_sim.grouping.balanced_clusters import Clustering, balanced_clusters, seed_sums
from hfedms_sim.grouping.exact import ExactSolver
from hfedms_sim.grouping.nested import blocks, nested_clusters
from hfedms_sim.seeds import Draws
from tests.grouping.instances import CLASSES, awkward_instances, factory_counts

Counts = NDArray[np.int64]
SMALL_BLOCKS = 10 * 10**3  # ten clusters of ten


def unstructured_counts(sensors: int, seed: int) -> Counts:
    """Return counts of sensors that all prefer nothing: whatever clusters they form are chance."""
    return np.random.default_rng(seed).multinomial(50, np.full(CLASSES, 1 / CLASSES), sensors).astype(np.int64)


def spread(counts: Counts) -> float:
    return float(((counts - counts.mean(axis=0)) ** 2).sum()) / 2


def at_once(counts: Counts, clusters: int, rows: Counts | None = None) -> Clustering:
    rows = np.arange(len(counts)) if rows is None else rows
    start = seed_sums(counts[rows], clusters, Draws(1), cycle=1, sensors=rows)
    return balanced_clusters(counts[rows], start, ExactSolver(counts[rows], len(rows) // clusters))


def nested(counts: Counts, clusters: int, block_work: int = SMALL_BLOCKS) -> Clustering:
    return nested_clusters(
        counts, clusters, lambda rows, share: at_once(counts, share, rows), block_work=block_work, max_iterations=50
    )


def objective(counts: Counts, labels: Counts, clusters: int) -> float:
    return sum(spread(counts[labels == each]) for each in range(clusters))


def cases() -> Iterator[tuple[Counts, int]]:
    for instance in awkward_instances(120):
        yield instance.counts, len(instance.centroid_sums)
    for clusters in (31, 47, 64):  # primes too
        yield factory_counts(clusters * 6, clusters), clusters


@pytest.mark.parametrize("block_work", [1, 50, 2_000])
def test_clusters_have_their_exact_size_and_cost_at_most_what_their_blocks_do(block_work: int) -> None:
    for counts, clusters in cases():
        size = len(counts) // clusters
        found = nested(counts, clusters, block_work)
        cut = list(blocks(counts, clusters, block_work))
        assert np.bincount(found.labels, minlength=clusters).tolist() == [size] * clusters
        assert found.objectives[-1] == pytest.approx(objective(counts, found.labels, clusters), rel=1e-9, abs=1e-9)
        of_blocks = sum(spread(counts[rows]) for rows, _ in cut)
        rounding = 1e-9 * (1 + spread(counts))
        assert found.objectives[-1] <= of_blocks + rounding <= spread(counts) + 2 * rounding
        assert found.objectives == sorted(found.objectives, reverse=True)


@settings(deadline=None)
@given(clusters=st.integers(2, 80), size=st.integers(1, 6), block_work=st.integers(1, 3_000), seed=st.integers(0, 99))
def test_blocks_are_a_partition_into_whole_clusters_within_their_limit(
    clusters: int, size: int, block_work: int, seed: int
) -> None:
    counts = np.random.default_rng(seed).integers(0, 4, (clusters * size, 3))
    cut = list(blocks(counts, clusters, block_work))
    assert sorted(np.concatenate([rows for rows, _ in cut]).tolist()) == list(range(len(counts)))
    assert sum(share for _, share in cut) == clusters
    for rows, share in cut:
        assert len(rows) == share * size
        assert len(rows) * share**2 <= block_work or 1 in (share, size)
        assert rows.tolist() == sorted(rows.tolist())


def test_no_exchange_of_sensors_across_a_cut_brings_them_nearer_the_means() -> None:
    for seed in range(30):
        counts = factory_counts(120, seed, types=5)
        (first, _), (second, _) = blocks(counts, 24, 5 * 23**3)
        towards_first = counts[first].mean(axis=0) - counts[second].mean(axis=0)
        assert (counts[first] @ towards_first).min() >= (counts[second] @ towards_first).max() - 1e-9


def test_a_cut_goes_between_types_and_not_through_them() -> None:
    types = np.repeat(np.eye(3, dtype=np.int64) * 20, (60, 30, 10), axis=0)
    shuffled = types[np.random.default_rng(0).permutation(100)]
    assert nested(shuffled, 10, 10 * 8**3).objectives[-1] == 0.0
    assert sorted(share for _, share in blocks(shuffled, 10, 10 * 6**3)) == [4, 6]


def test_one_block_gives_what_all_at_once_gives() -> None:
    counts = factory_counts(300)
    whole, in_one_block = at_once(counts, 30), nested(counts, 30, 300 * 31**2)
    assert in_one_block.labels.tolist() == whole.labels.tolist()
    assert (in_one_block.objectives, in_one_block.settled) == (whole.objectives, whole.settled)


@pytest.mark.parametrize(("make", "most", "mean"), [(factory_counts, 1.06, 1.03), (unstructured_counts, 1.05, 1.04)])
def test_blocks_of_ten_clusters_lose_a_few_percent_against_all_at_once(make: object, most: float, mean: float) -> None:
    ratios = []
    for seed in range(8):
        counts = make(1_000, seed)  # type: ignore[operator]
        ratios.append(nested(counts, 100).objectives[-1] / at_once(counts, 100).objectives[-1])
    assert max(ratios) <= most
    assert np.mean(ratios) <= mean


def test_blocks_of_similar_sensors_lose_less_than_half_of_what_random_blocks_lose() -> None:
    for make in (factory_counts, unstructured_counts):
        counts = make(1_000, 3)
        whole = at_once(counts, 100).objectives[-1]
        random_blocks = np.random.default_rng(3).permutation(1_000).reshape(10, 100)
        at_random = sum(at_once(counts, 10, np.sort(rows)).objectives[-1] for rows in random_blocks)
        assert nested(counts, 100).objectives[-1] - whole < (at_random - whole) / 2


def test_a_groups_deviation_is_what_the_clusters_spread_says_in_blocks_too(monkeypatch: pytest.MonkeyPatch) -> None:
    """Proposition 1 for any equal-size clusters: E |group mean - global mean|^2 = 2 objective / (K L)."""
    monkeypatch.setattr(equal_clusters, "BLOCK_WORK", 10 * 5**3)
    counts, deviations, expected = factory_counts(100), [], []
    for cycle in range(200):
        found = inter_cluster_grouping(np.arange(100), counts, 10, Draws(1), cycle=cycle, solver="nested")
        means = np.array([counts[group].mean(axis=0) for group in found.groups])
        deviations.append(float(((means - counts.mean(axis=0)) ** 2).sum(axis=1).mean()))
        expected.append(2 * found.objective / (100 * 10))
    assert np.mean(deviations) == pytest.approx(np.mean(expected), rel=0.02)


def test_auto_is_nested_above_a_limit_of_work_and_of_pairs_and_unchanged_below(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    counts, sensors = factory_counts(200), np.arange(200)

    def labels(solver: str) -> list[int]:
        made = equal_clusters.equal_clusters(sensors, counts, 20, Draws(1), cycle=1, solver=solver)  # type: ignore[arg-type]
        return [int(each) for each in made.labels]

    monkeypatch.setattr(equal_clusters, "BLOCK_WORK", SMALL_BLOCKS)
    at_once_labels, nested_labels = labels("pulp"), labels("nested")
    assert at_once_labels != nested_labels
    for limit, allowed in (("MOST_PAIRS_AT_ONCE", 200 * 20), ("MOST_WORK_AT_ONCE", 200 * 20**2)):
        with monkeypatch.context() as changed:
            changed.setattr(equal_clusters, limit, allowed)
            assert labels("auto") == at_once_labels
            changed.setattr(equal_clusters, limit, allowed - 1)
            assert labels("auto") == nested_labels
            assert labels("pulp") == at_once_labels  # asked for, so it is taken


@pytest.mark.thorough
def test_a_factory_too_large_for_all_at_once_is_grouped_in_little_memory() -> None:
    counts = np.random.default_rng(1).integers(0, 6, (12_000, 6))
    tracemalloc.start()
    found = inter_cluster_grouping(np.arange(12_000), counts, 10, Draws(1), cycle=1)
    _, peak_bytes = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert peak_bytes < 60e6  # the pairs alone would be 58 MB, and there are several such matrices
    assert [len(group) for group in found.groups] == [1_200] * 10
    assert {len(cluster) for cluster in found.clusters} == {10}


@pytest.mark.parametrize(
    ("solver", "sensors", "message"),
    [
        ("exact", 60_000, "360000000 pairs of sensor and cluster; at most 200000000: set solver to auto or nested"),
        ("pulp", 4_000, "1600000 pairs of sensor and cluster; at most 1000000: set solver to auto or nested"),
        ("pulp-ilp", 4_000, "1600000 pairs of sensor and cluster; at most 1000000: set solver to auto or nested"),
        ("lsa", 12_000, "12000 sensors; at most 10000: set solver to auto"),
    ],
)
def test_a_solver_that_was_asked_for_too_much_says_what_to_set_before_it_takes_memory(
    solver: str, sensors: int, message: str
) -> None:
    counts = np.ones((sensors, 2), np.int64)
    tracemalloc.start()
    with pytest.raises(InputError, match=f"solver = {solver}: .*{message}"):
        inter_cluster_grouping(np.arange(sensors), counts, 10, Draws(1), cycle=1, solver=solver)  # type: ignore[arg-type]
    _, peak_bytes = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert peak_bytes < 20e6


def test_an_unknown_solver_is_refused_with_all_that_a_grouping_knows() -> None:
    with pytest.raises(InputError, match="solver = gurobi: unknown; known: auto, pulp, pulp-ilp, exact, lsa, nested"):
        inter_cluster_grouping(np.arange(4), np.ones((4, 2), int), 2, Draws(1), cycle=1, solver="gurobi")  # type: ignore[arg-type]
