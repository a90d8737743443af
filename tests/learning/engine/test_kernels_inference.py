"""The compiled dense layer for many rows against float64, and what it must refuse."""

from concurrent.futures import ThreadPoolExecutor

import pytest
import torch
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from torch import Tensor

from hfedms_sim.learning.engine.kernels import PackedDense
from hfedms_sim.system import native_library
from tests.learning.engine.convolutions import accurate


def layer(rows: int, inputs: int, outputs: int) -> tuple[Tensor, Tensor, Tensor]:
    """x, weights, bias."""
    draw = torch.Generator().manual_seed(rows + inputs + outputs)
    return tuple(torch.randn(shape, generator=draw) for shape in ((rows, inputs), (outputs, inputs), (outputs,)))  # type: ignore[return-value]


def by_torch(x: Tensor, weights: Tensor, bias: Tensor) -> Tensor:
    return torch.nn.functional.linear(x, weights, bias).relu()


@pytest.mark.parametrize("shape", [(512, 3136, 2048), (100, 2048, 100)])
def test_a_layer_of_the_paper_is_as_near_to_float64_as_torch(variant: str, shape: tuple[int, int, int]) -> None:
    x, weights, bias = layer(*shape)
    oracle = by_torch(x.double(), weights.double(), bias.double())
    assert accurate(PackedDense(weights, bias)(x), by_torch(x, weights, bias), oracle)


@given(rows=st.integers(0, 14), inputs=st.integers(1, 40), outputs=st.integers(1, 70))
@settings(max_examples=80, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_any_layer_is_right(variant: str, rows: int, inputs: int, outputs: int) -> None:
    x, weights, bias = layer(rows, inputs, outputs)
    torch.testing.assert_close(PackedDense(weights, bias)(x), by_torch(x, weights, bias), rtol=1e-4, atol=1e-4)


def test_nan_stays_in_its_row(variant: str) -> None:
    x, weights, bias = layer(9, 20, 33)
    x[4, 7] = torch.nan
    y = PackedDense(weights, bias)(x)
    assert y[4].isnan().all()
    assert y.isnan().sum() == 33


def test_bits_do_not_depend_on_how_rows_are_split(variant: str) -> None:
    x, weights, bias = layer(50, 77, 40)
    dense = PackedDense(weights, bias)
    with ThreadPoolExecutor(2) as threads:
        parts = list(threads.map(dense, (x[:7], x[7:8], x[8:])))
    assert torch.equal(torch.cat(parts), dense(x))


@pytest.mark.skipif(len(native_library.runnable(native_library.DIRECTORY)) < 2, reason="one variant only")
def test_variants_agree_to_rounding(monkeypatch: pytest.MonkeyPatch) -> None:
    x, weights, bias = layer(20, 300, 50)
    results = []
    for name in native_library.runnable(native_library.DIRECTORY):
        monkeypatch.setenv(native_library.SETTING, name)
        results.append(PackedDense(weights, bias)(x))
    for other in results[1:]:
        torch.testing.assert_close(other, results[0], rtol=1e-5, atol=1e-5)


@pytest.mark.parametrize(
    ("weights", "bias", "x"),
    [
        (torch.zeros(3, 4).double(), torch.zeros(3), torch.zeros(2, 4)),
        (torch.zeros(3, 4), torch.zeros(4), torch.zeros(2, 4)),
        (torch.zeros(4, 3).t(), torch.zeros(3), torch.zeros(2, 4)),
        (torch.zeros(3, 0), torch.zeros(3), torch.zeros(2, 0)),
        (torch.zeros(3, 4), torch.zeros(3), torch.zeros(2, 5)),
        (torch.zeros(3, 4), torch.zeros(3), torch.zeros(4, 2).t()),
        (torch.zeros(3, 4), torch.zeros(3), torch.zeros(4)),
    ],
)
def test_a_wrong_argument_is_refused(variant: str, weights: Tensor, bias: Tensor, x: Tensor) -> None:
    with pytest.raises(ValueError, match=r"must|no dense layer"):
        PackedDense(weights, bias)(x)
