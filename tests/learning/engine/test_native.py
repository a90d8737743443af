"""The low-rank engine on compiled kernels: the same rounds to rounding, whatever the variant and the threads."""

import pytest
import torch

from hfedms_sim.learning.engine import GenericEngine, LowRankEngine, NativeEngine, Sgd, dense
from hfedms_sim.learning.networks import Weights, is_classifier
from hfedms_sim.scenario.models import Layer, LayerStack, ModelSpec
from hfedms_sim.system import native_library
from tests.learning.engine.rounds_at_random import CLASSES, chains_of, convolution, local_set, network_of

pytestmark = pytest.mark.skipif(not native_library.available(), reason="no compiled kernels")

SIDE = 7
SPECS = {
    "two of each": ((convolution(1, 3, 5), convolution(3, 17, 3), Layer(17, 9), Layer(9, 5)), 5),
    "one convolution": ((convolution(1, 8, 5), Layer(72, 20)), 20),
    "straight to the classifier": ((convolution(1, 6, 3),), 54),
    "dense": ((Layer(49, 12),), 12),
}
RAGGED = [[[7]], [[5, 5], [3]], [], [[2]], [[0], [6]], [[11], [1], [4, 2]]]
SHARES = [1.0, 2.0, 3.0, 0.0, 1.5, 2.5]
every_spec = pytest.mark.parametrize("name", SPECS)


def spec_of(name: str) -> ModelSpec:
    layers, features = SPECS[name]
    return ModelSpec.of_stack(name, LayerStack(layers, Layer(features, CLASSES)))


def furthest(one: Weights, other: Weights) -> float:
    assert one.keys() == other.keys()
    return max(float((one[name] - other[name]).abs().max()) for name in one)


@every_spec
@pytest.mark.parametrize("pull", [0.0, 0.9])
@pytest.mark.parametrize("largest_history", [0, 10**9])
@pytest.mark.parametrize("threads", [1, 2])
def test_ragged_chains_end_where_the_plain_engines_do(
    name: str, pull: float, largest_history: int, threads: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(dense, "_LARGEST_HISTORY", largest_history)
    network, start = network_of(spec_of(name), torch.float32)
    chains, sgd = chains_of(RAGGED, SIDE, torch.float32), Sgd(0.1, 4, pull)
    native = NativeEngine(network, threads).train_models(start, chains, SHARES, sgd)
    again = NativeEngine(network, threads).train_models(start, chains, SHARES, sgd)
    plain = GenericEngine(network).train_models(start, chains, SHARES, sgd)
    assert furthest(native, plain) < 2e-6
    assert furthest(native, again) == 0
    assert furthest(plain, start) > 0.01


@every_spec
@pytest.mark.parametrize("threads", [1, 2])
@pytest.mark.parametrize("images", [0, 1, 130, 300])
def test_extraction_is_the_networks(name: str, images: int, threads: int) -> None:
    network, weights = network_of(spec_of(name), torch.float32)
    batch = local_set([images], SIDE, torch.float32, torch.Generator().manual_seed(1)).inputs
    vectors = NativeEngine(network, threads).extract(weights, batch)
    with torch.no_grad():
        assert torch.allclose(vectors, network.extractor(batch), atol=1e-6)
        logits = NativeEngine(network, threads).logits(weights, batch)
        assert torch.allclose(logits, network(batch), atol=1e-6)


@pytest.mark.parametrize("pull", [0.0, 0.9])
@pytest.mark.parametrize("threads", [1, 2])
def test_classifiers_are_those_of_the_plain_engine(threads: int, pull: float) -> None:
    network, whole = network_of(spec_of("one convolution"), torch.float32)
    start = {name: value for name, value in whole.items() if is_classifier(name)}
    random = torch.Generator().manual_seed(3)
    chains = [
        [each._replace(inputs=torch.rand((len(each.labels), 20), generator=random)) for each in chain]
        for chain in chains_of(RAGGED, SIDE, torch.float32)
    ]
    ends = [
        engine.train_classifiers(start, chains, SHARES, Sgd(0.1, 4, pull))
        for engine in (NativeEngine(network, threads), GenericEngine(network), LowRankEngine(network))
    ]
    assert furthest(ends[0], ends[1]) < 2e-6
    assert furthest(ends[0], ends[2]) < 2e-6
    assert furthest(ends[0], start) > 0.01


def test_the_order_of_the_parameters_does_not_matter() -> None:
    """A restored state has them by name."""
    network, whole = network_of(spec_of("dense"), torch.float32)
    start = {name: value for name, value in whole.items() if is_classifier(name)}
    chains = [[each._replace(inputs=torch.rand((5, 12)))] for (each,) in chains_of([[[5]]], SIDE, torch.float32)]
    engine = NativeEngine(network)
    one = engine.train_classifiers(start, chains, [1.0], Sgd(0.1, 4))
    other = engine.train_classifiers(dict(reversed(start.items())), chains, [1.0], Sgd(0.1, 4))
    assert furthest(one, other) == 0


def test_nobody_to_train_leaves_the_classifier_as_it_was() -> None:
    network, whole = network_of(spec_of("dense"), torch.float32)
    start = {name: value for name, value in whole.items() if is_classifier(name)}
    for chains, shares in (([], []), ([[]], [1.0]), (chains_of([[[3]]], SIDE, torch.float32), [0.0])):
        assert furthest(NativeEngine(network).train_classifiers(start, chains, shares, Sgd(0.1, 4)), start) == 0


def test_variants_learn_the_same_to_rounding(monkeypatch: pytest.MonkeyPatch) -> None:
    network, start = network_of(spec_of("two of each"), torch.float32)
    chains = chains_of(RAGGED, SIDE, torch.float32)
    ends = []
    for variant in native_library.runnable(native_library.DIRECTORY):
        monkeypatch.setenv(native_library.SETTING, variant)
        ends.append(NativeEngine(network).train_models(start, chains, SHARES, Sgd(0.1, 4)))
    assert all(furthest(ends[0], end) < 2e-6 for end in ends)
