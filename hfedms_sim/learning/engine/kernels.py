"""Compiled kernels on torch tensors: what kernels.c computes, with every shape, stride and type checked first.

A call works on many chains, whose samples stand one after another: `counts` says how many belong to each. It works
without Python's lock, and what it computes for a chain depends on that chain alone. Everything is float32 in the CPU's
memory. A wrong tensor is a ValueError, and nothing is read or written outside of the tensors.

The kernels are optional: nothing here may be called unless native_library.available().
"""

import ctypes
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import torch
from torch import Tensor

from hfedms_sim.system import native_library

_NO_MEMORY = 1
_FAULTS = {2: "counts must be at least 0 and add up to the samples", 3: "ranks must be from 0 to the history's rows"}
_FAULTS |= {4: "a label is not a class"}
_LARGEST = 2**31 - 1  # positions in a layer are 32-bit numbers
_PANEL = 32  # outputs are filled up to a multiple of it, at least as many as the widest variant packs together


def _call(name: str, *arguments: Any) -> None:
    library = native_library.library(native_library.DIRECTORY, native_library.variant())
    if library is None:
        raise RuntimeError("there are no compiled kernels here: ask native_library.available() first")
    fault = getattr(library, name)(*arguments)
    if fault == _NO_MEMORY:
        raise MemoryError(f"{name}: no memory for scratch")
    if fault:
        raise ValueError(f"{name}: {_FAULTS[fault]}")


# --------------------------------------------------------------------------------------------------------- arguments


class Pooled(NamedTuple):
    """What a convolution's pool gives: (samples, height, width, channels), or channels before height.

    `argmax` is the maximum's place in its window, 0..3 in scan order, and 255 where the ReLU is dead.
    """

    values: Tensor
    argmax: Tensor
    channel_first: bool


def _longs(*values: int) -> Any:
    """A struct of 64-bit integers."""
    return (ctypes.c_int64 * len(values))(*values)


def _address(tensor: Tensor | None) -> ctypes.c_void_p:
    return ctypes.c_void_p(None if tensor is None else tensor.data_ptr())


def _check(name: str, tensor: Tensor, shape: Sequence[int], dtype: torch.dtype = torch.float32) -> None:
    if tensor.dtype != dtype or tensor.device.type != "cpu" or tensor.layout != torch.strided:
        raise ValueError(f"{name} must be a dense {dtype} in the CPU's memory, not {tensor.dtype} on {tensor.device}")
    if tensor.shape != torch.Size(shape):
        raise ValueError(f"{name} must have the shape {tuple(shape)}, not {tuple(tensor.shape)}")
    if not tensor.is_contiguous():
        raise ValueError(f"{name} must be contiguous, not with the strides {tensor.stride()}")


def _dimensions(name: str, tensor: Tensor, count: int) -> tuple[int, ...]:
    if tensor.dim() != count:
        raise ValueError(f"{name} must have {count} dimensions, not {tensor.dim()}")
    return tuple(tensor.shape)


def _chains(counts: Tensor, chains: int, samples: int) -> Any:
    """A struct of kernels.c."""
    _check("counts", counts, (chains,), torch.int64)
    return _longs(chains, samples)


# ------------------------------------------------------------------------------------------------------ convolutions


@dataclass(frozen=True, slots=True)
class _Layer:
    """A checked convolution; `chains` and `layer` are structs of kernels.c."""

    chains: Any
    layer: Any
    pooled_shape: tuple[int, ...]


def _layer(x: Tensor, counts: Tensor, weights: Tensor, bias: Tensor, channel_first: bool) -> _Layer:
    samples, height, width, inputs = _dimensions("x", x, 4)
    count, outputs, kernel, _, _ = _dimensions("weights", weights, 5)
    if min(height, width, inputs, outputs) < 1 or kernel % 2 == 0:
        raise ValueError(f"no convolution: image {height} x {width}, channels {inputs} to {outputs}, kernel {kernel}")
    if 16 * (height + kernel) * (width + kernel) * max(16, outputs) * kernel > _LARGEST:
        raise ValueError(f"too large: image {height} x {width}, {outputs} channels, kernel {kernel}")
    _check("x", x, x.shape)
    _check("weights", weights, (count, outputs, kernel, kernel, inputs))
    _check("bias", bias, (count, outputs))
    rows, columns = height // 2, width // 2
    pooled_shape = (samples, outputs, rows, columns) if channel_first else (samples, rows, columns, outputs)
    layer = _longs(height, width, inputs, outputs, kernel, channel_first)
    return _Layer(_chains(counts, count, samples), layer, pooled_shape)


