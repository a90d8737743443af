"""Drift and storage of semantic vectors, by hand and by their properties."""

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from hfedms_sim.learning.semantics import drift, nearest_to_class_mean

LABELS = torch.tensor([0, 0, 1])
OLD = torch.tensor([[0.0, 0.0], [2.0, 0.0], [5.0, 5.0]])
NEW = torch.tensor([[1.0, 0.0], [3.0, 2.0], [5.0, 9.0]])
STORED = torch.tensor([1, 0, 7])


def test_drift_is_the_move_of_the_class_mean() -> None:
    """Class 0 moves from (1, 0) to (2, 1), class 1 by (0, 4); class 7 is absent: all moved by (2/3, 2) on average."""
    moved = drift(NEW, OLD, LABELS, STORED)
    assert torch.allclose(moved, torch.tensor([[0.0, 4.0], [1.0, 1.0], [2 / 3, 2.0]]))


def test_an_absent_class_may_stay_where_it_is() -> None:
    moved = drift(NEW, OLD, LABELS, STORED, absent_class="zero")
    assert moved[2].tolist() == [0.0, 0.0]


def test_one_drift_for_all() -> None:
    moved = drift(NEW, OLD, LABELS, STORED, per_class=False)
    assert torch.allclose(moved, torch.tensor([2 / 3, 2.0]).expand(3, 2))


def test_an_extractor_that_stands_still_has_no_drift() -> None:
    assert not drift(OLD, OLD.clone(), LABELS, STORED).any()


def test_compensation_recovers_the_class_mean_of_a_linear_extractor() -> None:
    """Old batch and new batch have equal class means: what is stored and moved then has the mean h(mean; phi)."""
    generator = torch.Generator().manual_seed(1)
    before, after = torch.rand(6, 4, generator=generator), torch.rand(6, 4, generator=generator)
    stored_inputs = torch.rand(40, 6, generator=generator)
    batch = torch.rand(40, 6, generator=generator)
    labels = torch.arange(40) % 4
    for label in range(4):
        own = labels == label
        batch[own] += stored_inputs[own].mean(dim=0) - batch[own].mean(dim=0)
    compensated = stored_inputs @ before + drift(batch @ after, batch @ before, labels, labels)
    for label in range(4):
        own = labels == label
        assert torch.allclose(compensated[own].mean(dim=0), stored_inputs[own].mean(dim=0) @ after, atol=1e-5)


def test_storage_keeps_the_nearest_and_their_order() -> None:
    """Class 0 has its mean at 2: distances 2, 1, 3; class 1 is alone, distance 0."""
    vectors, labels = torch.tensor([[0.0], [1.0], [5.0], [9.0]]), torch.tensor([0, 0, 0, 1])
    assert nearest_to_class_mean(vectors, labels, 2).tolist() == [1, 3]
    assert nearest_to_class_mean(vectors, labels, 3).tolist() == [0, 1, 3]
    assert nearest_to_class_mean(vectors, labels, 9).tolist() == [0, 1, 2, 3]


def test_among_equals_the_older_stay() -> None:
    vectors, labels = torch.tensor([[1.0], [3.0], [1.0], [3.0]]), torch.zeros(4, dtype=torch.int64)
    assert nearest_to_class_mean(vectors, labels, 2).tolist() == [0, 1]


def test_the_two_of_a_pair_are_equals_whatever_rounding_says() -> None:
    """Their distances to their mean differ in the last bit at most, so the older of each pair must stay."""
    generator = torch.Generator().manual_seed(3)
    vectors = torch.rand(200, 16, generator=generator)
    labels = torch.arange(200) // 2 % 62
    for label in range(20):
        pair = vectors[labels == label][:2]
        assert nearest_to_class_mean(pair, torch.zeros(2, dtype=torch.int64), 1).tolist() == [0]


def test_a_quota_per_class_keeps_every_class() -> None:
    """Class 0 is compact and would take all places; with a quota class 1 has its half."""
    vectors = torch.tensor([[0.0], [0.1], [0.2], [10.0], [20.0], [30.0]])
    labels = torch.tensor([0, 0, 0, 1, 1, 1])
    assert nearest_to_class_mean(vectors, labels, 4).tolist() == [0, 1, 2, 4]
    assert nearest_to_class_mean(vectors, labels, 4, rule="per-class").tolist() == [0, 1, 3, 4]


def test_a_reference_batch_may_give_the_mean() -> None:
    """The batch says 5 for class 0 and nothing for class 1: its candidates' own mean, 1, counts."""
    vectors, labels = torch.tensor([[4.0], [0.0], [0.0], [2.0]]), torch.tensor([0, 0, 1, 1])
    reference = (torch.tensor([[5.0]]), torch.tensor([0]))
    assert nearest_to_class_mean(vectors, labels, 3, reference=reference).tolist() == [0, 2, 3]


@settings(deadline=None, max_examples=50)
@given(st.integers(0, 40), st.integers(1, 60), st.sampled_from(["overall", "per-class"]), st.integers(0, 1000))
def test_never_more_than_the_capacity_and_never_fewer_than_there_are(
    size: int, capacity: int, rule: str, seed: int
) -> None:
    generator = torch.Generator().manual_seed(seed)
    vectors = torch.rand(size, 3, generator=generator)
    labels = torch.randint(0, 5, (size,), generator=generator)
    kept = nearest_to_class_mean(vectors, labels, capacity, rule=rule)  # type: ignore[arg-type]
    assert len(kept) == min(size, capacity)
    assert len(set(kept.tolist())) == len(kept)
    assert kept.tolist() == sorted(kept.tolist())


def test_no_candidates_leave_nothing() -> None:
    assert nearest_to_class_mean(torch.empty(0, 3), torch.empty(0, dtype=torch.int64), 5).tolist() == []


@pytest.mark.parametrize("absent_class", ["batch-mean", "zero"])
def test_an_empty_memory_has_no_drift_to_add(absent_class: str) -> None:
    none = torch.empty(0, dtype=torch.int64)
    assert drift(NEW, OLD, LABELS, none, absent_class=absent_class).shape == (0, 2)  # type: ignore[arg-type]
