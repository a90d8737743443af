"""Equal-size k-means and its k-means++ start."""

import tracemalloc

import numpy as np
import pytest
from scipy import stats

import hfedms_sim.grouping.balanced_clusters as module
from hfedms_sim.grouping.assignment import SOLVERS, make_solver
from hfedms_sim.grouping.balanced_clusters import balanced_clusters, seed_sums
from hfedms_sim.seeds import Draws
from tests.grouping.instances import awkward_instances, factory_counts


def test_the_objective_never_rises_and_is_what_its_formula_says() -> None:
    for instance in awkward_instances(200):
        solver = make_solver("exact", instance.counts, instance.cluster_size)
        found = balanced_clusters(instance.counts, instance.centroid_sums, solver)
        clusters = [instance.counts[found.labels == each] for each in range(len(instance.centroid_sums))]
        expected = sum(float(((each - each.mean(axis=0)) ** 2).sum()) for each in clusters) / 2
        assert found.objectives[-1] == pytest.approx(expected, rel=1e-9, abs=1e-9)
        assert found.objectives == sorted(found.objectives, reverse=True)
        assert {len(each) for each in clusters} == {instance.cluster_size}
        assert found.settled


def test_settled_clusters_are_those_no_solver_can_improve() -> None:
    counts = factory_counts(60)
    found = balanced_clusters(counts, counts[:6], make_solver("exact", counts, 10))
    sums = np.array([counts[found.labels == cluster].sum(axis=0) for cluster in range(6)])
    for name in SOLVERS:
        labels = make_solver(name, counts, 10).assign(sums)  # type: ignore[arg-type]
        assert (counts * sums[labels]).sum() == (sums * sums).sum()


def test_iterations_are_limited_and_end_with_the_first_that_changes_nothing() -> None:
    counts = factory_counts(300)
    limited = balanced_clusters(counts, counts[:6], make_solver("exact", counts, 50), max_iterations=2)
    assert len(limited.objectives) == 2
    assert not limited.settled
    settled = balanced_clusters(counts, counts[:6], make_solver("exact", counts, 50), max_iterations=40)
    assert settled.settled
    assert settled.objectives[:2] == limited.objectives
    assert settled.objectives[-1] == settled.objectives[-2]
    assert len(set(settled.objectives)) == len(settled.objectives) - 1 < 39


def test_sensors_of_separate_types_are_found() -> None:
    counts = np.repeat(np.eye(4, dtype=np.int64) * 20, 5, axis=0)
    found = balanced_clusters(counts, seed_sums(counts, 4, Draws(1), cycle=1), make_solver("exact", counts, 5))
    assert found.objectives[-1] == 0.0


def test_the_start_draws_by_squared_distance() -> None:
    counts = np.array([[0], [1], [3]])
    second_given_first = np.zeros((3, 3))
    for cycle in range(6_000):
        first, second = seed_sums(counts, 2, Draws(3), cycle=cycle)[:, 0]
        second_given_first[np.searchsorted([0, 1, 3], first), np.searchsorted([0, 1, 3], second)] += 1
    assert stats.chisquare(second_given_first.sum(axis=1)).pvalue > 0.001
    squared = (counts - counts.T) ** 2
    for drawn, weights in zip(second_given_first, squared, strict=True):
        others = weights > 0
        expected = drawn.sum() * weights[others] / weights.sum()
        assert drawn[~others].sum() == 0
        assert stats.chisquare(drawn[others], expected).pvalue > 0.001


def test_a_start_with_fewer_different_sensors_than_clusters_takes_each_sensor_once() -> None:
    counts = np.array([[2, 0]] * 3 + [[0, 2]] * 3)
    assert sorted(seed_sums(counts, 6, Draws(1), cycle=1).tolist()) == sorted(counts.tolist())


def test_another_sensor_moves_nobody_elses_draws() -> None:
    counts = np.eye(30, dtype=np.int64) * 5
    one_seed = [int(seed_sums(counts[:count], 1, Draws(7), cycle=4).argmax()) for count in (28, 29, 30)]
    assert one_seed[1] in (one_seed[0], 28)
    assert one_seed[2] in (one_seed[1], 29)


@pytest.mark.parametrize("at_a_time", [1, 45, 90])
def test_the_start_is_the_same_however_many_draws_are_made_at_a_time(
    at_a_time: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    counts = factory_counts(30)
    usual = seed_sums(counts, 10, Draws(1), cycle=3)
    monkeypatch.setattr(module, "_DRAWS_AT_A_TIME", at_a_time)
    assert seed_sums(counts, 10, Draws(1), cycle=3).tolist() == usual.tolist()


def test_the_start_takes_no_memory_for_every_pair_of_sensor_and_cluster() -> None:
    counts = np.random.default_rng(0).integers(0, 9, (20_000, 2))
    tracemalloc.start()
    seed_sums(counts, 300, Draws(1), cycle=1)
    _, peak_bytes = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert peak_bytes < 45e6  # a draw for each pair is 48 MB
