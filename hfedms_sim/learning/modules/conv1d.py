"""Convolutions over time, for series such as windows of vibration.

Three convolutions with ReLU, 12 filters of 32 taps and stride 4, 24 of 16 and 32 of 16 with stride 2; the largest value
of each of the last 32 filters over time is the semantic vector, so that when something happened does not matter; a
dense classifier. For 1x1024 and 10 classes it has 17,678 parameters. It is ours, and small enough for a sensor; how it
was chosen, is in docs/vibration.md.

Left out: normalisation of any kind. How strong a signal is, is part of what it says.
"""

from torch import nn

from hfedms_sim.learning.modules.shapes import series_shape, with_channels

LEAST_LENGTH = 16  # the strides' product: the last convolution then has one output


def conv1d(input_shape: tuple[int, ...], classes: int) -> nn.Module:
    """Return the network for series (channels, length) or, with one channel, (length,)."""
    channels, length = series_shape("conv1d", input_shape)
    if length < LEAST_LENGTH:
        raise ValueError(f"conv1d takes series of at least {LEAST_LENGTH} samples, not {length}")
    return nn.Sequential(
        with_channels(2, input_shape),
        nn.Conv1d(channels, 12, kernel_size=32, stride=4, padding=14),
        nn.ReLU(),
        nn.Conv1d(12, 24, kernel_size=16, stride=2, padding=7),
        nn.ReLU(),
        nn.Conv1d(24, 32, kernel_size=16, stride=2, padding=7),
        nn.ReLU(),
        nn.AdaptiveMaxPool1d(1),
        nn.Flatten(),
        nn.Linear(32, classes),
    )
