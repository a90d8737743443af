"""Recognises the networks that the fast engines can train: convolutions with pooling, then dense layers.

    (Conv2d, ReLU, MaxPool2d(2))*  Flatten  (Linear, ReLU)*  Linear

The pool may come before its ReLU, which gives the same values and gradients. What torch does with a module is known for
an `nn.Sequential` and for our own `StackNetwork`; any other class, also one derived from those, may do something else
in its forward method and is not recognised. Neither is a layer that is used twice, not trained as a whole or hooked,
such as one with weight normalisation.
"""

import re
from collections.abc import Iterator
from math import prod
from typing import NamedTuple

import torch
from torch import nn

from hfedms_sim.learning.networks import StackNetwork


class RecognisedLayer(NamedTuple):
    """A convolution (same padding, stride 1, bias) with height x width outputs before its pool; or a dense layer."""

    name: str
    """Dotted, as in `named_modules`."""
    inputs: int
    outputs: int
    kernel: int = 1
    height: int = 1
    width: int = 1


class Recognised(NamedTuple):
    """The layers with parameters, in their order. The last dense layer is the classifier."""

    convolutions: tuple[RecognisedLayer, ...]
    dense: tuple[RecognisedLayer, ...]


_LETTERS: dict[type[nn.Module], str] = {
    nn.Conv2d: "C", nn.ReLU: "R", nn.MaxPool2d: "P", nn.Flatten: "F", nn.Linear: "L", nn.Identity: "",
}  # fmt: skip
_STACK = re.compile("(C(RP|PR))*F?(LR)*L")


def recognised(module: nn.Module, input_shape: tuple[int, ...]) -> Recognised | None:
    """Return the layers of a network that the fast engines can train on inputs of this shape; None of any other."""
    steps = list(_steps("", module))
    order = "".join(_LETTERS.get(type(step), "?") for _, step in steps)
    if not _STACK.fullmatch(order) or any(map(is_hooked, module.modules())) or not _are_trained_once(steps):
        return None
    layers: list[RecognisedLayer] = []
    shape = input_shape
    for name, step in steps:
        after = _shape_after(step, shape)
        if after is None:
            return None
        shape = after
        if isinstance(step, nn.Conv2d):
            layers.append(RecognisedLayer(name, step.in_channels, step.out_channels, step.kernel_size[0], *shape[1:]))
        elif isinstance(step, nn.Linear):
            layers.append(RecognisedLayer(name, step.in_features, step.out_features))
    convolutions = order.count("C")
    return Recognised(tuple(layers[:convolutions]), tuple(layers[convolutions:]))


def _steps(name: str, module: nn.Module) -> Iterator[tuple[str, nn.Module]]:
    """Yield the modules that are called one after the other, with their dotted names."""
    if type(module) not in (nn.Sequential, StackNetwork):
        yield name, module
        return
    for child, step in module._modules.items():  # not `named_children`, which leaves out repetitions
        assert step is not None
        yield from _steps(f"{name}.{child}" if name else child, step)


def _shape_after(step: nn.Module, shape: tuple[int, ...]) -> tuple[int, ...] | None:
    """Return what a step makes of one sample's shape; None if it cannot, or if it is not a step of the fast engines."""
    match step:
        case nn.Conv2d():
            fits = len(shape) == 3 and shape[0] == step.in_channels and _is_same_convolution(step)
            return (step.out_channels, *shape[1:]) if fits else None
        case nn.MaxPool2d():
            return (shape[0], *(side // 2 for side in shape[1:])) if _halves(step) else None
        case nn.Flatten():
            return (prod(shape),) if (step.start_dim, step.end_dim) == (1, -1) else None
        case nn.Linear():
            return (step.out_features,) if shape == (step.in_features,) else None
    return shape


def _is_same_convolution(layer: nn.Conv2d) -> bool:
    kernel = layer.kernel_size[0]
    return (
        layer.kernel_size == (kernel, kernel)
        and kernel % 2 == 1
        and kernel > 1  # with one, it would be a dense layer of each pixel
        and layer.stride == (1, 1)
        and layer.padding in ("same", (kernel // 2, kernel // 2))
        and layer.dilation == (1, 1)
        and layer.groups == 1
        and layer.padding_mode == "zeros"
    )


def _halves(pool: nn.MaxPool2d) -> bool:
    return (
        pool.kernel_size in (2, (2, 2))
        and pool.stride in (2, (2, 2))
        and pool.padding in (0, (0, 0))
        and pool.dilation in (1, (1, 1))
        and not pool.ceil_mode
    )


def is_hooked(module: nn.Module) -> bool:
    """Return whether calling the module calls something else too."""
    return bool(module._forward_hooks or module._forward_pre_hooks or module._backward_hooks)


def _are_trained_once(steps: list[tuple[str, nn.Module]]) -> bool:
    """Return whether each layer has a weight and a bias of its own, both trained."""
    layers = [step for _, step in steps if isinstance(step, nn.Conv2d | nn.Linear)]
    named = [each for layer in layers for each in layer.named_parameters()]
    return (
        [name for name, _ in named] == ["weight", "bias"] * len(layers)
        and len({id(value) for _, value in named}) == len(named)
        and all(value.requires_grad and value.dtype == torch.float32 for _, value in named)
    )
