"""The matched draw, and what both draws reach on real handwriting."""

from pathlib import Path
from time import perf_counter

import numpy as np
import pytest

from hfedms_sim.grouping import inter_cluster_grouping, random_groups
from hfedms_sim.grouping.distances import distributions, group_sums, squared_distances
from hfedms_sim.grouping.matched import deal, matched_members
from hfedms_sim.seeds import Draws
from tests.grouping.instances import factory_counts

UNIPEN = Path(__file__).parents[3] / "shared" / "data" / "unipen62.npz"


def spread(counts: np.ndarray, members: np.ndarray) -> float:
    sums = counts[members].sum(axis=0)
    return float(((sums - len(members) * counts.mean(axis=0)) ** 2).sum())


def test_one_member_of_every_cluster_goes_to_every_group() -> None:
    counts = factory_counts(60)
    clusters = np.random.default_rng(1).permutation(60).reshape(5, 12)
    for groups in (1, 9, 12):
        members = matched_members(clusters, counts, groups)
        assert members.shape == (5, groups)
        for row, cluster in zip(members, clusters, strict=True):
            assert len(set(row.tolist())) == groups
            assert set(row.tolist()) <= set(cluster.tolist())


def dealt_anew(members: np.ndarray, counts: np.ndarray) -> np.ndarray:
    """Return the groups after every cluster in turn was taken back and dealt again, to what the others hold."""
    members = members.copy()
    for number, cluster in enumerate(members):
        others = counts[np.delete(members, number, axis=0)].sum(axis=0)
        members[number] = deal(cluster, counts, others - len(members) * counts.mean(axis=0))
    return members


def test_matching_lowers_the_spread_and_dealing_a_cluster_anew_never_raises_it() -> None:
    counts = factory_counts(120)
    clusters = np.random.default_rng(1).permutation(120).reshape(6, 20)
    once = matched_members(clusters, counts, 20)
    twice = dealt_anew(once, counts)
    spreads = [spread(counts, each) for each in (once, twice, dealt_anew(twice, counts))]
    assert spreads[0] < 0.5 * spread(counts, clusters)
    assert spreads[0] > spreads[1] >= spreads[2]


def test_two_complementary_halves_are_paired_perfectly() -> None:
    steps = np.arange(1, 9)
    counts = np.concatenate([np.stack([steps, 9 - steps], axis=1), np.stack([steps, 9 - steps], axis=1)])
    members = matched_members(np.arange(16).reshape(2, 8), counts, 8)
    assert counts[members].sum(axis=0).tolist() == [[9, 9]] * 8


def test_many_groups_are_matched_in_blocks() -> None:
    counts = factory_counts(5_000)
    members = matched_members(np.arange(5_000).reshape(2, 2_500), counts, 2_499)
    assert len(set(members.ravel().tolist())) == 2 * 2_499
    assert spread(counts, members) < spread(counts, np.arange(5_000).reshape(2, 2_500)[:, :2_499])


@pytest.fixture(scope="module")
def batches() -> list[np.ndarray]:
    """Class counts of a 50-sample training batch of each device, for six seeds."""
    if not UNIPEN.exists():
        pytest.skip(f"needs the real handwriting of {UNIPEN}, which is not part of the project")
    with np.load(UNIPEN) as data:
        labels, device, is_test = data["labels"], data["device"], data["is_test"]
    samples = [np.flatnonzero((device == each) & ~is_test) for each in range(device.max() + 1)]
    counts = []
    for seed in range(6):
        rng = np.random.default_rng(seed)
        chosen = [rng.choice(own, min(50, len(own)), replace=False) for own in samples]
        counts.append(np.array([np.bincount(labels[each], minlength=62) for each in chosen]))
    return counts


def median_distance(counts: np.ndarray, groups: list[np.ndarray]) -> float:
    return float(np.median(squared_distances(distributions(group_sums(counts, groups)))))


@pytest.mark.parametrize(("groups", "icg_bar", "matched_bar"), [(10, 0.75, 0.20), (52, 0.88, 0.38), (100, 0.92, 0.48)])
def test_groups_of_real_writers_are_more_alike_than_random_ones(
    batches: list[np.ndarray], groups: int, icg_bar: float, matched_bar: float
) -> None:
    sensors = np.arange(368)
    ratios = []
    for seed, counts in enumerate(batches):
        draws = Draws(seed)
        at_random = median_distance(counts, random_groups(sensors, groups, draws, cycle=1))
        for draw in ("random", "matched"):
            found = inter_cluster_grouping(sensors, counts, groups, draws, cycle=1, solver="exact", draw=draw)
            ratios.append(median_distance(counts, found.groups) / at_random)
    icg, matched = np.mean(ratios[::2]), np.mean(ratios[1::2])
    assert icg <= icg_bar
    assert matched <= matched_bar


def test_matching_52_groups_takes_under_ten_milliseconds(batches: list[np.ndarray]) -> None:
    clusters = np.arange(364).reshape(7, 52)
    elapsed_s = []
    for _ in range(10):
        start = perf_counter()
        matched_members(clusters, batches[0], 52)
        elapsed_s.append(perf_counter() - start)
    assert min(elapsed_s) < 0.010
