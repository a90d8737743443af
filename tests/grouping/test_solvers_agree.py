"""Every solver reaches the same integer, given the same costs."""

import numpy as np
import pytest
from numpy.typing import NDArray

from hfedms_sim.grouping.affinity import SensorCounts
from hfedms_sim.grouping.assignment import SOLVERS, AssignmentSolver
from hfedms_sim.grouping.exact import is_optimal
from tests.grouping.instances import Instance, awkward_instances, factory_counts

INSTANCES = 1_000
STEPS = 3


def k_means_steps(instance: Instance, driver: AssignmentSolver) -> list[tuple[NDArray[np.int64], NDArray[np.int64]]]:
    """(centroid sums, labels) of a few iterations."""
    sums, steps = instance.centroid_sums, []
    for _ in range(STEPS):
        labels = driver.assign(sums)
        steps.append((sums, labels))
        sums = SensorCounts(instance.counts).sums(labels, len(sums))
    return steps


def assigned_affinity(counts: NDArray[np.int64], centroid_sums: NDArray[np.int64], labels: NDArray[np.int64]) -> int:
    """Return what an assignment maximises: the sum of V_k.S_l over every sensor k and its cluster l."""
    return int((SensorCounts(counts).sums(labels, len(centroid_sums)) * centroid_sums).sum())


def assert_same_objective(
    instance: Instance, rival: AssignmentSolver, sums: NDArray[np.int64], labels: NDArray[np.int64]
) -> None:
    other = rival.assign(sums)
    assert np.bincount(other, minlength=len(sums)).tolist() == [instance.cluster_size] * len(sums)
    assert assigned_affinity(instance.counts, sums, other) == assigned_affinity(instance.counts, sums, labels)


@pytest.mark.thorough
@pytest.mark.parametrize("rival", ["lsa", "pulp"])
def test_solvers_agree_at_every_step_of_a_thousand_instances(rival: str) -> None:
    for instance in awkward_instances(INSTANCES):
        solver = SOLVERS[rival](instance.counts, instance.cluster_size)
        for sums, labels in k_means_steps(instance, SOLVERS["exact"](instance.counts, instance.cluster_size)):
            assert_same_objective(instance, solver, sums, labels)


@pytest.mark.thorough
@pytest.mark.parametrize("part", range(2))
def test_the_integer_program_agrees_at_one_step_of_a_thousand_instances(part: int) -> None:
    """One step each, the first, second or third: CBC starts a process every time."""
    for number, instance in enumerate(awkward_instances(INSTANCES)):
        if number % 2 == part:
            steps = k_means_steps(instance, SOLVERS["exact"](instance.counts, instance.cluster_size))
            solver = SOLVERS["pulp-ilp"](instance.counts, instance.cluster_size)
            assert_same_objective(instance, solver, *steps[number % STEPS])


@pytest.mark.parametrize(("sensors", "groups"), [(368, 52), (368, 10), (3_500, 500)])
def test_solvers_agree_on_factories(sensors: int, groups: int) -> None:
    clusters = sensors // groups
    size = sensors // clusters
    counts = factory_counts(clusters * size)
    instance = Instance(counts, counts[:clusters], size)
    rival = SOLVERS["lsa" if sensors < 1_000 else "pulp"](counts, size)
    for sums, labels in k_means_steps(instance, SOLVERS["exact"](counts, size)):
        assert_same_objective(instance, rival, sums, labels)


def test_affinities_are_exact_in_one_digit_and_in_many() -> None:
    rng = np.random.default_rng(1)
    for most in (3, 1_000, 30_000, 100_000):
        counts = rng.integers(0, most, (50, 5))
        sums = rng.integers(0, most * 25, (4, 5))
        found = SensorCounts(counts).affinities(sums)
        expected = (sums - np.rint(sums.mean(axis=0)).astype(np.int64)) @ counts.T
        assert (found.astype(np.int64) == expected).all()


def test_moved_sums_are_the_sums_of_the_new_clusters() -> None:
    counts, rng = factory_counts(60), np.random.default_rng(2)
    before, after = rng.integers(0, 5, 60), rng.integers(0, 5, 60)
    sensors = SensorCounts(counts)
    moved = sensors.moved(sensors.sums(before, 5), before, after)
    assert moved.tolist() == [counts[after == cluster].sum(axis=0).tolist() for cluster in range(5)]


def test_the_certificate_refuses_what_is_not_optimal_or_not_balanced() -> None:
    affinities = np.array([[5.0, 4.0, 0.0, 0.0], [0.0, 0.0, 5.0, 4.0]])
    prices = np.zeros(2)
    assert is_optimal(affinities, 2, np.array([0, 0, 1, 1]), prices)
    assert not is_optimal(affinities, 2, np.array([0, 1, 0, 1]), prices)
    assert not is_optimal(affinities, 2, np.array([0, 0, 0, 1]), prices)
