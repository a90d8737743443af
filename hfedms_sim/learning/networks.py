"""Neural networks as learners and engines see them: weights by name, an extractor, a classifier.

The extractor is everything up to the semantic vector, the classifier the dense layer after it. Two kinds:

*Stacks* are built from their layers: convolutions (ReLU, 2x2 max-pool), dense layers (ReLU), classifier. Initial
weights are Glorot uniform, U(-a, a) with a = sqrt(6 / (fan_in + fan_out)), where a convolution's fans include its
kernel's area; biases are zero. They are keyed by the seed, so torch's own generator is never used.

*Modules* are whatever a function has made, with an initialisation of their own; torch's generator is seeded for it, and
put back as it was. Buffers of floating-point numbers (BatchNorm's running mean and variance) and parameters without a
gradient are part of the weights: sent, averaged and stored like them, but never stepped.
"""

from abc import ABC, abstractmethod
from collections.abc import Iterator
from contextlib import contextmanager
from itertools import pairwise
from math import sqrt

import numpy as np
import torch
from torch import Tensor, nn

from hfedms_sim.learning.process import on_device
from hfedms_sim.scenario import Layer, LayerStack, ModelSpec
from hfedms_sim.seeds import Draws

EXTRACTOR, CLASSIFIER = "extractor", "classifier"  # the names of a stack's modules

Weights = dict[str, Tensor]
"""Tensors by the name of the parameter or buffer. Never changed in place once shared: a new round makes new tensors."""


class Network(nn.Module, ABC):
    """What sensors train."""

    layer_names: tuple[str, ...]
    """What the trained layers of a stack are called, in order; empty for what is no stack."""

    @abstractmethod
    def extract(self, inputs: Tensor) -> Tensor:
        """Return the semantic vectors of samples."""

    @property
    @abstractmethod
    def head(self) -> nn.Linear:
        """The classifier."""

    @property
    def root(self) -> nn.Module:
        """The module by whose names weights are known."""
        return self

    def numbers(self) -> Weights:
        """Return all that travels with the model, itself and not a copy: parameters and buffers of real numbers."""
        state = self.root.state_dict()  # without buffers that are not part of the model
        found = self.root.named_buffers()
        buffers = {name: value for name, value in found if name in state and value.is_floating_point()}
        return dict(self.root.named_parameters()) | buffers

    def load(self, weights: Weights) -> None:
        """Copies the weights in; a part of them leaves the others as they are."""
        own = self.numbers()
        with torch.no_grad():
            for name, value in weights.items():
                own[name].copy_(value)

    def weights(self) -> Weights:
        """A copy."""
        return {name: value.detach().clone() for name, value in self.numbers().items()}

    def forget(self) -> None:
        """Put back what is no part of the weights and yet changes in training, such as counters of batches."""

    def buffer_names(self) -> frozenset[str]:
        """Return the names of what is part of the weights and has no gradient."""
        trained = {name for name, value in self.root.named_parameters() if value.requires_grad}
        return frozenset(self.numbers().keys() - trained)


class StackNetwork(Network):
    def __init__(self, spec: ModelSpec) -> None:
        super().__init__()
        stack = stack_of(spec)
        with torch.device("meta"):  # without torch's own initialisation
            self.extractor = nn.Sequential(*_extractor_layers(stack))
            self.classifier = nn.Linear(stack.classifier.inputs, stack.classifier.outputs)
        self.to_empty(device=torch.get_default_device())
        layers = (name for name, each in self.extractor.named_children() if isinstance(each, nn.Conv2d | nn.Linear))
        self.layer_names = (*(f"{EXTRACTOR}.{name}" for name in layers), CLASSIFIER)

    def forward(self, inputs: Tensor) -> Tensor:
        logits: Tensor = self.classifier(self.extractor(inputs))
        return logits

    def extract(self, inputs: Tensor) -> Tensor:
        vectors: Tensor = self.extractor(inputs)
        return vectors

    @property
    def head(self) -> nn.Linear:
        return self.classifier


