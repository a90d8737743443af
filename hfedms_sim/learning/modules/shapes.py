"""Shapes of inputs, channel-first and without the batch: what series and images are, and what to say of the others."""

from torch import nn


def series_shape(network: str, input_shape: tuple[int, ...]) -> tuple[int, int]:
    """Return the channels and the length of a series; one without channels has one."""
    if len(input_shape) not in (1, 2):
        raise ValueError(
            f"{network} takes series, (channels, length) or (length,), not an input of shape {shape_text(input_shape)}"
        )
    channels, length = (1, *input_shape)[-2:]
    return channels, length


def image_shape(network: str, input_shape: tuple[int, ...]) -> tuple[int, int, int]:
    """Return the channels, the height and the width of an image; one without channels has one."""
    if len(input_shape) not in (2, 3):
        raise ValueError(
            f"{network} takes images, (channels, height, width) or (height, width), "
            f"not an input of shape {shape_text(input_shape)}"
        )
    channels, height, width = (1, *input_shape)[-3:]
    return channels, height, width


def with_channels(dimensions: int, input_shape: tuple[int, ...]) -> nn.Module:
    """Return what gives a batch of inputs its one channel if the shape lacks it, having fewer dimensions than these."""
    return nn.Identity() if len(input_shape) == dimensions else nn.Unflatten(1, (1, input_shape[0]))


def shape_text(shape: tuple[int, ...]) -> str:
    """Return a shape as in "3x32x32"."""
    return "x".join(map(str, shape))
