"""ResNet-8 is MLPerf Tiny's, takes images and learns."""

import re

import pytest
import torch
from torch import nn

from hfedms_sim.learning.counting import counted
from hfedms_sim.learning.modules import resnet8
from tests.learning.modules.learning import losses


def convolution(outputs: int, inputs: int, kernel: int, side: int) -> tuple[int, int]:
    """Return parameters and multiply-adds, of a side x side output."""
    return outputs * inputs * kernel**2 + outputs, side**2 * outputs * inputs * kernel**2


CONVOLUTIONS = [
    convolution(16, 3, 3, side=32),
    convolution(16, 16, 3, side=32), convolution(16, 16, 3, side=32),
    convolution(32, 16, 3, side=16), convolution(32, 32, 3, side=16), convolution(32, 16, 1, side=16),
    convolution(64, 32, 3, side=8), convolution(64, 64, 3, side=8), convolution(64, 32, 1, side=8),
]  # fmt: skip
NORMALISED_CHANNELS = 3 * 16 + 2 * 32 + 2 * 64


def test_a_count_by_hand_gives_the_same_numbers() -> None:
    count = counted(resnet8, (3, 32, 32), 10)
    assert count.extractor_parameters == sum(parameters for parameters, _ in CONVOLUTIONS) + 2 * NORMALISED_CHANNELS
    assert count.buffers == 2 * NORMALISED_CHANNELS == 480
    assert count.extractor_multiply_adds == sum(multiply_adds for _, multiply_adds in CONVOLUTIONS)
    assert (count.semantic_size, count.classifier_parameters, count.classifier_multiply_adds) == (64, 650, 640)


def test_it_has_the_78_666_numbers_and_12_5_million_multiply_adds_of_mlperf_tiny() -> None:
    count = counted(resnet8, (3, 32, 32), 10)
    assert count.classifier_parameters + count.extractor_parameters + count.buffers == 78_666
    assert count.classifier_multiply_adds + count.extractor_multiply_adds == pytest.approx(12.5e6, rel=0.001)


@pytest.mark.parametrize("shape", [(1, 28, 28), (28, 28), (8, 8), (2, 33, 7), (1, 5, 5)])
def test_it_takes_images_of_any_channels_and_sides(shape: tuple[int, ...]) -> None:
    network = resnet8(shape, 4)
    assert network(torch.rand(3, *shape)).shape == (3, 4)
    assert network.train()(torch.rand(1, *shape)).shape == (1, 4)


def test_a_block_adds_its_input_to_what_it_makes_of_it() -> None:
    """With a last normalisation that gives zero, the first block hands its input, which is not negative, on."""
    network = resnet8((1, 8, 8), 4).eval()
    assert isinstance(network, nn.Sequential)
    block = network[3]
    last = [each for each in block.modules() if isinstance(each, nn.BatchNorm2d)][-1]
    nn.init.zeros_(last.weight)
    images = torch.rand(2, 16, 8, 8)
    assert torch.equal(block(images), images)


def test_it_learns() -> None:
    seen = losses(resnet8, (3, 8, 8), steps=10)
    assert seen[-1] < 0.8 * seen[0]


@pytest.mark.parametrize(
    ("shape", "message"),
    [
        ((16,), "resnet8 takes images, (channels, height, width) or (height, width), not an input of shape 16"),
        ((1, 1024), "resnet8 takes images of at least 5x5 pixels, not 1x1024"),
    ],
)
def test_other_inputs_are_refused_in_one_line(shape: tuple[int, ...], message: str) -> None:
    with pytest.raises(ValueError, match=f"^{re.escape(message)}$"):
        resnet8(shape, 10)
