"""Rounds for engines to train: small networks and chains of all shapes, random images."""

from collections.abc import Sequence

import torch
from hypothesis import strategies as st

from hfedms_sim.learning.engine import Chain, LocalSet, Sgd
from hfedms_sim.learning.fusion import FusionNetwork, Operator
from hfedms_sim.learning.networks import StackNetwork, Weights
from hfedms_sim.scenario.models import Layer, LayerStack, ModelSpec

CLASSES = 4


def network_of(spec: ModelSpec, dtype: torch.dtype, seed: int = 1) -> tuple[StackNetwork, Weights]:
    """With weights that are neither tiny nor symmetric."""
    network = StackNetwork(spec).to(dtype=dtype)
    random = torch.Generator().manual_seed(seed)
    for value in network.parameters():
        fan = value[0].numel() if value.dim() > 1 else 4
        value.data.copy_(torch.randn(value.shape, generator=random, dtype=torch.float64) * fan**-0.5)
    return network, network.weights()


def local_set(sizes: Sequence[int], side: int, dtype: torch.dtype, random: torch.Generator) -> LocalSet:
    """One order for each of `sizes`: how many samples that pass goes over."""
    count = max(sizes, default=0)
    images = torch.rand((count, 1, side, side), generator=random, dtype=torch.float64).to(dtype)
    labels = torch.randint(0, CLASSES, (count,), generator=random)
    return LocalSet(images, labels, tuple(torch.randperm(count, generator=random)[:size] for size in sizes))


def chains_of(sizes: Sequence[Sequence[Sequence[int]]], side: int, dtype: torch.dtype, seed: int = 2) -> list[Chain]:
    random = torch.Generator().manual_seed(seed)
    return [[local_set(each, side, dtype, random) for each in chain] for chain in sizes]


def convolution(inputs: int, outputs: int, kernel: int) -> Layer:
    return Layer(inputs, outputs, kernel)


@st.composite
def specs(draw: st.DrawFn, side: int, fewest_convolutions: int = 0) -> ModelSpec:
    """Up to two convolutions, up to two hidden layers."""
    layers: list[Layer] = []
    channels, width = 1, side
    for _ in range(draw(st.integers(fewest_convolutions, 2 if side >= 4 else 1))):
        outputs = draw(st.integers(1, 5))
        layers.append(convolution(channels, outputs, draw(st.sampled_from([3, 5]))))
        channels, width = outputs, width // 2
    features = channels * width**2
    for _ in range(draw(st.integers(0 if layers else 1, 2))):
        outputs = draw(st.integers(1, 9))
        layers.append(Layer(features, outputs))
        features = outputs
    return ModelSpec.of_stack("random", LayerStack(tuple(layers), Layer(features, CLASSES)))


sizes_of_chains = st.lists(
    st.lists(st.lists(st.integers(0, 7), min_size=1, max_size=2), max_size=3), min_size=1, max_size=5
)
descents = st.builds(
    Sgd,
    learning_rate=st.sampled_from([0.01, 0.1, 0.5]),
    batch_size=st.integers(1, 8),
    proximal=st.sampled_from([0.0, 0.3]),
    optimiser=st.just("sgd"),
)


def fusion_network_of(
    spec: ModelSpec, operator: Operator, dtype: torch.dtype, seed: int = 1
) -> tuple[FusionNetwork, Weights]:
    """With fusion weights that are not zero either; gamma is neither 0 nor 1."""
    network = FusionNetwork(spec, operator).to(dtype=dtype)
    network.frozen.to(dtype=dtype)
    _, plain = network_of(spec, dtype, seed)
    network.load(plain)
    random = torch.Generator().manual_seed(seed + 1)
    for name in network.fusion_names:
        value = network.get_parameter(name)
        value.data.copy_(0.4 * torch.randn(value.shape, generator=random, dtype=torch.float64))
    return network, network.weights()