def conv_pool_forward(
    x: Tensor, counts: Tensor, weights: Tensor, bias: Tensor, *, channel_first: bool = False
) -> Pooled:
    """Convolution (`same` padding, stride 1), ReLU and 2x2 max-pool with every chain's own weights.

    x (samples, height, width, inputs), weights (chains, outputs, k, k, inputs), bias (chains, outputs), k odd.
    """
    checked = _layer(x, counts, weights, bias, channel_first)
    shape = checked.pooled_shape
    pooled = Pooled(torch.empty(shape), torch.empty(shape, dtype=torch.uint8), channel_first)
    tensors = (counts, x, weights, bias, pooled.values, pooled.argmax)
    _call("conv_pool_forward", checked.chains, checked.layer, *map(_address, tensors))
    return pooled


def conv_pool_values(
    x: Tensor, counts: Tensor, weights: Tensor, bias: Tensor, *, channel_first: bool = False, out: Tensor | None = None
) -> Tensor:
    """Return what `conv_pool_forward` does to within a few roundings, faster, and not where the maxima are."""
    checked = _layer(x, counts, weights, bias, channel_first)
    values = torch.empty(checked.pooled_shape) if out is None else out
    _check("out", values, checked.pooled_shape)
    tensors = (counts, x, weights, bias, values, None)
    _call("conv_pool_forward", checked.chains, checked.layer, *map(_address, tensors))
    return values


def conv_pool_backward(
    x: Tensor,
    counts: Tensor,
    parameters: tuple[Tensor, Tensor],
    pooled: Pooled,
    deltas: Tensor,
    *,
    rate: float = 0.0,
    dx: Tensor | None = None,
    gradients: tuple[Tensor, Tensor] | None = None,
) -> None:
    """weights -= rate * gradient and bias likewise, in place; with `gradients` these go there and the weights stay.

    `parameters` are weights and bias, `deltas` the loss's gradients by the pooled values, each divided by its
    mini-batch's size. `dx`, if given, gets the gradient of x with the old weights.
    """
    checked = _layer(x, counts, *parameters, pooled.channel_first)
    _check("pooled values", pooled.values, checked.pooled_shape)
    _check("argmax", pooled.argmax, checked.pooled_shape, torch.uint8)
    _check("deltas", deltas, checked.pooled_shape)
    if dx is not None:
        _check("dx", dx, x.shape)
    before = map(_address, (counts, x, deltas, pooled.argmax, *parameters))
    after = map(_address, (dx, *(gradients or (None, None))))
    _call("conv_pool_backward", checked.chains, checked.layer, *before, ctypes.c_float(rate), *after)


# ----------------------------------------------------------------------------------------------------------- history


def history_dots(x: Tensor, counts: Tensor, inputs: Tensor, ranks: Tensor, products: Tensor) -> None:
    """products[i, j] = x[i] . inputs[g, j] for the first ranks[g] rows of the history of sample i's chain g.

    x (samples, n), inputs (chains, rows, n) whose chains may be any stride apart, products (samples, rows).
    Other products are left as they are.
    """
    samples, width = _dimensions("x", x, 2)
    _check("x", x, (samples, width))
    capacity, stride = _history("inputs", inputs, ranks, width)
    _check("products", products, (samples, capacity))
    history = _longs(capacity, width, 0, stride, 0)
    tensors = map(_address, (counts, ranks, x, inputs, products))
    _call("history_dots", _chains(counts, len(ranks), samples), history, *tensors)


def history_add(products: Tensor, counts: Tensor, outputs: Tensor, ranks: Tensor, scale: float, y: Tensor) -> None:
    """y[i] += scale * sum over j < ranks[g] of products[i, j] * outputs[g, j]; y (samples, m), the rest as above."""
    samples, width = _dimensions("y", y, 2)
    _check("y", y, (samples, width))
    capacity, stride = _history("outputs", outputs, ranks, width)
    _check("products", products, (samples, capacity))
    history = _longs(capacity, 0, width, 0, stride)
    tensors = map(_address, (counts, ranks, products, outputs))
    _call("history_add", _chains(counts, len(ranks), samples), history, *tensors, ctypes.c_float(scale), _address(y))


