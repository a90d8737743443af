"""The server's mean."""

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from hfedms_sim.learning.merging import RunningMean

values = st.lists(st.tuples(st.floats(-10, 10, width=32), st.floats(0, 5)), min_size=1, max_size=20)


def mean_of(*results: tuple[float, float]) -> float | None:
    running = RunningMean()
    for value, share in results:
        running.add({"w": torch.tensor([value])}, share)
    result = running.result()
    return None if result is None else float(result["w"])


@given(values)
def test_it_is_the_weighted_mean(results: list[tuple[float, float]]) -> None:
    total = sum(share for _, share in results)
    if total == 0:
        assert mean_of(*results) is None
    elif total > 1e-3:
        expected = sum(value * share for value, share in results) / total
        assert mean_of(*results) == pytest.approx(expected, rel=1e-4, abs=1e-4)


def test_equal_results_keep_their_last_bit() -> None:
    value = torch.rand(1000)
    running = RunningMean()
    for share in (1.0, 0.3, 7.0, 1.0, 1.0):
        running.add({"w": value.clone()}, share)
    result = running.result()
    assert result is not None
    assert torch.equal(result["w"], value)


def test_what_was_added_is_neither_kept_nor_changed() -> None:
    first = torch.tensor([1.0])
    running = RunningMean()
    running.add({"w": first}, 1.0)
    running.add({"w": torch.tensor([3.0])}, 1.0)
    assert float(first) == 1.0
