"""Counts of networks are those made by hand, and what cannot be split into extractor and classifier is refused."""

import re
from collections.abc import Callable

import pytest
import torch
from torch import Tensor, nn

from hfedms_sim.learning.counting import Counted, MakeModule, counted
from hfedms_sim.learning.networks import StackNetwork
from hfedms_sim.learning.recognition import is_hooked
from hfedms_sim.models import spec_of
from hfedms_sim.scenario import Matrices

BY_HAND = {
    "cnn": Counted(
        classifier="classifier",
        semantic_size=100,
        classifier_parameters=6_262,
        extractor_parameters=832 + 51_264 + 6_424_576 + 204_900,
        buffers=0,
        classifier_multiply_adds=6_200,
        extractor_multiply_adds=627_200 + 10_035_200 + 6_422_528 + 204_800,
        matrices=Matrices(800 + 51_200 + 6_422_528 + 204_800 + 6_200, 32 + 64 + 2048 + 100 + 62),
        classifier_matrices=Matrices(6_200, 62),
    ),
    "small-cnn": Counted(
        *("classifier", 64, 4_030, 208 + 3_216 + 50_240, 0, 3_968, 156_800 + 627_200 + 50_176),
        Matrices(200 + 3_200 + 50_176 + 3_968, 8 + 16 + 64 + 62),
        Matrices(3_968, 62),
    ),
    "mlp": Counted(
        *("classifier", 64, 4_030, 100_480 + 8_256, 0, 3_968, 100_352 + 8_192),
        Matrices(100_352 + 8_192 + 3_968, 128 + 64 + 62),
        Matrices(3_968, 62),
    ),
    "tiny-mlp": Counted(
        *("classifier", 16, 1_054, 12_560, 0, 992, 12_544), Matrices(12_544 + 992, 16 + 62), Matrices(992, 62)
    ),
}


def giving(module: nn.Module) -> MakeModule:
    return lambda input_shape, classes: module


@pytest.mark.parametrize("name", ["cnn", "small-cnn", "mlp", "tiny-mlp"])
def test_the_shipped_stacks_are_counted_as_by_hand_and_as_by_their_formulas(name: str) -> None:
    spec = spec_of(name)
    count = counted(giving(StackNetwork(spec)), (1, 28, 28), 62)
    assert count == BY_HAND[name]
    assert count.classifier_parameters == spec.classifier_parameters
    assert count.extractor_parameters == spec.extractor_parameters
    assert 4 * (count.classifier_parameters + count.extractor_parameters) == spec.model_bytes
    assert count.classifier_multiply_adds == spec.classifier_multiply_adds
    assert count.extractor_multiply_adds == spec.extractor_multiply_adds
    assert (count.matrices, count.classifier_matrices) == (spec.matrices, spec.classifier_matrices)


class LastOutput(nn.Module):
    """What a recurrent network returns after the last step."""

    def __init__(self, recurrent: nn.RNNBase) -> None:
        super().__init__()
        self.recurrent = recurrent

    def forward(self, steps: Tensor) -> Tensor:
        last: Tensor = self.recurrent(steps)[0][:, -1]
        return last


@pytest.mark.parametrize(
    ("recurrent", "size", "multiply_adds"),
    [
        (nn.LSTM(5, 11, batch_first=True), 11, 7 * 4 * (5 + 11) * 11),
        (nn.GRU(5, 11, batch_first=True), 11, 7 * 3 * (5 + 11) * 11),
        (nn.RNN(5, 11, batch_first=True), 11, 7 * (5 + 11) * 11),
        (nn.LSTM(5, 11, 2, bidirectional=True, batch_first=True), 22, 2 * 7 * 4 * 11 * ((5 + 11) + (22 + 11))),
    ],
    ids=["lstm", "gru", "rnn", "two layers in both directions"],
)
def test_recurrent_layers_are_counted_step_by_step(recurrent: nn.RNNBase, size: int, multiply_adds: int) -> None:
    network = nn.Sequential(LastOutput(recurrent), nn.Linear(size, 3))
    assert counted(giving(network), (7, 5), 3).extractor_multiply_adds == multiply_adds


@pytest.mark.parametrize("is_frozen", [False, True])
def test_attention_is_counted_though_torch_may_fuse_it(is_frozen: bool) -> None:
    """Seven steps: four projections and two dense layers each, and every step's product with every other, twice."""
    encoder = nn.TransformerEncoderLayer(d_model=8, nhead=2, dim_feedforward=16, batch_first=True)
    network = nn.Sequential(encoder.requires_grad_(not is_frozen), nn.Flatten(), nn.Linear(7 * 8, 3))
    count = counted(giving(network), (7, 8), 3)
    assert count.extractor_multiply_adds == 7 * (4 * 8 * 8 + 2 * 8 * 16) + 2 * 7 * 7 * 8


def test_running_statistics_and_frozen_parameters_are_buffers_and_counters_are_not() -> None:
    frozen = nn.Linear(4, 6).requires_grad_(False)
    count = counted(giving(nn.Sequential(frozen, nn.BatchNorm1d(6), nn.Linear(6, 3))), (4,), 3)
    assert count.buffers == (4 * 6 + 6) + 2 * 6
    assert (count.extractor_parameters, count.classifier_parameters) == (2 * 6, 6 * 3 + 3)


def test_a_buffer_that_is_no_part_of_the_state_is_not_counted() -> None:
    network = nn.Sequential(nn.Linear(4, 3))
    network.register_buffer("table", torch.zeros(100), persistent=False)
    assert counted(giving(network), (4,), 3).buffers == 0


