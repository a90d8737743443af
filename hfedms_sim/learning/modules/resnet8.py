"""ResNet-8: the smallest residual network of the CIFAR family, for small images.

K. He, X. Zhang, S. Ren, J. Sun, "Deep Residual Learning for Image Recognition", CVPR 2016, with n = 1 and in the
form of MLPerf Tiny's image classification (C. Banbury et al., "MLPerf Tiny Benchmark", NeurIPS Datasets and Benchmarks
2021): a 3x3 convolution with 16 channels, three residual blocks with 16, 32 and 64 channels and strides 1, 2 and 2,
global average pooling and a dense classifier; convolutions have biases. For 3x32x32 and 10 classes it has the
benchmark's 78,666 numbers, of which 480 are running means and variances.

A block is relu(x + F(x)); where F changes the shape, x goes through a 1x1 convolution of the same stride.

Left out: the benchmark's weight decay and He's initialisation. Where the stride is 2, its padding of even images is on
two sides, here on all four; batch normalisation is torch's (momentum 0.1, epsilon 1e-5).
"""

from torch import Tensor, nn

from hfedms_sim.learning.modules.shapes import image_shape, with_channels

LEAST_SIDE = 5  # the last block then has 2x2 outputs: batch normalisation cannot train on a single number a channel


def resnet8(input_shape: tuple[int, ...], classes: int) -> nn.Module:
    """Return the network for images (channels, height, width) or, with one channel, (height, width)."""
    channels, height, width = image_shape("resnet8", input_shape)
    if min(height, width) < LEAST_SIDE:
        raise ValueError(f"resnet8 takes images of at least {LEAST_SIDE}x{LEAST_SIDE} pixels, not {height}x{width}")
    return nn.Sequential(
        with_channels(3, input_shape),
        _convolution(channels, 16, stride=1),
        nn.ReLU(),
        Residual(16, 16, stride=1),
        Residual(16, 32, stride=2),
        Residual(32, 64, stride=2),
        nn.AdaptiveAvgPool2d(1),
        nn.Flatten(),
        nn.Linear(64, classes),
    )


class Residual(nn.Module):
    """Two convolutions around which the input goes: relu(x + F(x))."""

    def __init__(self, inputs: int, outputs: int, stride: int) -> None:
        super().__init__()
        self.residual = nn.Sequential(
            _convolution(inputs, outputs, stride), nn.ReLU(), _convolution(outputs, outputs, stride=1)
        )
        self.shortcut = nn.Identity() if (inputs, stride) == (outputs, 1) else nn.Conv2d(inputs, outputs, 1, stride)

    def forward(self, images: Tensor) -> Tensor:
        summed: Tensor = self.shortcut(images) + self.residual(images)
        return summed.relu()


def _convolution(inputs: int, outputs: int, stride: int) -> nn.Module:
    return nn.Sequential(nn.Conv2d(inputs, outputs, 3, stride, padding=1), nn.BatchNorm2d(outputs))
