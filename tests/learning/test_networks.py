"""The networks are what their ModelSpec says."""

from math import sqrt

import numpy as np
import pytest
import torch
from torch import Tensor, nn

from hfedms_sim.learning.networks import StackNetwork, initial_weights, is_classifier, stack_of
from hfedms_sim.models import MODELS, spec_of
from hfedms_sim.models.stacks import StackModel
from hfedms_sim.scenario import ModelSpec
from hfedms_sim.seeds import Draws

STACKS = [name for name, model in MODELS.shipped.items() if issubclass(model, StackModel)]
every_model = pytest.mark.parametrize("spec", [spec_of(name) for name in STACKS], ids=STACKS)


def built(spec: ModelSpec, seed: int = 1) -> StackNetwork:
    network = StackNetwork(spec)
    network.load(initial_weights(spec, Draws(seed)))
    return network


@every_model
def test_parameters_are_those_of_the_spec(spec: ModelSpec) -> None:
    parameters = dict(built(spec).named_parameters())
    assert sum(value.numel() for value in parameters.values()) == spec.parameters
    classifier = [value.numel() for name, value in parameters.items() if is_classifier(name)]
    assert sum(classifier) == spec.classifier_parameters


def test_the_cnn_has_6_687_834_parameters() -> None:
    assert sum(value.numel() for value in StackNetwork(spec_of("cnn")).parameters()) == 6_687_834


@every_model
def test_multiply_adds_are_those_of_the_spec(spec: ModelSpec) -> None:
    """Counted layer by layer on one image: outputs times what each of them sums over."""
    counted = 0

    def count(layer: nn.Module, _: tuple[Tensor, ...], output: Tensor) -> None:
        nonlocal counted
        assert isinstance(layer, nn.Conv2d | nn.Linear)
        counted += output[0].numel() * layer.weight[0].numel()

    network = built(spec)
    for module in network.modules():
        if isinstance(module, nn.Conv2d | nn.Linear):
            module.register_forward_hook(count)
    logits = network(torch.zeros(1, 1, 28, 28))
    assert logits.shape == (1, 62)
    assert counted == spec.multiply_adds


@every_model
def test_semantic_vectors_are_not_negative_and_feed_the_classifier(spec: ModelSpec) -> None:
    network = built(spec)
    vectors = network.extractor(torch.rand(3, 1, 28, 28))
    assert vectors.shape == (3, stack_of(spec).classifier.inputs)
    assert (vectors >= 0).all()


@every_model
def test_initial_weights_are_glorot_uniform(spec: ModelSpec) -> None:
    layers = (*stack_of(spec).extractor, stack_of(spec).classifier)
    weights = list(initial_weights(spec, Draws(1)).values())
    for layer, weight, bias in zip(layers, weights[::2], weights[1::2], strict=True):
        bound = sqrt(6 / (layer.kernel**2 * (layer.inputs + layer.outputs)))
        assert weight.abs().max() <= bound
        assert weight.std() == pytest.approx(bound / sqrt(3), rel=0.1)
        assert abs(weight.mean()) < 5 * bound / sqrt(3 * weight.numel())
        assert not bias.any()


def test_initial_weights_follow_from_the_seed_alone() -> None:
    spec = spec_of("small-cnn")
    torch.manual_seed(7)
    before = torch.get_rng_state()
    first, again, other = (initial_weights(spec, Draws(seed)) for seed in (1, 1, 2))
    assert torch.equal(before, torch.get_rng_state())
    assert all(torch.equal(first[name], again[name]) for name in first)
    assert not torch.equal(first["extractor.0.weight"], other["extractor.0.weight"])


def test_padding_and_pooling_are_those_of_the_paper() -> None:
    """A single bright pixel in the corner reaches the first 3 x 3 outputs of a 5 x 5 kernel with padding 2."""
    network = StackNetwork(spec_of("cnn"))
    with torch.no_grad():
        for parameter in network.parameters():
            parameter.zero_()
        network.extractor[0].weight.fill_(1.0)
    image = torch.zeros(1, 1, 28, 28)
    image[0, 0, 0, 0] = 1.0
    convolved = network.extractor[0](image)[0, 0].detach().numpy()
    expected = np.zeros((28, 28))
    expected[:3, :3] = 1.0
    assert (convolved == expected).all()
    assert network.extractor[:3](image).shape == (1, 32, 14, 14)
