"""The compiled convolutions against autograd in float64, and what they must refuse."""

from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace

import pytest
import torch
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from torch import Tensor

from hfedms_sim.errors import InputError
from hfedms_sim.learning.engine import kernels
from hfedms_sim.learning.engine.kernels import Pooled
from hfedms_sim.system import native_library
from tests.learning.engine.convolutions import Convolution, accurate, channels_first, convolution

ODD_SHAPES = {
    "the paper's first layer": convolution((5, 5), (28, 28), (1, 32)),
    "the paper's second layer": convolution((5, 5, 3), (14, 14), (32, 64)),
    "a small second layer": convolution((5, 2), (14, 14), (8, 16)),
    "odd sides": convolution((2, 3), (9, 7), (6, 10)),
    "one window": convolution((9,), (2, 3), (16, 8)),
    "more inputs than a slice, not a multiple of it": convolution((3,), (6, 8), (37, 19)),
    "empty chains": convolution((0, 3, 0, 0, 1, 0), (6, 6), (4, 5)),
    "no samples": convolution((0, 0), (6, 6), (4, 5)),
    "no chains": convolution((), (6, 6), (4, 5)),
    **{f"kernel {k}": convolution((2, 1), (10, 12), (5, 9), k) for k in (1, 3, 5, 7, 9)},
    **{f"kernel {k}, one input": convolution((2, 1), (8, 6), (1, 20), k) for k in (1, 3, 5, 7)},
    **{f"mini-batches of {b}": convolution((b, b), (10, 10), (8, 16)) for b in range(1, 10)},
}


def run(conv: Convolution, channel_first: bool) -> tuple[Pooled, Tensor, tuple[Tensor, Tensor]]:
    """Pooled values, the input's gradient, those of weights and bias."""
    pooled = kernels.conv_pool_forward(conv.x, conv.counts, conv.weights, conv.bias, channel_first=channel_first)
    dx = torch.full_like(conv.x, torch.nan)
    gradients = (torch.zeros_like(conv.weights), torch.zeros_like(conv.bias))
    passed = (conv.x, conv.counts, (conv.weights, conv.bias), pooled, conv.deltas_as(channel_first))
    kernels.conv_pool_backward(*passed, dx=dx, gradients=gradients)
    return pooled, dx, gradients


@pytest.mark.parametrize("channel_first", [False, True])
@pytest.mark.parametrize("name", ODD_SHAPES)
def test_a_convolution_and_its_gradients_are_as_near_to_float64_as_torch(
    variant: str, name: str, channel_first: bool
) -> None:
    conv = ODD_SHAPES[name]
    if not conv.lengths:
        assert run(conv, channel_first)[0].values.numel() == 0
        return
    oracle, plain = conv.by_torch(torch.float64), conv.by_torch(torch.float32)
    pooled, dx, (weights, bias) = run(conv, channel_first)
    assert accurate(channels_first(pooled), plain.pooled, oracle.pooled)
    assert accurate(dx, plain.dx, oracle.dx)
    assert accurate(weights, plain.weights, oracle.weights)
    assert accurate(bias, plain.bias, oracle.bias)


@pytest.mark.parametrize("channel_first", [False, True])
@pytest.mark.parametrize("name", ODD_SHAPES)
def test_values_alone_are_as_near_to_float64_as_torch(variant: str, name: str, channel_first: bool) -> None:
    conv = ODD_SHAPES[name]
    call = (conv.x, conv.counts, conv.weights, conv.bias)
    values = kernels.conv_pool_values(*call, channel_first=channel_first)
    if not conv.lengths:
        assert values.numel() == 0
        return
    values = values if channel_first else values.permute(0, 3, 1, 2)
    assert accurate(values, conv.by_torch(torch.float32).pooled, conv.by_torch(torch.float64).pooled)


