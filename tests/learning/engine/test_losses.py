"""Gradients by hand, of many mini-batches at once, are autograd's of each alone: padding does not count."""

from typing import NamedTuple

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from torch import Tensor

from hfedms_sim.learning.distillation import distilling
from hfedms_sim.learning.engine import CROSS_ENTROPY, Loss
from hfedms_sim.strategies.learners import fedmmd as mmd
from hfedms_sim.strategies.learners.fedmmd import two_streams

LOSSES = {"cross-entropy": CROSS_ENTROPY, "mmd": two_streams(0.7), "distillation": distilling(30.0)}
every_loss = pytest.mark.parametrize("name", LOSSES)
WIDEST, CLASSES = 6, 5


class Batches(NamedTuple):
    """Mini-batches of several chains, filled up to the widest with samples that must not count."""

    logits: Tensor
    reference: Tensor
    labels: Tensor
    weights: Tensor


def batches_of(sizes: list[int], apart: float, seed: int = 1, padding: float = 3.0) -> Batches:
    """Logits are `apart` from the reference; what is padding is random too, `padding` wide."""
    random = torch.Generator().manual_seed(seed)
    width = max(sizes)
    shape = (len(sizes), width, CLASSES)
    reference, moved = (torch.randn(shape, generator=random, dtype=torch.float64) for _ in range(2))
    is_real = torch.arange(width) < torch.tensor(sizes)[:, None]
    scale = torch.where(is_real, 1.0, padding)[:, :, None]
    labels = torch.randint(0, CLASSES, shape[:2], generator=random)
    weights = is_real / torch.tensor(sizes, dtype=torch.float64)[:, None]
    return Batches((reference + apart * moved) * scale, reference * scale, labels, weights)


def by_autograd(loss: Loss, batches: Batches) -> Tensor:
    """Each mini-batch alone, without its padding."""
    gradients = torch.zeros_like(batches.logits)
    for chain, size in enumerate((batches.weights > 0).sum(dim=1).tolist()):
        logits = batches.logits[chain, :size].clone().requires_grad_()
        loss.value(logits, batches.labels[chain, :size], batches.reference[chain, :size]).backward()
        assert logits.grad is not None
        gradients[chain, :size] = logits.grad
    return gradients


def by_hand(loss: Loss, batches: Batches) -> Tensor:
    return loss.deltas(batches.logits, batches.labels, batches.weights, batches.reference)


@every_loss
@given(
    sizes=st.lists(st.integers(1, WIDEST), min_size=1, max_size=4),
    apart=st.sampled_from([1e-3, 0.1, 1.0, 30.0]),
    seed=st.integers(0, 10**6),
)
def test_the_gradient_is_autograds_of_each_mini_batch_alone(
    name: str, sizes: list[int], apart: float, seed: int
) -> None:
    batches, loss = batches_of(sizes, apart, seed), LOSSES[name]
    expected = by_autograd(loss, batches)
    assert float((by_hand(loss, batches) - expected).abs().max()) < 1e-10 * max(1.0, float(expected.abs().max()))


@every_loss
def test_what_stands_in_the_padding_has_no_effect_and_gets_no_gradient(name: str) -> None:
    loss = LOSSES[name]
    near, far = (batches_of([2, 5, 1], 0.3, padding=padding) for padding in (1.0, 500.0))
    assert torch.equal(by_hand(loss, near), by_hand(loss, far))
    assert not by_hand(loss, far)[far.weights == 0].any()
    assert by_hand(loss, far)[far.weights > 0].any()


@pytest.mark.parametrize("name", ["mmd", "distillation"])
def test_the_term_matters_and_vanishes_where_nothing_has_moved(name: str) -> None:
    moved, still = batches_of([4, 3], 0.3), batches_of([4, 3], 0.0)
    assert float((by_hand(LOSSES[name], moved) - by_hand(CROSS_ENTROPY, moved)).abs().max()) > 0.01
    assert torch.equal(by_hand(LOSSES[name], still), by_hand(CROSS_ENTROPY, still))


def test_a_discrepancy_that_rounding_takes_below_zero_has_no_gradient() -> None:
    """The same samples in another order: the value is zero but for its last bits, and either sign comes up."""
    signs = set()
    for seed in range(30):
        batches = batches_of([5], 0.0, seed)
        shuffled = batches._replace(logits=batches.reference[:, [3, 1, 4, 0, 2]])
        exact = mmd.mean_kernel(shuffled.reference[0], shuffled.reference[0])
        exact = exact + mmd.mean_kernel(shuffled.logits[0], shuffled.logits[0])
        exact = exact - 2 * mmd.mean_kernel(shuffled.reference[0], shuffled.logits[0])
        signs.add(float(exact) < 0)
        gradient = by_autograd(two_streams(1.0), shuffled) - by_autograd(CROSS_ENTROPY, shuffled)
        assert float(gradient.abs().max()) < 1e-9
        clamped = by_hand(two_streams(1.0), shuffled) - by_hand(CROSS_ENTROPY, shuffled)
        assert float(clamped.abs().max()) < 1e-9
    assert signs == {True, False}


def test_a_clamped_chain_leaves_the_others_their_gradient(monkeypatch: pytest.MonkeyPatch) -> None:
    """Kernels that are no kernels, so that the first chain's value is truly below zero."""
    batches = batches_of([3, 3], 0.5)
    kernel = mmd.kernel

    def doubled_between(differences: Tensor) -> tuple[Tensor, Tensor]:
        values, slopes = kernel(differences)
        is_across = bool((differences.diagonal(dim1=-3, dim2=-2) != 0).any())
        factor = torch.tensor([5.0, 1.0], dtype=torch.float64).reshape(-1, 1, 1)
        return (values * factor if is_across else values), slopes

    free = mmd.squared_discrepancy_deltas(batches.reference, batches.logits, batches.weights)
    monkeypatch.setattr(mmd, "kernel", doubled_between)
    cut = mmd.squared_discrepancy_deltas(batches.reference, batches.logits, batches.weights)
    assert not cut[0].any()
    assert torch.equal(cut[1], free[1])
    assert free[0].any()


@pytest.mark.parametrize("numbers", [1, 300, 2**22])
def test_a_few_chains_at_a_time_give_the_same(numbers: int, monkeypatch: pytest.MonkeyPatch) -> None:
    batches = batches_of([4, 1, 6, 2, 6], 0.2)
    whole = by_hand(LOSSES["mmd"], batches)
    monkeypatch.setattr(mmd, "_PAIRED_NUMBERS", numbers)
    assert float((by_hand(LOSSES["mmd"], batches) - whole).abs().max()) < 1e-14
