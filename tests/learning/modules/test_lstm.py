"""The long short-term memory reads series step by step, long ones frame by frame, and learns."""

import pytest
import torch
from torch import nn

from hfedms_sim.learning.counting import counted
from hfedms_sim.learning.modules import lstm
from tests.learning.modules.learning import losses


@pytest.mark.parametrize(
    ("shape", "steps", "features"),
    [((1, 1024), 64, 16), ((1024,), 64, 16), ((3, 1024), 64, 48), ((16,), 16, 1), ((8, 8), 8, 8), ((2, 100), 50, 4)],
)
def test_it_has_the_numbers_of_the_formula(shape: tuple[int, ...], steps: int, features: int) -> None:
    """Four gates, each with weights of features and hidden units and torch's two biases."""
    count = counted(lstm, shape, 10)
    assert count.extractor_parameters == 4 * 64 * (features + 64 + 2)
    assert count.extractor_multiply_adds == steps * 4 * 64 * (features + 64)
    assert (count.semantic_size, count.classifier_parameters, count.buffers) == (64, 650, 0)


def frames_of(shape: tuple[int, ...], series: torch.Tensor) -> torch.Tensor:
    network = lstm(shape, 10)
    assert isinstance(network, nn.Sequential)
    frames: torch.Tensor = network[:2](series)
    return frames


def test_a_short_series_is_read_sample_by_sample() -> None:
    series = torch.arange(2 * 3 * 5.0).reshape(2, 3, 5)
    assert torch.equal(frames_of((3, 5), series), series.transpose(1, 2))


def test_a_long_series_is_read_in_frames_with_zeros_before_it() -> None:
    """130 samples take frames of three: 44 of them, of which the first begins with two zeros."""
    series = torch.arange(1, 131.0)
    (frames,) = frames_of((130,), series[None])
    assert frames.shape == (44, 3)
    assert frames[0].tolist() == [0, 0, 1]
    assert torch.equal(frames.flatten()[2:], series)


def test_a_frame_holds_the_same_moments_of_all_channels() -> None:
    series = torch.arange(2 * 128.0).reshape(1, 2, 128)
    (frames,) = frames_of((2, 128), series)
    assert frames[1].tolist() == [2, 3, 130, 131]


def test_it_learns() -> None:
    seen = losses(lstm, (1, 256), steps=100)
    assert seen[-1] < 0.8 * seen[0]


@pytest.mark.parametrize("shape", [(1, 28, 28), ()])
def test_other_inputs_are_refused_in_one_line(shape: tuple[int, ...]) -> None:
    with pytest.raises(ValueError, match=r"^lstm takes series, \(channels, length\) or \(length,\), not an input of"):
        lstm(shape, 10)
