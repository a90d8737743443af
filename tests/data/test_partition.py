"""Flat data dealt to devices: nothing lost, nobody empty, and the laws that the module promises."""

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray
from pydantic import ValidationError
from scipy import stats

from hfedms_sim.data import partition as partition_module
from hfedms_sim.data.partition import Partition, dealt, dirichlet_shares
from hfedms_sim.seeds import Draws

LAWS: dict[str, dict[str, Any]] = {
    "iid": {"kind": "iid"},
    "even": {"kind": "dirichlet", "concentration": 1e6},
    "half": {"kind": "dirichlet", "concentration": 0.5},
    "single": {"kind": "dirichlet", "concentration": 1e-6},
    "shards": {"kind": "shards", "shards_per_device": 2},
}


def owners_of(
    law: str | dict[str, Any],
    labels: Any,
    devices: int,
    is_test: NDArray[np.bool_] | None = None,
    seed: int = 1,
) -> NDArray[np.int64]:
    partition = Partition.model_validate(LAWS[law] if isinstance(law, str) else law)
    return dealt(partition, np.asarray(labels), is_test, devices, seed)


def table(owners: NDArray[np.int64], labels: NDArray[np.int64], devices: int, classes: int) -> NDArray[np.int64]:
    """Count the samples of each device and class: (devices, classes)."""
    counts = np.zeros((devices, classes), dtype=np.int64)
    np.add.at(counts, (owners, labels), 1)
    return counts


@settings(max_examples=60, deadline=None)
@given(
    law=st.sampled_from(sorted(LAWS)),
    labels=st.lists(st.integers(0, 6), min_size=1, max_size=80),
    devices=st.integers(1, 40),
    split=st.booleans(),
    seed=st.integers(0, 2**63 - 1),
)
def test_every_sample_has_one_owner_and_every_device_something_to_train_with(
    law: str, labels: list[int], devices: int, split: bool, seed: int
) -> None:
    is_test = np.arange(len(labels)) % 3 == 1 if split else None
    train = np.ones(len(labels), dtype=bool) if is_test is None else ~is_test
    pieces = 2 * devices if law == "shards" else devices
    if pieces > train.sum():
        with pytest.raises(ValueError, match=f"has {train.sum()} samples to deal to {pieces} "):
            owners_of(law, labels, devices, is_test, seed)
        return
    owners = owners_of(law, labels, devices, is_test, seed)
    assert owners.shape == (len(labels),)
    assert set(owners[train].tolist()) == set(range(devices))
    assert owners.min() >= 0
    assert owners.max() < devices


@pytest.mark.parametrize("law", LAWS)
def test_owners_hang_on_the_seed_alone(law: str) -> None:
    labels = np.arange(500) % 10
    assert np.array_equal(owners_of(law, labels, 10), owners_of(law, labels, 10))
    assert not np.array_equal(owners_of(law, labels, 10), owners_of(law, labels, 10, seed=2))


def test_iid_devices_differ_by_one_sample_at_most_and_have_all_classes_alike() -> None:
    labels = np.arange(10_007) % 10
    counts = table(owners_of("iid", labels, 10), labels, 10, 10)
    sizes = counts.sum(axis=1)
    assert sizes.max() - sizes.min() == 1
    assert stats.chi2_contingency(counts).pvalue > 1e-3


@pytest.mark.parametrize("concentration", [0.05, 0.5, 1.0, 7.5])
def test_shares_of_a_class_follow_the_dirichlet_law(concentration: float) -> None:
    """One share of N is Beta(a, (N - 1) a); the shares are those of independent classes."""
    devices = 8
    shares = dirichlet_shares(Draws(3), np.arange(2000), devices, concentration)
    assert np.allclose(shares.sum(axis=1), 1)
    beta = stats.beta(concentration, (devices - 1) * concentration)
    for device in (0, 3, devices - 1):
        assert stats.kstest(shares[:, device], beta.cdf).pvalue > 1e-3
    assert abs(np.corrcoef(shares[:, 0], shares[:, 5])[0, 1] + 1 / (devices - 1)) < 0.1


