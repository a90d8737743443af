"""ModelSpec: what the network and the sensor's processor see of a neural network, without its tensors.

Parameters decide bytes on the air (4 each), multiply-adds decide compute time. A model is an extractor (everything
up to the semantic vector) and a classifier (the last dense layer); LASP sends either both or only the second. How
large it is depends on the data: on the shape of a sample and the number of classes.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from hfedms_sim.scenario.compression import NO_MATRICES, Contents, Matrices
from hfedms_sim.units import BYTES_PER_PARAMETER

TRAINING_PASSES = 3  # forward, gradient of the input, gradient of the weights: about equal work each


class DataShape(NamedTuple):
    """What a network is built for."""

    input_shape: tuple[int, ...]
    """The shape of one sample, as torch has it: channels first."""
    classes: int

    def __str__(self) -> str:
        return f"{shape_text(self.input_shape)} in {self.classes} classes"


CHARACTER_IMAGES = DataShape((1, 28, 28), 62)
"""The handwriting that the paper and the embedded glyphs have: 0-9, A-Z, a-z."""


def shape_text(shape: Sequence[int]) -> str:
    """Return a shape for people, such as 3x32x32."""
    return "x".join(str(length) for length in shape) or "one number"


@dataclass(frozen=True, slots=True)
class Layer:
    """A convolution (same padding, stride 1, bias) with height x width outputs; all of these 1 is a dense layer."""

    inputs: int
    outputs: int
    kernel: int = 1
    height: int = 1
    width: int = 1

    @property
    def parameters(self) -> int:
        return self.kernel**2 * self.inputs * self.outputs + self.outputs

    @property
    def matrices(self) -> Matrices:
        """Its weights without the biases."""
        return Matrices(self.parameters - self.outputs, self.outputs)

    @property
    def multiply_adds(self) -> int:
        return self.height * self.width * self.kernel**2 * self.inputs * self.outputs

    @property
    def pooled(self) -> tuple[int, int]:
        """Height and width after the 2x2 max-pool that follows every convolution."""
        return self.height // 2, self.width // 2


class LayerStack(NamedTuple):
    """Convolutions (ReLU, 2x2 max-pool), dense layers (ReLU), and the dense classifier: what fast engines train."""

    extractor: tuple[Layer, ...]
    classifier: Layer


@dataclass(frozen=True, slots=True)
class ModelSpec:
    name: str
    data: DataShape
    extractor_parameters: int
    """Those that are trained."""
    classifier_parameters: int
    extractor_multiply_adds: int
    """What one sample costs, forward."""
    classifier_multiply_adds: int
    """What one semantic vector costs, forward."""
    buffers: int = 0
    """Numbers of the extractor that are not trained but sent and averaged like weights: BatchNorm's mean, variance."""
    stack: LayerStack | None = None
    """Its layers, where they are all of the kinds that fast engines know."""
    make: Callable[[], Any] | None = field(default=None, compare=False)
    """Makes the module, where it is not just the stack."""
    classifier_name: str = "classifier"
    """What the module calls its classifier."""
    layer_names: tuple[str, ...] = ()
    """What the module calls the stack's layers, in order."""
    fingerprint: str = ""
    """A hash of the module itself: its layers with their settings, its numbers with their shapes and first values."""
    matrices: Matrices = NO_MATRICES
    """Those of the whole model that are trained."""
    classifier_matrices: Matrices = NO_MATRICES

    @classmethod
    def of_stack(cls, name: str, stack: LayerStack, data: DataShape | None = None) -> "ModelSpec":
        """Return the spec of a stack of layers; `data` may be left out where the first layer shows its shape."""
        first, layers = stack.extractor[0], (*stack.extractor, stack.classifier)
        shape = (first.inputs, first.height, first.width) if first.kernel > 1 else (first.inputs,)
        return cls(
            name,
            data or DataShape(shape, stack.classifier.outputs),
            extractor_parameters=sum(layer.parameters for layer in stack.extractor),
            classifier_parameters=stack.classifier.parameters,
            extractor_multiply_adds=sum(layer.multiply_adds for layer in stack.extractor),
            classifier_multiply_adds=stack.classifier.multiply_adds,
            stack=stack,
            matrices=Matrices(*map(sum, zip(*(layer.matrices for layer in layers), strict=True))),
            classifier_matrices=stack.classifier.matrices,
        )

    @property
    def classes(self) -> int:
        return self.data.classes

    @property
    def semantic_size(self) -> int:
        """How many numbers a semantic vector has: what the classifier, a dense layer, takes."""
        return self.classifier_multiply_adds // self.classes

    @property
    def parameters(self) -> int:
        return self.extractor_parameters + self.classifier_parameters

    @property
    def model_bytes(self) -> int:
        return BYTES_PER_PARAMETER * (self.parameters + self.buffers)

    @property
    def classifier_bytes(self) -> int:
        return BYTES_PER_PARAMETER * self.classifier_parameters

    @property
    def contents(self) -> Contents:
        """What a message holds that is the whole model."""
        return Contents(self.model_bytes, self.parameters, self.matrices)

    @property
    def classifier_contents(self) -> Contents:
        return Contents(self.classifier_bytes, self.classifier_parameters, self.classifier_matrices)

    @property
    def multiply_adds(self) -> int:
        return self.extractor_multiply_adds + self.classifier_multiply_adds

    @property
    def convolutions(self) -> tuple[Layer, ...]:
        """Those at the beginning of a stack; none in one of dense layers, and in what is no stack."""
        return () if self.stack is None else tuple(layer for layer in self.stack.extractor if layer.kernel > 1)