class HeadFirst(nn.Module):
    """Its classifier is declared before the layer that it follows."""

    def __init__(self, after: Callable[[Tensor], object] = lambda logits: logits) -> None:
        super().__init__()
        self.head = nn.Linear(6, 3)
        self.body = nn.Linear(4, 6)
        self.after = after

    def forward(self, samples: Tensor) -> object:
        logits: Tensor = self.head(self.body(samples).relu())
        return self.after(logits)


def test_the_classifier_is_the_last_dense_layer_of_the_forward_pass() -> None:
    assert counted(giving(HeadFirst()), (4,), 3).classifier == "head"


def test_the_classifier_may_be_named() -> None:
    assert counted(giving(nn.Sequential(HeadFirst())), (4,), 3, "0.head").classifier == "0.head"


def test_the_function_is_given_shape_and_classes() -> None:
    def make(input_shape: tuple[int, ...], classes: int) -> nn.Module:
        return nn.Sequential(nn.Flatten(), nn.Linear(input_shape[0] * input_shape[1], classes))

    assert counted(make, (2, 3), 5).classifier_parameters == 2 * 3 * 5 + 5


def test_torch_is_left_as_it_was() -> None:
    """Its generator, though weights are drawn; and oneDNN and flash attention, though kernels are chosen."""
    torch.manual_seed(7)
    before = torch.get_rng_state()
    counted(lambda input_shape, classes: nn.Sequential(nn.Dropout(), nn.Linear(4, classes)), (4,), 3)
    with pytest.raises(ValueError, match="takes no input"):
        counted(lambda input_shape, classes: HeadFirst(), (9,), 3)
    assert torch.equal(before, torch.get_rng_state())
    assert torch.backends.mkldnn.enabled
    assert torch.backends.cuda.flash_sdp_enabled()


def test_a_network_that_was_counted_has_no_hooks_left() -> None:
    network = HeadFirst()
    counted(giving(network), (4,), 3)
    assert not any(is_hooked(each) for each in network.modules())


def twice() -> nn.Module:
    layer = nn.Linear(4, 4)
    return nn.Sequential(layer, nn.ReLU(), layer)


@pytest.mark.parametrize(
    ("network", "message"),
    [
        (nn.Conv1d(4, 3, 1), "takes no input of shape 4: Given groups=1, weight of size [3, 4, 1]"),
        (nn.Linear(5, 3), "takes no input of shape 4: mat1 and mat2 shapes"),
        (nn.ReLU(), "uses no torch.nn.Linear"),
        (twice(), "uses its classifier '0' 2 times in a forward pass, not once"),
        (nn.Sequential(nn.Linear(4, 3), nn.ReLU()), "does not end with its classifier '0'"),
        (nn.Sequential(nn.Linear(4, 3), nn.ReLU(inplace=True)), "does not end with its classifier '0'"),
        (HeadFirst(lambda logits: logits.softmax(dim=1)), "does not end with its classifier 'head'"),
        (HeadFirst(lambda logits: logits[0]), "returns an output of shape 3 for one sample, not 1x3 logits"),
        (nn.Linear(4, 2), "returns an output of shape 1x2 for one sample, not 1x3 logits"),
        (HeadFirst(lambda logits: logits.unbind()), "returns a tuple, not a tensor of logits"),
        (nn.Linear(4, 3).requires_grad_(False), "has no parameters that are trained"),
    ],
)
def test_what_cannot_be_trained_is_refused_in_one_line(network: nn.Module, message: str) -> None:
    with pytest.raises(ValueError, match=f"^the network {re.escape(message)}.*$") as error:
        counted(giving(network), (4,), 3)
    assert "\n" not in str(error.value)


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("tail", "classifier = 'tail': the network has no such torch.nn.Linear; it has head, body"),
        ("", "classifier = '': the network has no such torch.nn.Linear; it has head, body"),
        ("body", "the network does not end with its classifier 'body': it must return the logits unchanged"),
        ("spare", "the network uses its classifier 'spare' 0 times in a forward pass, not once"),
    ],
)
def test_a_named_classifier_must_be_the_last_dense_layer(name: str, message: str) -> None:
    network = HeadFirst()
    if name == "spare":
        network.spare = nn.Linear(6, 3)
    with pytest.raises(ValueError, match=f"^{re.escape(message)}$"):
        counted(giving(network), (4,), 3, name)


def test_what_is_no_module_is_refused() -> None:
    with pytest.raises(ValueError, match=r"^the function makes a type, not a torch.nn.Module$"):
        counted(lambda input_shape, classes: nn.ReLU, (4,), 3)  # type: ignore[arg-type, return-value]


class InSingle(nn.Module):
    """Takes numbers of four bytes, whatever its layer is made of."""

    def __init__(self, layer: nn.Module) -> None:
        super().__init__()
        self.layer = layer
        self.head = nn.Linear(4, 3)

    def forward(self, samples: Tensor) -> Tensor:
        logits: Tensor = self.head(self.layer(samples.double()).float())
        return logits


@pytest.mark.parametrize("layer", [nn.Linear(4, 4), nn.BatchNorm1d(4, affine=False)])
def test_numbers_of_other_than_four_bytes_are_refused(layer: nn.Module) -> None:
    with pytest.raises(ValueError, match=r"^'layer\..* is torch.float64: .* must be torch.float32$"):
        counted(giving(InSingle(layer.double())), (4,), 3)
