"""ModelSpec: what the network and the device's processor see of a neural network, without its tensors.

Parameters decide bytes on the air (4 each), multiply-adds decide compute time. A model is an extractor (everything
up to the semantic vector) and a classifier (the last dense layer); LASP sends either both or only the second.
"""

from dataclasses import dataclass
from typing import Literal

from hfedms_sim.units import BYTES_PER_PARAMETER

CLASSES = 62  # 0-9, A-Z, a-z
TRAINING_PASSES = 3  # forward, gradient of the input, gradient of the weights: about equal work each

ModelName = Literal["cnn", "small-cnn", "mlp", "tiny-mlp"]


@dataclass(frozen=True, slots=True)
class Layer:
    """A convolution (same padding, stride 1, bias) with side x side outputs; side = kernel = 1 is a dense layer."""

    inputs: int
    outputs: int
    kernel: int = 1
    side: int = 1

    @property
    def parameters(self) -> int:
        return self.kernel**2 * self.inputs * self.outputs + self.outputs

    @property
    def multiply_adds(self) -> int:
        return self.side**2 * self.kernel**2 * self.inputs * self.outputs


@dataclass(frozen=True, slots=True)
class ModelSpec:
    name: str
    extractor: tuple[Layer, ...]
    classifier: Layer

    @property
    def extractor_parameters(self) -> int:
        return sum(layer.parameters for layer in self.extractor)

    @property
    def classifier_parameters(self) -> int:
        return self.classifier.parameters

    @property
    def parameters(self) -> int:
        return self.extractor_parameters + self.classifier_parameters

    @property
    def model_bytes(self) -> int:
        return BYTES_PER_PARAMETER * self.parameters

    @property
    def classifier_bytes(self) -> int:
        return BYTES_PER_PARAMETER * self.classifier_parameters

    @property
    def extractor_multiply_adds(self) -> int:
        """Of one sample, forward."""
        return sum(layer.multiply_adds for layer in self.extractor)

    @property
    def classifier_multiply_adds(self) -> int:
        """Of one semantic vector, forward."""
        return self.classifier.multiply_adds

    @property
    def multiply_adds(self) -> int:
        return self.extractor_multiply_adds + self.classifier_multiply_adds

    @property
    def convolutions(self) -> tuple[Layer, ...]:
        """Those at the beginning of the extractor; none in a network of dense layers."""
        return tuple(layer for layer in self.extractor if layer.kernel > 1)


MODELS: dict[str, ModelSpec] = {
    "cnn": ModelSpec(
        "cnn",
        (Layer(1, 32, kernel=5, side=28), Layer(32, 64, kernel=5, side=14), Layer(64 * 7 * 7, 2048), Layer(2048, 100)),
        Layer(100, CLASSES),
    ),
    "small-cnn": ModelSpec(
        "small-cnn",
        (Layer(1, 8, kernel=5, side=28), Layer(8, 16, kernel=5, side=14), Layer(16 * 7 * 7, 64)),
        Layer(64, CLASSES),
    ),
    "mlp": ModelSpec("mlp", (Layer(784, 128), Layer(128, 64)), Layer(64, CLASSES)),
    "tiny-mlp": ModelSpec("tiny-mlp", (Layer(784, 16),), Layer(16, CLASSES)),
}
