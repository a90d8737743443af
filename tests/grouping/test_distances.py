"""z and the class probability distance against double loops."""

import numpy as np
import pytest

from hfedms_sim.grouping.distances import (
    class_probability_distances,
    distributions,
    group_sums,
    pairwise_objective,
    squared_distances,
)
from tests.grouping.instances import factory_counts

SUMS = np.vstack([factory_counts(12, seed=1), factory_counts(6, seed=2, samples=137), np.zeros((1, 62), np.int64)])
PAIRS = [(a, b) for a in range(len(SUMS)) for b in range(a + 1, len(SUMS))]


def mean_kernel(first: np.ndarray, second: np.ndarray, variance: float) -> float:
    return float(np.mean([[np.exp(-((x - y) ** 2) / (2 * variance)) for y in second] for x in first]))


def test_group_sums_add_up_their_members() -> None:
    assert group_sums(SUMS, [np.array([0, 2]), np.array([1])]).tolist() == [
        (SUMS[0] + SUMS[2]).tolist(),
        SUMS[1].tolist(),
    ]


def test_z_is_the_exact_sum_over_pairs() -> None:
    assert pairwise_objective(SUMS) == sum(int(((SUMS[a] - SUMS[b]) ** 2).sum()) for a, b in PAIRS)
    assert pairwise_objective(SUMS[:1]) == 0


def test_squared_distances_are_in_the_order_of_the_pairs() -> None:
    points = distributions(SUMS)
    expected = [float(((points[a] - points[b]) ** 2).sum()) for a, b in PAIRS]
    assert squared_distances(points) == pytest.approx(expected, abs=1e-15)


def test_distributions_sum_to_one_except_for_nobody() -> None:
    assert distributions(SUMS).sum(axis=1) == pytest.approx([1.0] * 18 + [0.0])


def test_onehot_is_the_discrepancy_between_classes_as_corners_of_a_cube() -> None:
    points = distributions(SUMS)[:6]
    corners = np.eye(62)
    kernel = np.exp(-((corners[:, None] - corners) ** 2).sum(axis=2) / 2)
    expected = [
        float((points[a] - points[b]) @ kernel @ (points[a] - points[b])) for a in range(6) for b in range(a + 1, 6)
    ]
    assert class_probability_distances(SUMS[:6]) == pytest.approx(expected, rel=1e-9)


def test_entries_is_the_discrepancy_between_the_probabilities_as_numbers() -> None:
    few = SUMS[[0, 1, 12, 13, 18]]
    points = distributions(few)
    expected = [
        mean_kernel(points[a], points[a], 1e-4)
        + mean_kernel(points[b], points[b], 1e-4)
        - 2 * mean_kernel(points[a], points[b], 1e-4)
        for a in range(5)
        for b in range(a + 1, 5)
    ]
    assert class_probability_distances(few, "entries") == pytest.approx(expected, abs=1e-12)
