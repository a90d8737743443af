"""The networks of the paper's kind: convolutions (5x5, ReLU, 2x2 max-pool), dense layers (ReLU), a dense classifier.

Their figures follow from their layers, without torch; a test compares them with what is counted from the modules.
"""

from abc import abstractmethod
from collections.abc import Sequence
from math import prod
from typing import TYPE_CHECKING, ClassVar

from hfedms_sim.errors import InputError
from hfedms_sim.models.base import Model
from hfedms_sim.scenario import DataShape, Layer, LayerStack, ModelSpec, shape_text

if TYPE_CHECKING:
    from torch import nn

_KERNEL = 5


class StackModel(Model):
    @abstractmethod
    def stack(self, data: DataShape) -> LayerStack:
        """Return the layers for such data."""

    def spec(self, data: DataShape) -> ModelSpec:
        return ModelSpec.of_stack(self.name, self.stack(data), data)

    def module(self, input_shape: tuple[int, ...], classes: int) -> "nn.Module":
        from hfedms_sim.learning.networks import StackNetwork

        return StackNetwork(self.spec(DataShape(input_shape, classes)))


class _Convolutional(StackModel):
    channels: ClassVar[tuple[int, ...]]
    dense: ClassVar[tuple[int, ...]]

    def stack(self, data: DataShape) -> LayerStack:
        inputs, height, width = self._image(data)
        layers = []
        for outputs in self.channels:
            layers.append(Layer(inputs, outputs, _KERNEL, height, width))
            inputs, (height, width) = outputs, layers[-1].pooled
        return _with_dense(layers, inputs * height * width, self.dense, data.classes)

    def _image(self, data: DataShape) -> tuple[int, int, int]:
        shape, least = data.input_shape, 2 ** len(self.channels)
        channels, height, width = shape if len(shape) == 3 else (0, 0, 0)
        if min(height, width) < least:
            images = f"images of {least}x{least} pixels or more, (channels, height, width)"
            raise InputError(f"model '{self.name}': takes {images}, not samples of the shape {shape_text(shape)}")
        return channels, height, width


class Cnn(_Convolutional):
    name = "cnn"
    about = "the HFedMS paper's network"
    channels = (32, 64)
    dense = (2048, 100)


class SmallCnn(_Convolutional):
    name = "small-cnn"
    about = "the same kind, a hundredth of the size; the quickstart's"
    channels = (8, 16)
    dense = (64,)


class _Dense(StackModel):
    dense: ClassVar[tuple[int, ...]]

    def stack(self, data: DataShape) -> LayerStack:
        return _with_dense([], prod(data.input_shape), self.dense, data.classes)


class Mlp(_Dense):
    name = "mlp"
    about = "dense layers only"
    dense = (128, 64)


class TinyMlp(_Dense):
    name = "tiny-mlp"
    about = "one hidden layer, for tests"
    dense = (16,)


def _with_dense(layers: Sequence[Layer], features: int, dense: Sequence[int], classes: int) -> LayerStack:
    extractor = list(layers)
    for outputs in dense:
        extractor.append(Layer(features, outputs))
        features = outputs
    return LayerStack(tuple(extractor), Layer(features, classes))
