"""The neural networks, built from their ModelSpec: convolutions (ReLU, 2x2 max-pool), dense layers (ReLU), classifier.

The extractor is everything up to the semantic vector, the classifier the last dense layer. Initial weights are
Glorot uniform, U(-a, a) with a = sqrt(6 / (fan_in + fan_out)), where a convolution's fans include its kernel's area;
biases are zero. They are keyed by the seed, so torch's own generator is never used.
"""

from itertools import pairwise
from math import sqrt

import numpy as np
import torch
from torch import Tensor, nn

from hfedms_sim.learning.device import on_device
from hfedms_sim.scenario import ModelSpec
from hfedms_sim.scenario.models import Layer
from hfedms_sim.seeds import Draws

IMAGE_SIDE = 28
EXTRACTOR, CLASSIFIER = "extractor", "classifier"  # the names of the modules

Weights = dict[str, Tensor]
"""By the name of the parameter. Never changed in place once shared: a new round makes new tensors."""


class Network(nn.Module):
    def __init__(self, spec: ModelSpec) -> None:
        super().__init__()
        with torch.device("meta"):  # without torch's own initialisation
            self.extractor = nn.Sequential(*_extractor_layers(spec))
            self.classifier = nn.Linear(spec.classifier.inputs, spec.classifier.outputs)
        self.to_empty(device=torch.get_default_device())

    def forward(self, images: Tensor) -> Tensor:
        logits: Tensor = self.classifier(self.extractor(images))
        return logits

    def load(self, weights: Weights) -> None:
        """Copies the weights in; a part of them leaves the others as they are."""
        own = dict(self.named_parameters())
        with torch.no_grad():
            for name, value in weights.items():
                own[name].copy_(value)

    def weights(self) -> Weights:
        """A copy."""
        return {name: parameter.detach().clone() for name, parameter in self.named_parameters()}


def initial_weights(spec: ModelSpec, draws: Draws) -> Weights:
    names = [name for name, _ in Network(spec).named_parameters()]
    layers = (*spec.extractor, spec.classifier)
    weights: Weights = {}
    for number, (layer, weight, bias) in enumerate(zip(layers, names[::2], names[1::2], strict=True)):
        bound = sqrt(6 / (layer.kernel**2 * (layer.inputs + layer.outputs)))
        uniform = draws.uniform("weights", number, np.arange(layer.parameters - layer.outputs))
        values = ((2 * uniform - 1) * bound).astype(np.float32)
        weights[weight] = on_device(torch.from_numpy(values.reshape(_weight_shape(layer))))
        weights[bias] = torch.zeros(layer.outputs)
    return weights


def is_classifier(name: str) -> bool:
    """Whether the parameter of this name belongs to the classifier."""
    return name.startswith(f"{CLASSIFIER}.")


def as_tensor(images: "np.ndarray[tuple[int, ...], np.dtype[np.float32]]") -> Tensor:
    """(n, 28, 28) to what a network takes."""
    return on_device(torch.from_numpy(np.ascontiguousarray(images))).reshape(-1, 1, IMAGE_SIDE, IMAGE_SIDE)


def _extractor_layers(spec: ModelSpec) -> list[nn.Module]:
    modules: list[nn.Module] = [] if spec.extractor[0].kernel > 1 else [nn.Flatten()]
    for layer, following in pairwise((*spec.extractor, spec.classifier)):
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
