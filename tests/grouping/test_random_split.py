"""The random equal split."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from hfedms_sim.grouping import random_groups
from hfedms_sim.seeds import Draws


@given(st.integers(1, 300), st.data(), st.integers(0, 100), st.sampled_from(["drop", "spread"]))
def test_groups_are_disjoint_as_many_as_asked_and_equal(
    sensors: int, data: st.DataObject, seed: int, leftover: str
) -> None:
    count = data.draw(st.integers(1, sensors))
    groups = random_groups(np.arange(sensors), count, Draws(seed), cycle=1, leftover=leftover)  # type: ignore[arg-type]
    members = np.concatenate(groups)
    size = sensors // count
    assert len(groups) == count
    assert len(set(members.tolist())) == len(members)
    if leftover == "drop":
        assert {len(group) for group in groups} == {size}
    else:
        assert len(members) == sensors
        assert max(len(group) for group in groups) <= -(-sensors // count)


def test_every_pair_of_sensors_meets_equally_often() -> None:
    together = np.zeros((6, 6))
    for cycle in range(4_000):
        for group in random_groups(np.arange(6), 3, Draws(1), cycle=cycle):
            together[group[0], group[1]] += 1
    pairs = (together + together.T)[np.triu_indices(6, 1)]
    assert stats.chisquare(pairs).pvalue > 0.001