class ModuleNetwork(Network):
    """A module from elsewhere. Its semantic vectors are what its classifier is called with."""

    def __init__(self, spec: ModelSpec) -> None:
        super().__init__()
        assert spec.make is not None
        self.layer_names = spec.layer_names
        self._classifier_name = spec.classifier_name
        self.module: nn.Module = spec.make().to(torch.get_default_device())
        kept = self.numbers()
        self._fresh = {name: value.clone() for name, value in self.module.named_buffers() if name not in kept}

    @property
    def root(self) -> nn.Module:
        return self.module

    def forward(self, inputs: Tensor) -> Tensor:
        logits: Tensor = self.module(inputs.clone())  # it may work in place
        return logits

    def extract(self, inputs: Tensor) -> Tensor:
        seen: list[Tensor] = []

        def note(_: nn.Module, arguments: tuple[Tensor, ...], named: dict[str, Tensor]) -> None:
            seen.append(arguments[0] if arguments else named["input"])

        hook = self.head.register_forward_pre_hook(note, with_kwargs=True)
        try:
            self.module(inputs.clone())
        finally:
            hook.remove()
        (vectors,) = seen
        return vectors

    def forget(self) -> None:
        buffers = dict(self.module.named_buffers())
        for name, value in self._fresh.items():
            buffers[name].copy_(value)

    @property
    def head(self) -> nn.Linear:
        head = self.module.get_submodule(self._classifier_name)
        assert isinstance(head, nn.Linear)
        return head


def network_of(spec: ModelSpec) -> Network:
    """Return the network without weights of its own: whoever uses it loads some."""
    if spec.make is None:
        return StackNetwork(spec)
    with torch.random.fork_rng(devices=[]):
        return ModuleNetwork(spec)


def initial_weights(spec: ModelSpec, draws: Draws) -> Weights:
    """Return the weights before the first round, a function of the seed."""
    if spec.make is None:
        return _glorot(spec, draws)
    with seeded(int(draws.bits("weights/module", 0, 0))):
        return ModuleNetwork(spec).weights()


@contextmanager
def seeded(seed: int) -> Iterator[None]:
    """Seed torch's own generator, and put it back as it was."""
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(seed)
        yield


def stack_of(spec: ModelSpec) -> LayerStack:
    assert spec.stack is not None, f"{spec.name} is no stack of layers"
    return spec.stack


def is_classifier(name: str, classifier: str = CLASSIFIER) -> bool:
    """Return whether the parameter of this name belongs to the classifier of that name; "" is the whole network."""
    return name.startswith(f"{classifier}.") if classifier else True


def as_tensor(inputs: "np.ndarray[tuple[int, ...], np.dtype[np.float32]]") -> Tensor:
    """Return samples as a network takes them."""
    return on_device(torch.from_numpy(np.ascontiguousarray(inputs)))


def _glorot(spec: ModelSpec, draws: Draws) -> Weights:
    names = [name for name, _ in StackNetwork(spec).named_parameters()]
    layers = (*stack_of(spec).extractor, stack_of(spec).classifier)
    weights: Weights = {}
    for number, (layer, weight, bias) in enumerate(zip(layers, names[::2], names[1::2], strict=True)):
        bound = sqrt(6 / (layer.kernel**2 * (layer.inputs + layer.outputs)))
        uniform = draws.uniform("weights", number, np.arange(layer.parameters - layer.outputs))
        values = ((2 * uniform - 1) * bound).astype(np.float32)
        weights[weight] = on_device(torch.from_numpy(values.reshape(_weight_shape(layer))))
        weights[bias] = torch.zeros(layer.outputs)
    return weights


def _extractor_layers(stack: LayerStack) -> list[nn.Module]:
    modules: list[nn.Module] = [] if stack.extractor[0].kernel > 1 else [nn.Flatten()]
    for layer, following in pairwise((*stack.extractor, stack.classifier)):
        if layer.kernel > 1:
            convolution = nn.Conv2d(layer.inputs, layer.outputs, layer.kernel, padding=layer.kernel // 2)
            modules += [convolution, nn.ReLU(), nn.MaxPool2d(2)]
            if following.kernel == 1:
                modules.append(nn.Flatten())
        else:
            modules += [nn.Linear(layer.inputs, layer.outputs), nn.ReLU()]
    return modules


def _weight_shape(layer: Layer) -> tuple[int, ...]:
    if layer.kernel > 1:
        return (layer.outputs, layer.inputs, layer.kernel, layer.kernel)
    return (layer.outputs, layer.inputs)
