"""Stacks of convolutions and dense layers are recognised, with the figures that their own forward pass shows."""

from math import prod

import pytest
import torch
from torch import Tensor, nn

from hfedms_sim.learning.counting import counted
from hfedms_sim.learning.modules import conv1d, lstm, resnet8
from hfedms_sim.learning.networks import StackNetwork, stack_of
from hfedms_sim.learning.recognition import Recognised, RecognisedLayer, recognised
from hfedms_sim.models import spec_of

IMAGE = (2, 11, 6)


def conv(**changes: object) -> nn.Module:
    return nn.Conv2d(**{"in_channels": 2, "out_channels": 4, "kernel_size": 3, "padding": 1} | changes)  # type: ignore[arg-type]


def stack(
    convolution: nn.Module | None = None,
    pool: nn.Module | None = None,
    flat: nn.Module | None = None,
    features: int = 4 * 5 * 3,
) -> nn.Module:
    """Return a network whose parts, unless given, are those for IMAGE."""
    flat = flat or nn.Flatten()
    return nn.Sequential(convolution or conv(), nn.ReLU(), pool or nn.MaxPool2d(2), flat, nn.Linear(features, 3))


def test_the_layers_of_a_nested_stack_are_named_in_order() -> None:
    network = nn.Sequential(
        nn.Sequential(nn.Conv2d(2, 4, 5, padding="same"), nn.ReLU(), nn.MaxPool2d(2)),
        nn.Sequential(nn.Conv2d(4, 6, 3, padding=1), nn.MaxPool2d((2, 2)), nn.ReLU(inplace=True)),
        nn.Flatten(),
        nn.Sequential(nn.Identity(), nn.Linear(6 * 2 * 1, 7), nn.ReLU()),
        nn.Linear(7, 3),
    )
    assert recognised(network, IMAGE) == Recognised(
        (RecognisedLayer("0.0", 2, 4, 5, 11, 6), RecognisedLayer("1.0", 4, 6, 3, 5, 3)),
        (RecognisedLayer("3.1", 12, 7), RecognisedLayer("4", 7, 3)),
    )


@pytest.mark.parametrize("name", ["cnn", "small-cnn", "mlp", "tiny-mlp"])
def test_the_shipped_networks_are_recognised_as_their_specs(name: str) -> None:
    spec = spec_of(name)
    found = recognised(StackNetwork(spec), (1, 28, 28))
    assert found is not None
    layers = [*found.convolutions, *found.dense]
    assert [layer[1:4] for layer in layers] == [
        (layer.inputs, layer.outputs, layer.kernel) for layer in (*stack_of(spec).extractor, stack_of(spec).classifier)
    ]
    assert [(each.height, each.width) for each in found.convolutions] == [(28, 28), (14, 14)][: len(spec.convolutions)]
    assert found.dense[-1].name == "classifier"


