"""Stacks of layers are built for the data: their figures are those of the module, for any shape of image."""

import pytest

from hfedms_sim.errors import InputError
from hfedms_sim.learning.counting import counted
from hfedms_sim.models import MODELS, spec_of
from hfedms_sim.scenario import DataShape

SHAPES = [(1, 28, 28), (3, 32, 32), (1, 8, 8), (2, 9, 13)]


@pytest.mark.parametrize("shape", SHAPES, ids=str)
@pytest.mark.parametrize("name", ["cnn", "small-cnn", "mlp", "tiny-mlp"])
def test_figures_are_those_counted_from_the_module(name: str, shape: tuple[int, ...]) -> None:
    spec = spec_of(name, DataShape(shape, 10))
    found = counted(MODELS[name]().module, shape, 10)
    assert (spec.extractor_parameters, spec.classifier_parameters, spec.buffers) == (
        found.extractor_parameters,
        found.classifier_parameters,
        found.buffers,
    )
    assert spec.extractor_multiply_adds == found.extractor_multiply_adds
    assert spec.classifier_multiply_adds == found.classifier_multiply_adds
    assert spec.semantic_size == found.semantic_size


def test_a_ten_class_set_sends_a_classifier_of_2600_bytes() -> None:
    assert spec_of("small-cnn", DataShape((1, 28, 28), 10)).classifier_bytes == 2600 == 4 * (64 * 10 + 10)


@pytest.mark.parametrize("shape", [(16,), (1, 1024), (1, 3, 3), (2, 2, 2, 2)], ids=str)
def test_a_convolution_refuses_what_is_no_image_or_too_small_in_one_line(shape: tuple[int, ...]) -> None:
    with pytest.raises(InputError, match=r"model 'small-cnn': takes images of 4x4 pixels or more.* not samples"):
        spec_of("small-cnn", DataShape(shape, 10))