def history_correct(
    x: Tensor, counts: Tensor, inputs: Tensor, outputs: Tensor, ranks: Tensor, scale: float, y: Tensor
) -> None:
    """Both in one call: y[i] += scale * sum over j < ranks[g] of (x[i] . inputs[g, j]) * outputs[g, j]."""
    samples, n = _dimensions("x", x, 2)
    m = _dimensions("y", y, 2)[1]
    _check("x", x, (samples, n))
    _check("y", y, (samples, m))
    capacity, input_stride = _history("inputs", inputs, ranks, n)
    rows, output_stride = _history("outputs", outputs, ranks, m)
    if rows != capacity:
        raise ValueError(f"the history has {capacity} rows of inputs and {rows} of outputs")
    history = _longs(capacity, n, m, input_stride, output_stride)
    tensors = map(_address, (counts, ranks, x, inputs, outputs))
    chains = _chains(counts, len(ranks), samples)
    _call("history_correct", chains, history, *tensors, ctypes.c_float(scale), _address(y))


def _history(name: str, rows: Tensor, ranks: Tensor, width: int) -> tuple[int, int]:
    """How many rows a chain has, and how many floats are between two chains."""
    count, capacity, _ = _dimensions(name, rows, 3)
    _check("ranks", ranks, (count,), torch.int64)
    if count:
        _check(f"{name} of a chain", rows[0], (capacity, width))
    return capacity, rows.stride(0)


# ------------------------------------------------------------------------------------------------------- classifiers


def classifier_steps(
    x: Tensor,
    counts: Tensor,
    labels: Tensor,
    parameters: tuple[Tensor, Tensor],
    rate: float,
    *,
    batch_size: int | None = None,
) -> None:
    """SGD on every chain's own classifier, in place: its samples in mini-batches of `batch_size`, or all in one.

    x (samples, features), labels (samples,) int64, parameters are weights (chains, classes, features) and bias (chains,
    classes). Each mini-batch is one step on the mean of its softmax cross-entropies.
    """
    weights, bias = parameters
    samples, features = _dimensions("x", x, 2)
    count, classes, _ = _dimensions("weights", weights, 3)
    if classes < 1 or (batch_size is not None and batch_size < 1):
        raise ValueError(f"classes and batch size must be at least 1, not {classes} and {batch_size}")
    _check("x", x, (samples, features))
    _check("labels", labels, (samples,), torch.int64)
    _check("weights", weights, (count, classes, features))
    _check("bias", bias, (count, classes))
    shape = _longs(features, classes, batch_size or max(samples, 1))
    tensors = map(_address, (counts, x, labels, weights, bias))
    _call("classifier_steps", _chains(counts, count, samples), shape, *tensors, ctypes.c_float(rate))


# ------------------------------------------------------------------------------------------------------ dense layers


class PackedDense:
    """max(0, x weights^T + bias) for many rows of x: weights (outputs, inputs) are laid out for it once."""

    def __init__(self, weights: Tensor, bias: Tensor) -> None:
        self._outputs, self._inputs = _dimensions("weights", weights, 2)
        if min(self._outputs, self._inputs) < 1:
            raise ValueError(f"no dense layer: {self._inputs} inputs, {self._outputs} outputs")
        _check("weights", weights, weights.shape)
        _check("bias", bias, (self._outputs,))
        self._bias = bias
        self._packed = torch.empty(-(-self._outputs // _PANEL) * _PANEL * self._inputs)
        _call("dense_pack", _longs(0, self._inputs, self._outputs), _address(weights), _address(self._packed))

    def __call__(self, x: Tensor) -> Tensor:
        rows, _ = _dimensions("x", x, 2)
        _check("x", x, (rows, self._inputs))
        y = torch.empty((rows, self._outputs))
        _call("dense_relu", _longs(rows, self._inputs, self._outputs), *map(_address, (x, self._packed, self._bias, y)))
        return y