@pytest.mark.parametrize("shape", [(1, 9, 17), (3, 8, 8), (2, 5, 31)])
def test_figures_are_those_of_a_forward_pass(shape: tuple[int, ...]) -> None:
    network = nn.Sequential(
        nn.Conv2d(shape[0], 3, 5, padding=2), nn.ReLU(), nn.MaxPool2d(2),
        nn.Conv2d(3, 4, 3, padding=1), nn.ReLU(), nn.MaxPool2d(2),
        nn.Flatten(), nn.Linear(4 * (shape[1] // 4) * (shape[2] // 4), 5), nn.ReLU(), nn.Linear(5, 3),
    )  # fmt: skip
    outputs: dict[str, tuple[int, ...]] = {}
    found = recognised(network, shape)
    assert found is not None
    layers = [*found.convolutions, *found.dense]
    for layer in layers:
        network.get_submodule(layer.name).register_forward_hook(
            lambda _, __, output, name=layer.name: outputs.update({name: tuple(output.shape[1:])})
        )
    network(torch.zeros(2, *shape))
    assert [outputs[layer.name] for layer in found.convolutions] == [
        (layer.outputs, layer.height, layer.width) for layer in found.convolutions
    ]
    assert [outputs[layer.name] for layer in found.dense] == [(layer.outputs,) for layer in found.dense]
    count = counted(lambda *_: network, shape, 3)
    assert count.classifier_multiply_adds + count.extractor_multiply_adds == sum(
        each.kernel**2 * prod((each.inputs, each.outputs, each.height, each.width)) for each in layers
    )


@pytest.mark.parametrize(
    ("network", "shape"),
    [
        (stack(), IMAGE),
        (stack(flat=nn.Flatten(1, -1)), IMAGE),
        (nn.Sequential(nn.Linear(16, 3)), (16,)),
        (nn.Sequential(nn.Flatten(), nn.Linear(16, 3)), (16,)),
        (nn.Sequential(nn.Flatten(), nn.Linear(64, 8), nn.ReLU(), nn.Linear(8, 3)), (8, 8)),
    ],
)
def test_what_the_fast_engines_train_is_recognised(network: nn.Module, shape: tuple[int, ...]) -> None:
    assert network(torch.zeros(2, *shape)).shape == (2, 3)
    assert recognised(network, shape) is not None


class Clipped(nn.Linear):
    def forward(self, vectors: Tensor) -> Tensor:
        return super().forward(vectors).clamp(-1, 1)


class Reversed(nn.Sequential):
    def forward(self, samples: Tensor) -> Tensor:
        for step in reversed(self):
            samples = step(samples)
        return samples


def tied() -> nn.Module:
    layer = nn.Linear(16, 16)
    return nn.Sequential(layer, nn.ReLU(), layer)


def hooked() -> nn.Module:
    network = nn.Sequential(nn.Linear(16, 3))
    network.register_forward_hook(lambda _, __, output: 2 * output)
    return network


OTHERS: list[tuple[str, nn.Module, tuple[int, ...]]] = [
    ("even kernel", stack(conv(kernel_size=4, padding="same")), IMAGE),
    ("kernel of one", stack(conv(kernel_size=1, padding=0)), IMAGE),
    ("kernel that is not square", stack(conv(kernel_size=(3, 5), padding="same")), IMAGE),
    ("stride", stack(conv(stride=2), features=4), (2, 3, 3)),
    ("no padding", stack(conv(padding=0), features=32), IMAGE),
    ("padding in one direction", stack(conv(padding=(0, 2)), features=48), (2, 8, 6)),
    ("dilation", stack(conv(dilation=2, padding="same")), IMAGE),
    ("groups", stack(conv(groups=2)), IMAGE),
    ("no bias", stack(conv(bias=False)), IMAGE),
    ("other borders", stack(conv(padding_mode="circular")), IMAGE),
    ("double", stack().double(), IMAGE),
    ("overlapping pool", stack(pool=nn.MaxPool2d(3, stride=2)), (2, 11, 7)),
    ("pool with gaps", stack(pool=nn.MaxPool2d(2, stride=3), features=16), (2, 5, 5)),
    ("padded pool", stack(pool=nn.MaxPool2d(2, padding=1), features=96), IMAGE),
    ("dilated pool", stack(pool=nn.MaxPool2d(2, dilation=2)), (2, 11, 7)),
    ("pool that rounds up", stack(pool=nn.MaxPool2d(2, ceil_mode=True)), (2, 10, 6)),
    ("mean pool", stack(pool=nn.AvgPool2d(2)), IMAGE),
    ("part flattened", stack(flat=nn.Flatten(2)), IMAGE),
    ("no pool", nn.Sequential(conv(), nn.ReLU(), nn.Flatten(), nn.Linear(264, 3)), IMAGE),
    ("no activation", nn.Sequential(conv(), nn.MaxPool2d(2), nn.Flatten(), nn.Linear(60, 3)), IMAGE),
    ("images without channels", stack(features=12), (2, 6)),
    ("other channels", stack(), (3, 11, 6)),
    ("other sides", stack(), (2, 13, 6)),
    ("nothing flattened", nn.Sequential(nn.Linear(8, 3)), (8, 8)),
    ("dense without activation", nn.Sequential(nn.Linear(16, 8), nn.Linear(8, 3)), (16,)),
    ("dropout", nn.Sequential(nn.Dropout(), nn.Linear(16, 3)), (16,)),
    ("ends with an activation", nn.Sequential(nn.Linear(16, 3), nn.ReLU()), (16,)),
    ("no dense layer", stack()[:4], IMAGE),  # type: ignore[index]
    ("nothing", nn.Sequential(), (16,)),
    ("dense without bias", nn.Sequential(nn.Linear(16, 3, bias=False)), (16,)),
    ("frozen", nn.Sequential(nn.Linear(16, 8).requires_grad_(False), nn.ReLU(), nn.Linear(8, 3)), (16,)),
    ("derived layer", nn.Sequential(Clipped(16, 3)), (16,)),
    ("derived container", Reversed(nn.Linear(16, 3)), (16,)),
    ("used twice", tied(), (16,)),
    ("hooked", hooked(), (16,)),
    ("parametrised", nn.Sequential(nn.utils.parametrizations.weight_norm(nn.Linear(16, 3))), (16,)),
    ("resnet8", resnet8((3, 32, 32), 10), (3, 32, 32)),
    ("conv1d", conv1d((1, 1024), 10), (1, 1024)),
    ("lstm", lstm((16,), 10), (16,)),
]


@pytest.mark.parametrize(("network", "shape"), [other[1:] for other in OTHERS], ids=[other[0] for other in OTHERS])
def test_anything_else_is_left_to_the_generic_engine(network: nn.Module, shape: tuple[int, ...]) -> None:
    assert recognised(network, shape) is None
