"""Model sizes, layer by layer, as the paper's table has them."""

import pytest

from hfedms_sim.models import spec_of


def test_the_cnn_has_the_papers_parameters_in_every_layer() -> None:
    cnn = spec_of("cnn")
    assert cnn.stack is not None
    assert [layer.parameters for layer in cnn.stack.extractor] == [832, 51_264, 6_424_576, 204_900]
    assert cnn.classifier_parameters == 6_262
    assert cnn.extractor_parameters == 6_681_572
    assert cnn.parameters == 6_687_834
    assert cnn.classifier_bytes / cnn.model_bytes == pytest.approx(0.000936, rel=1e-3)


def test_the_cnn_has_the_papers_multiply_adds_in_every_layer() -> None:
    cnn = spec_of("cnn")
    assert cnn.stack is not None
    assert [layer.multiply_adds for layer in cnn.stack.extractor] == [627_200, 10_035_200, 6_422_528, 204_800]
    assert cnn.multiply_adds == 17_295_928


@pytest.mark.parametrize(
    ("name", "parameters", "classifier"),
    [
        ("small-cnn", 208 + 3_216 + 50_240 + 4_030, 4_030),
        ("mlp", 100_480 + 8_256 + 4_030, 4_030),
        ("tiny-mlp", 12_560 + 1_054, 1_054),
    ],
)
def test_the_small_models_have_the_sizes_the_design_gives(name: str, parameters: int, classifier: int) -> None:
    assert spec_of(name).parameters == parameters
    assert spec_of(name).classifier_parameters == classifier
