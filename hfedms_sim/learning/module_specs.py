"""What a module costs, as the rest of the program knows networks: a ModelSpec, and its layers for people."""

from collections.abc import Callable
from functools import partial
from hashlib import sha256
from typing import NamedTuple

import torch
from torch import Tensor, nn

from hfedms_sim.learning.counting import counted
from hfedms_sim.learning.networks import network_of, seeded
from hfedms_sim.learning.recognition import Recognised, recognised
from hfedms_sim.scenario import DataShape, Layer, LayerStack, ModelSpec

MakeModule = Callable[[tuple[int, ...], int], nn.Module]


def spec_of_module(name: str, make: MakeModule, data: DataShape, classifier: str | None = None) -> ModelSpec:
    """Return the figures of the module that `make` makes for such data. Raises ValueError if it cannot be trained.

    A module that is a stack of known layers is recognised, so that fast engines can train it.
    """
    figures = counted(make, data.input_shape, data.classes, classifier)
    if not figures.classifier_parameters:
        raise ValueError(f"its classifier '{figures.classifier}' has no trained parameters of its own")
    with seeded(0):
        module = make(*data)
    if not all(bool(torch.isfinite(value).all()) for value in module.parameters()):
        raise ValueError("the network starts with a weight that is not finite")
    known = None if isinstance(module, nn.Linear) else recognised(module, data.input_shape)  # its layer has no name
    return ModelSpec(
        name,
        data,
        extractor_parameters=figures.extractor_parameters,
        classifier_parameters=figures.classifier_parameters,
        extractor_multiply_adds=figures.extractor_multiply_adds,
        classifier_multiply_adds=figures.classifier_multiply_adds,
        buffers=figures.buffers,
        stack=None if known is None else _stack(known),
        make=partial(make, *data),
        classifier_name=figures.classifier,
        fingerprint=_fingerprint(module),
        layer_names=() if known is None else tuple(layer.name for layer in (*known.convolutions, *known.dense)),
        matrices=figures.matrices,
        classifier_matrices=figures.classifier_matrices,
    )


def _fingerprint(module: nn.Module) -> str:
    """Return a hash that tells this module from another that the same function has made, of a closure for instance."""
    digest = sha256(repr(module).encode())
    for name, value in module.state_dict().items():
        digest.update(f"{name}{tuple(value.shape)}".encode())
        digest.update(value.detach().cpu().contiguous().numpy().tobytes())
    return digest.hexdigest()


def _stack(known: Recognised) -> LayerStack:
    *extractor, classifier = (Layer(*layer[1:]) for layer in (*known.convolutions, *known.dense))
    return LayerStack(tuple(extractor), classifier)


class LeafRow(NamedTuple):
    """A module without modules of its own, as it was used for one sample."""

    name: str
    kind: str
    output_shape: tuple[int, ...]
    parameters: int
    """Those that are trained."""


def leaf_rows(spec: ModelSpec) -> list[LeafRow]:
    """Return the leaves of the network's module in the order of the forward pass, those that do nothing left out."""
    network, rows = network_of(spec).eval(), list[LeafRow]()
    for name, module in network.root.named_modules():
        if not list(module.children()) and not isinstance(module, nn.Identity):
            module.register_forward_hook(_noting(rows, name))
    with torch.no_grad():
        network(torch.zeros(1, *spec.data.input_shape))
    return rows


def _noting(rows: list[LeafRow], name: str) -> Callable[[nn.Module, object, object], None]:
    def note(module: nn.Module, _: object, output: object) -> None:
        values = output if isinstance(output, Tensor) else next(iter(output))  # type: ignore[call-overload]
        trained = sum(each.numel() for each in module.parameters() if each.requires_grad)
        rows.append(LeafRow(name, type(module).__name__, tuple(values.shape[1:]), trained))

    return note
