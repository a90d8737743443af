"""FedMMD: the discrepancy against plain loops, and what the two-stream loss trains."""

from math import exp

import pytest
import torch
from torch import Tensor
from torch.nn import functional

from hfedms_sim.learning.engine import generic
from hfedms_sim.learning.learner import ChainLearner
from hfedms_sim.learning.networks import StackNetwork, initial_weights
from hfedms_sim.seeds import Draws
from hfedms_sim.strategies.fedavg import FedAvgSettings
from hfedms_sim.strategies.fedmmd import FedMMDSettings
from hfedms_sim.strategies.learners.fedmmd import TwoStreamLearner, squared_discrepancy, two_streams
from tests.learning.tiny_factory import SPEC, START, parts, record

# the specification's list, written out once more
WIDTHS = [1e-6, 1e-5, 1e-4, 1e-3, 1e-2, 1e-1, 1, 5, 10, 15, 20, 25, 30, 35, 100, 1e3, 1e4, 1e5, 1e6]
SGD = {"learning_rate": 0.1, "batch_size": 4}
GENERATOR = torch.Generator().manual_seed(4)
IMAGES, LABELS = torch.rand(5, 1, 28, 28, generator=GENERATOR), torch.arange(5)


def random(rows: int, scale: float = 1.0) -> Tensor:
    return scale * torch.randn(rows, 6, generator=GENERATOR, dtype=torch.float64)


def by_loops(one: Tensor, other: Tensor) -> float:
    def mean_kernel(xs: list[list[float]], ys: list[list[float]]) -> float:
        total = 0.0
        for x in xs:
            for y in ys:
                squared = sum((a - b) ** 2 for a, b in zip(x, y, strict=True))
                total += sum(exp(-squared / (2 * width)) for width in WIDTHS)
        return total / (len(xs) * len(ys))

    xs, ys = one.tolist(), other.tolist()
    return mean_kernel(xs, xs) + mean_kernel(ys, ys) - 2 * mean_kernel(xs, ys)


@pytest.mark.parametrize("scale", [1e-3, 0.3, 5.0, 500.0])
@pytest.mark.parametrize("rows", [1, 2, 5])
def test_it_is_what_plain_loops_give(rows: int, scale: float) -> None:
    one, other = random(rows, scale), random(rows, scale) + scale
    assert float(squared_discrepancy(one, other)) == pytest.approx(by_loops(one, other), rel=1e-9, abs=1e-12)
    assert by_loops(one, other) > 0.01


def test_float32_is_near_enough() -> None:
    one, other = random(5), random(5)
    value = float(squared_discrepancy(one.float(), other.float()))
    assert value == pytest.approx(by_loops(one, other), abs=1e-4)


def test_sets_of_different_sizes_have_one_too() -> None:
    one, other = random(3), random(5)
    assert float(squared_discrepancy(one, other)) == pytest.approx(by_loops(one, other), rel=1e-9)


def test_equal_sets_have_none_and_the_order_does_not_matter() -> None:
    one = random(5)
    assert float(squared_discrepancy(one, one.clone())) == 0.0
    assert float(squared_discrepancy(one, one[[3, 1, 4, 0, 2]])) == pytest.approx(0.0, abs=1e-12)


def test_it_is_symmetric_and_never_negative() -> None:
    for _ in range(20):
        one, other = random(4), random(4)
        forth, back = squared_discrepancy(one, other), squared_discrepancy(other, one)
        assert float(forth) == pytest.approx(float(back), rel=1e-12)
        assert float(forth) >= 0


def test_there_is_a_gradient_however_near_the_streams_are() -> None:
    """The authors' program cuts the value off below 1e-4, where this one is, and then has none."""
    kept = random(5)
    local = (kept + 1e-6 * random(5)).requires_grad_()
    value = squared_discrepancy(kept, local)
    value.backward()
    assert 0 < float(value.detach()) < 1e-4
    assert local.grad is not None
    assert float(local.grad.abs().max()) > 0