def test_samples_of_a_class_are_cut_by_its_shares() -> None:
    labels = np.repeat(np.arange(3), 1000)
    counts = table(owners_of("half", labels, 6, seed=5), labels, 6, 3)
    for label in range(3):
        expected = 1000 * dirichlet_shares(Draws(5), np.array([label]), 6, 0.5)[0]
        assert np.abs(counts[:, label] - expected).max() <= 1.01


def test_classes_are_dealt_alike_however_many_are_drawn_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    labels = np.arange(600) % 30
    whole = owners_of("half", labels, 6)
    monkeypatch.setattr(partition_module, "_CHUNK_SHARES", 25)
    assert np.array_equal(owners_of("half", labels, 6), whole)


def test_the_mean_share_of_a_device_is_even() -> None:
    labels = np.repeat(np.arange(50), 200)
    shares = np.mean([np.bincount(owners_of("half", labels, 20, seed=seed)) for seed in range(20)], axis=0) / 10_000
    # A share has the variance (N - 1) / (N^2 (N a + 1)), here of 50 classes and 20 seeds.
    deviation = np.sqrt(19 / (20**2 * 11) / 1000)
    assert np.abs(shares - 1 / 20).max() < 4 * deviation


def test_a_high_concentration_is_iid_and_a_low_one_gives_each_class_to_one_device() -> None:
    labels = np.repeat(np.arange(10), 400)
    even = table(owners_of("even", labels, 8), labels, 8, 10)
    assert np.abs(even - 50).max() <= 2
    single = table(owners_of("single", labels, 8), labels, 8, 10)
    holds_nearly_all = single.max(axis=0)
    assert holds_nearly_all.min() >= 400 - 8  # but for samples that went to those who had none


def test_an_empty_device_takes_a_sample_of_the_one_that_has_most() -> None:
    labels = np.zeros(100, dtype=np.int64)
    sizes = np.bincount(owners_of("single", labels, 30))
    assert sorted(sizes.tolist()) == [1] * 29 + [71]


def test_shards_are_of_equal_size_and_hold_few_classes() -> None:
    labels = np.random.default_rng(0).permutation(np.repeat(np.arange(10), 60))
    counts = table(owners_of("shards", labels, 50), labels, 50, 10)
    assert (counts.sum(axis=1) == 12).all()
    assert (np.count_nonzero(counts, axis=1) <= 2).all()
    assert len({tuple(row) for row in (counts > 0).tolist()}) > 10
    one_each = owners_of({"kind": "shards", "shards_per_device": 1}, labels, 10)
    assert (np.count_nonzero(table(one_each, labels, 10, 10), axis=1) == 1).all()


@pytest.mark.parametrize("law", ["half", "shards"])
def test_a_test_part_has_the_classes_that_the_device_trains_with(law: str) -> None:
    labels = np.tile(np.arange(10), 300)
    is_test = np.arange(3000) >= 2000
    owners = owners_of(law, labels, 20, is_test)
    train, test = (table(owners[part], labels[part], 20, 10) for part in (~is_test, is_test))
    assert np.abs(train / 2 - test).max() <= 2


def test_samples_that_differ_only_by_their_place_are_shuffled() -> None:
    owners = owners_of("shards", np.zeros(1000, dtype=np.int64), 2)
    assert 0.3 < np.mean(owners[:500]) < 0.7


@pytest.mark.parametrize(
    ("raw", "complaint"),
    [
        ({}, "kind\n  Field required"),
        ({"kind": "natural"}, "'iid', 'dirichlet', 'shards' or 'column'"),
        ({"kind": "dirichlet"}, "kind: dirichlet needs concentration"),
        ({"kind": "dirichlet", "concentration": 0.0}, "greater than or equal to 0.000001"),
        ({"kind": "iid", "concentration": 0.5}, "kind: iid has no concentration"),
        ({"kind": "shards"}, "kind: shards needs shards_per_device"),
        ({"kind": "column"}, "kind: column needs column"),
        ({"kind": "column", "column": "site", "devices": 3}, "kind: column has no devices"),
    ],
)
def test_each_kind_has_figures_of_its_own(raw: dict[str, Any], complaint: str) -> None:
    with pytest.raises(ValidationError, match=complaint):
        Partition.model_validate(raw)