@given(
    counts=st.lists(st.integers(0, 9), min_size=1, max_size=4),
    image=st.tuples(st.integers(2, 13), st.integers(2, 13)),
    channels=st.tuples(st.integers(1, 40), st.integers(1, 40)),
    kernel=st.sampled_from([1, 3, 5, 7]),
)
@settings(max_examples=60, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_any_convolution_is_right(
    variant: str, counts: list[int], image: tuple[int, int], channels: tuple[int, int], kernel: int
) -> None:
    conv = convolution(tuple(counts), image, channels, kernel, seed=sum(counts))
    oracle = conv.by_torch(torch.float64)
    pooled, dx, (weights, bias) = run(conv, channel_first=True)
    for ours, exact in zip((pooled.values, dx, weights, bias), oracle, strict=True):
        torch.testing.assert_close(ours.double(), exact, rtol=1e-4, atol=1e-4)
    values = kernels.conv_pool_values(conv.x, conv.counts, conv.weights, conv.bias, channel_first=True)
    torch.testing.assert_close(values.double(), oracle.pooled, rtol=1e-4, atol=1e-4)


def test_an_image_of_one_row_has_nothing_to_pool(variant: str) -> None:
    pooled, dx, (weights, bias) = run(convolution((2,), (1, 5), (3, 4)), channel_first=False)
    assert pooled.values.shape == (2, 0, 2, 4)
    assert not any(gradient.any() for gradient in (dx, weights, bias))


@pytest.mark.parametrize(("kernel", "inputs"), [(5, 1), (5, 5), (3, 5)])
@pytest.mark.parametrize("name", ["x", "weights", "bias"])
def test_gradients_are_finite_differences(variant: str, name: str, kernel: int, inputs: int) -> None:
    conv = convolution((3, 2), (6, 8), (inputs, 6), kernel)
    here, dx, (by_weights, by_bias) = run(conv, channel_first=True)
    gradient = {"x": dx, "weights": by_weights, "bias": by_bias}[name].view(-1)
    compared = 0
    for place in torch.randperm(len(gradient), generator=torch.Generator().manual_seed(1))[:30].tolist():
        step = torch.zeros(len(gradient)).index_fill(0, torch.tensor(place), 2**-9).view(getattr(conv, name).shape)
        ahead, behind = (
            run(replace(conv, **{name: moved}), channel_first=True)[0]
            for moved in (getattr(conv, name) + step, getattr(conv, name) - step)
        )
        if torch.equal(ahead.argmax, here.argmax) and torch.equal(behind.argmax, here.argmax):  # no kink in between
            change = float(((ahead.values - behind.values).double() * conv.deltas).sum())
            assert change * 2**8 == pytest.approx(float(gradient[place]), rel=1e-3, abs=3e-3)
            compared += 1
    assert compared >= min(30, len(gradient)) / 2


def test_a_step_is_the_gradient_times_the_rate(variant: str) -> None:
    conv = convolution((5, 0, 2), (14, 14), (32, 24))
    pooled, dx, (by_weights, by_bias) = run(conv, channel_first=False)
    weights, bias, own_dx = conv.weights.clone(), conv.bias.clone(), torch.empty_like(dx)
    deltas = conv.deltas_as(channel_first=False)
    kernels.conv_pool_backward(conv.x, conv.counts, (weights, bias), pooled, deltas, rate=0.06, dx=own_dx)
    assert torch.equal(own_dx, dx)
    torch.testing.assert_close(weights, conv.weights - 0.06 * by_weights, rtol=1e-6, atol=1e-8)
    torch.testing.assert_close(bias, conv.bias - 0.06 * by_bias, rtol=1e-6, atol=1e-8)
    assert torch.equal(weights[1], conv.weights[1])
    without_dx = conv.weights.clone()
    kernels.conv_pool_backward(conv.x, conv.counts, (without_dx, conv.bias.clone()), pooled, deltas, rate=0.06)
    assert torch.equal(without_dx, weights)


@pytest.mark.parametrize("channels", [(1, 12), (8, 12)])
def test_the_first_of_equal_maxima_wins_where_inputs_are_constant(variant: str, channels: tuple[int, int]) -> None:
    conv = convolution((2,), (12, 12), channels)
    conv.x.fill_(0.3)
    pooled, *_ = run(replace(conv, bias=conv.bias + 0.5), channel_first=False)
    inside = pooled.argmax[:, 1:-1, 1:-1]
    assert set(inside.unique().tolist()) <= {0, 255}
    assert (inside == 0).any()


@pytest.mark.parametrize(("kernel", "inputs"), [(5, 1), (5, 8), (3, 8)])
def test_argmax_is_where_torch_finds_it(variant: str, kernel: int, inputs: int) -> None:
    conv = convolution((3,), (8, 10), (inputs, 11), kernel)
    images = conv.x.permute(0, 3, 1, 2).double()
    filters = conv.weights[0].permute(0, 3, 1, 2).double()
    convolved = torch.nn.functional.conv2d(images, filters, conv.bias[0].double(), padding=kernel // 2).relu()
    best, index = torch.nn.functional.max_pool2d(convolved, 2, return_indices=True)
    expected = torch.where(best > 0, index // 10 % 2 * 2 + index % 2, 255)
    pooled = kernels.conv_pool_forward(conv.x, conv.counts, conv.weights, conv.bias, channel_first=True)
    assert torch.equal(pooled.argmax.long(), expected)


@pytest.mark.parametrize(("kernel", "inputs"), [(5, 1), (5, 8), (5, 24), (3, 8)])
def test_nan_reaches_every_window_that_sees_it_and_no_other(variant: str, kernel: int, inputs: int) -> None:
    conv = convolution((1, 1), (12, 12), (inputs, 10), kernel)
    conv.x[0, 5, 6, 0] = torch.nan
    expected = conv.by_torch(torch.float64).pooled.isnan()
    pooled = kernels.conv_pool_forward(conv.x, conv.counts, conv.weights, conv.bias)
    assert torch.equal(channels_first(pooled).isnan(), expected)
    values = kernels.conv_pool_values(conv.x, conv.counts, conv.weights, conv.bias, channel_first=True)
    assert torch.equal(values.isnan(), expected)


def test_a_chain_gets_the_same_bits_alone_and_beside_others_in_any_thread(variant: str) -> None:
    conv = convolution((5, 3, 0, 1, 4), (14, 14), (12, 24))
    pooled, dx, (weights, bias) = run(conv, channel_first=True)
    samples_of = torch.arange(len(conv.x)).split(conv.lengths)

    def alone(number: int) -> tuple[Pooled, Tensor, tuple[Tensor, Tensor]]:
        own, samples = slice(number, number + 1), samples_of[number]
        lengths = conv.lengths[own]
        chain = Convolution(conv.x[samples], lengths, conv.weights[own], conv.bias[own], conv.deltas[samples])
        return run(chain, channel_first=True)

    with ThreadPoolExecutor(2) as threads:
        chains = list(threads.map(alone, range(len(samples_of))))
    assert torch.equal(torch.cat([own.values for own, _, _ in chains]), pooled.values)
    assert torch.equal(torch.cat([own for _, own, _ in chains]), dx)
    assert torch.equal(torch.cat([own for _, _, (own, _) in chains]), weights)
    assert torch.equal(torch.cat([own for _, _, (_, own) in chains]), bias)


@pytest.mark.skipif(len(native_library.runnable(native_library.DIRECTORY)) < 2, reason="one variant only")
def test_variants_agree_to_rounding(monkeypatch: pytest.MonkeyPatch) -> None:
    conv = convolution((5, 2), (14, 14), (32, 64))
    results = []
    for name in native_library.runnable(native_library.DIRECTORY):
        monkeypatch.setenv(native_library.SETTING, name)
        pooled, dx, (weights, bias) = run(conv, channel_first=True)
        values = kernels.conv_pool_values(conv.x, conv.counts, conv.weights, conv.bias)
        results.append((pooled.values, dx, weights, bias, values))
    for first, *others in zip(*results, strict=True):
        for other in others:
            torch.testing.assert_close(other, first, rtol=1e-5, atol=1e-5)


CONV = convolution((2, 1), (6, 8), (4, 5))
WRONG = {
    "a double": {"x": CONV.x.double()},
    "a strided image": {"x": CONV.x.transpose(1, 2).contiguous().transpose(1, 2)},
    "a missing dimension": {"x": CONV.x[0]},
    "other input channels": {"weights": CONV.weights[..., :3].contiguous()},
    "an even kernel": {"weights": torch.zeros(2, 5, 4, 4, 4)},
    "an oblong kernel": {"weights": torch.zeros(2, 5, 5, 3, 4)},
    "no input channels": {"x": torch.zeros(3, 6, 8, 0), "weights": torch.zeros(2, 5, 5, 5, 0)},
    "a bias for one chain": {"bias": CONV.bias[:1]},
    "counts for one chain": {"counts": torch.tensor([3])},
    "counts that do not add up": {"counts": torch.tensor([2, 2])},
    "a negative count": {"counts": torch.tensor([4, -1])},
    "counts that overflow": {"counts": torch.tensor([2**63 - 1, 5])},
    "counts of another type": {"counts": torch.tensor([2, 1], dtype=torch.int32)},
    "another device": {"x": torch.empty(3, 6, 8, 4, device="meta")},
}


@pytest.mark.parametrize("name", WRONG)
def test_a_wrong_argument_is_refused(variant: str, name: str) -> None:
    right = {"x": CONV.x, "counts": CONV.counts, "weights": CONV.weights, "bias": CONV.bias}
    with pytest.raises(ValueError, match=r"must|no convolution"):
        kernels.conv_pool_forward(**(right | WRONG[name]))  # type: ignore[arg-type]
    with pytest.raises(ValueError, match=r"must|no convolution"):
        kernels.conv_pool_values(**(right | WRONG[name]))  # type: ignore[arg-type]


def test_deltas_and_places_of_another_shape_are_refused(variant: str) -> None:
    pooled = kernels.conv_pool_forward(CONV.x, CONV.counts, CONV.weights, CONV.bias)
    call = (CONV.x, CONV.counts, (CONV.weights, CONV.bias))
    deltas = CONV.deltas_as(channel_first=False)
    with pytest.raises(ValueError, match="deltas must have the shape"):
        kernels.conv_pool_backward(*call, pooled, CONV.deltas)
    with pytest.raises(ValueError, match="argmax must be a dense"):
        kernels.conv_pool_backward(*call, pooled._replace(argmax=pooled.argmax.long()), deltas)
    with pytest.raises(ValueError, match="dx must be contiguous"):
        kernels.conv_pool_backward(*call, pooled, deltas, dx=torch.empty(3, 8, 6, 4).transpose(1, 2))
    with pytest.raises(ValueError, match="out must have the shape"):
        kernels.conv_pool_values(CONV.x, CONV.counts, CONV.weights, CONV.bias, channel_first=True, out=pooled.values)


def test_a_place_that_is_none_passes_nothing(variant: str) -> None:
    pooled = kernels.conv_pool_forward(CONV.x, CONV.counts, CONV.weights, CONV.bias)
    pooled.argmax.fill_(77)
    gradients = (torch.zeros_like(CONV.weights), torch.zeros_like(CONV.bias))
    call = (CONV.x, CONV.counts, (CONV.weights, CONV.bias), pooled, CONV.deltas_as(channel_first=False))
    kernels.conv_pool_backward(*call, gradients=gradients)
    assert not any(gradient.any() for gradient in gradients)


def test_kernels_can_be_switched_off(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(native_library.SETTING, "off")
    assert not native_library.available()
    with pytest.raises(RuntimeError, match="no compiled kernels"):
        kernels.conv_pool_forward(CONV.x, CONV.counts, CONV.weights, CONV.bias)


def test_an_unknown_variant_is_bad_input(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(native_library.SETTING, "mmx")
    with pytest.raises(InputError, match=r"HFEDMS_SIM_KERNELS='mmx' cannot be used here. Allowed: off"):
        native_library.variant()
