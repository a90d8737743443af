"""The convolutions over time are those of docs/vibration.md, take series and learn."""

import re

import pytest
import torch
from torch import nn

from hfedms_sim.learning.counting import counted
from hfedms_sim.learning.modules import conv1d
from tests.learning.modules.learning import losses


def test_it_has_17_678_parameters_of_which_the_classifier_has_330() -> None:
    count = counted(conv1d, (1, 1024), 10)
    assert count.classifier_parameters + count.extractor_parameters == 17_678
    assert (count.classifier_parameters, count.semantic_size, count.buffers) == (330, 32, 0)


def test_a_window_takes_1_5_million_multiply_adds() -> None:
    """Strides of 4, 2 and 2 leave 256, 128 and 64 outputs of each filter."""
    count = counted(conv1d, (1, 1024), 10)
    assert count.extractor_multiply_adds == 256 * 12 * 32 + 128 * 24 * 12 * 16 + 64 * 32 * 24 * 16
    assert count.classifier_multiply_adds == 320
    assert count.extractor_multiply_adds + 320 == pytest.approx(1.5e6, rel=0.02)


@pytest.mark.parametrize("shape", [(1, 1024), (1024,), (3, 100), (16,), (8, 16)])
def test_it_takes_series_of_any_channels_and_lengths(shape: tuple[int, ...]) -> None:
    assert conv1d(shape, 4)(torch.rand(3, *shape)).shape == (3, 4)


def test_when_something_happens_does_not_matter() -> None:
    """A blow far from both ends, moved by a multiple of all strides."""
    network = conv1d((1024,), 4)
    series = torch.zeros(2, 1024)
    blow = torch.randn(40, generator=torch.Generator().manual_seed(1))
    series[0, 320:360] = blow
    series[1, 320 + 160 : 360 + 160] = blow
    first, moved = network(series)
    assert torch.allclose(first, moved, atol=1e-6)


def test_the_semantic_vector_is_the_largest_value_of_each_filter() -> None:
    network = conv1d((1, 64), 4)
    assert isinstance(network, nn.Sequential)
    series = torch.randn(2, 1, 64, generator=torch.Generator().manual_seed(1))
    filtered, vectors = network[:7](series), network[:-1](series)
    assert torch.equal(vectors, filtered.amax(dim=-1))
    assert vectors.shape == (2, 32)


def test_it_learns() -> None:
    seen = losses(conv1d, (1, 256), steps=40)
    assert seen[-1] < 0.8 * seen[0]


@pytest.mark.parametrize(
    ("shape", "message"),
    [
        ((3, 32, 32), "conv1d takes series, (channels, length) or (length,), not an input of shape 3x32x32"),
        ((15,), "conv1d takes series of at least 16 samples, not 15"),
        ((8, 8), "conv1d takes series of at least 16 samples, not 8"),
    ],
)
def test_other_inputs_are_refused_in_one_line(shape: tuple[int, ...], message: str) -> None:
    with pytest.raises(ValueError, match=f"^{re.escape(message)}$"):
        conv1d(shape, 10)
