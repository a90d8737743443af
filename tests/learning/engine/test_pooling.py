"""The max-pool by slices against torch's, values and gradients."""

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from torch.nn import functional

from hfedms_sim.learning.engine.pooling import max_pool


@given(
    height=st.integers(2, 9),
    width=st.integers(2, 9),
    levels=st.sampled_from([1, 2, 3, 1000]),
    seed=st.integers(0, 2**32),
)
def test_values_and_gradients_are_torchs_whatever_is_equal(height: int, width: int, levels: int, seed: int) -> None:
    draw = torch.Generator().manual_seed(seed)
    values = torch.randint(levels, (2, 3, height, width), generator=draw).float().requires_grad_()
    deltas = torch.randn((2, 3, height // 2, width // 2), generator=draw)
    ours, theirs = max_pool(values), functional.max_pool2d(values, 2)
    assert torch.equal(ours, theirs)
    assert torch.equal(max_pool(values.detach()), theirs)
    assert torch.equal(*(torch.autograd.grad(pooled, values, deltas)[0] for pooled in (ours, theirs)))


def test_nan_reaches_its_window() -> None:
    values = torch.zeros(1, 1, 4, 4)
    values[0, 0, 1, 2] = torch.nan
    for pooled in (max_pool(values), max_pool(values.requires_grad_())):
        assert pooled.isnan().tolist() == [[[[False, True], [False, False]]]]


@pytest.mark.parametrize("shape", [(0, 3, 4, 4), (2, 0, 4, 4), (2, 3, 1, 4)])
def test_nothing_to_pool_is_nothing(shape: tuple[int, ...]) -> None:
    assert max_pool(torch.zeros(shape)).numel() == 0