def test_the_loss_is_cross_entropy_and_the_weighted_discrepancy_of_the_logits() -> None:
    frozen, local = StackNetwork(SPEC), StackNetwork(SPEC)
    frozen.load(START)
    local.load(initial_weights(SPEC, Draws(9)))
    expected = functional.cross_entropy(local(IMAGES), LABELS).double()
    expected += 0.5 * by_loops(frozen(IMAGES).double(), local(IMAGES).double())
    value = two_streams(0.5).value(local(IMAGES), LABELS, frozen(IMAGES))
    assert float(value.detach()) == pytest.approx(float(expected.detach()), abs=1e-4)


def test_the_gradient_flows_to_the_local_stream_only() -> None:
    local = StackNetwork(SPEC)
    local.load(initial_weights(SPEC, Draws(9)))
    anchor = generic.frozen_copy(local, START)
    two_streams(0.5).value(local(IMAGES), LABELS, anchor(IMAGES)).backward()
    assert isinstance(anchor, StackNetwork)
    assert all(parameter.grad is not None for parameter in local.parameters())
    assert all(parameter.grad is None for parameter in anchor.parameters())
    assert all(torch.equal(value, START[name]) for name, value in anchor.named_parameters())


def test_the_first_step_of_a_round_is_that_of_cross_entropy() -> None:
    """Both streams are equal then: no discrepancy, and it is at its least."""
    local = StackNetwork(SPEC)
    local.load(START)
    anchor = generic.frozen_copy(local, START)
    two_streams(100.0).value(local(IMAGES), LABELS, anchor(IMAGES)).backward()
    plain = StackNetwork(SPEC)
    plain.load(START)
    functional.cross_entropy(plain(IMAGES), LABELS).backward()
    for one, other in zip(local.parameters(), plain.parameters(), strict=True):
        assert torch.allclose(one.grad, other.grad, atol=1e-6)  # type: ignore[arg-type]


@pytest.mark.usefixtures("every_engine")
def test_a_round_of_one_step_each_is_fedavgs_bit_for_bit_whatever_the_engine() -> None:
    """Two streams that are equal must be so to the last bit: the narrowest kernel multiplies by a million."""
    streams = TwoStreamLearner(FedMMDSettings(**{"lambda": 100.0}, **SGD), parts())
    plain = ChainLearner(FedAvgSettings(**SGD), parts())
    for learner in (streams, plain):
        learner.learn(record(1, [[0], [1], [2]], SGD["batch_size"]))  # type: ignore[arg-type]
    assert all(torch.equal(streams.weights[name], plain.weights[name]) for name in START)
    assert not torch.equal(plain.weights["classifier.bias"], START["classifier.bias"])


@pytest.mark.usefixtures("every_engine")
@pytest.mark.parametrize("weight", [0.0, 0.1])
def test_only_without_a_weight_is_it_fedavg_bit_for_bit(weight: float) -> None:
    streams = TwoStreamLearner(FedMMDSettings(**{"lambda": weight}, **SGD), parts())
    plain = ChainLearner(FedAvgSettings(**SGD), parts())
    for number in (1, 2):
        for learner in (streams, plain):
            learner.learn(record(number, [[0], [1]], 9))
    same = [torch.equal(streams.weights[name], plain.weights[name]) for name in START]
    assert all(same) if weight == 0.0 else not any(same)


@pytest.mark.usefixtures("every_engine")
def test_each_round_is_compared_with_the_model_it_started_from() -> None:
    """A learner that starts from the first round's end does in its round 2 what one does that played both."""
    settings = FedMMDSettings(**{"lambda": 0.1}, **SGD)
    whole = TwoStreamLearner(settings, parts())
    whole.learn(record(1, [[0], [1]], 9))
    second = TwoStreamLearner(settings, parts(whole.weights))
    for learner in (whole, second):
        learner.learn(record(2, [[0], [1]], 9))
    assert all(torch.equal(whole.weights[name], second.weights[name]) for name in START)
