"""FedFusion: the three operators on numbers small enough to check, and what is frozen, sent and averaged."""

from typing import Any

import numpy as np
import pytest
import torch
from torch import Tensor

from hfedms_sim.errors import InputError
from hfedms_sim.learning.engine import ENGINES
from hfedms_sim.learning.evaluation import Evaluator
from hfedms_sim.learning.fusion import FusionNetwork, Operator, fusion_weights, merged_gamma
from hfedms_sim.learning.learner import ChainLearner, LearnerContext
from hfedms_sim.learning.networks import StackNetwork, Weights, initial_weights
from hfedms_sim.loading import load_scenario
from hfedms_sim.models import spec_of
from hfedms_sim.rounds import RoundRecord
from hfedms_sim.scenario.models import Layer, LayerStack, ModelSpec
from hfedms_sim.seeds import Draws
from hfedms_sim.simulation import run
from hfedms_sim.strategies.fedavg import FedAvgSettings
from hfedms_sim.strategies.fedfusion import FedFusion, FedFusionSettings
from hfedms_sim.strategies.learners.fedfusion import FusionLearner
from tests.learning.tiny_factory import ENGINE, SHUFFLES, RandomImages, record

OPERATORS: tuple[Operator, ...] = ("conv", "multi", "single")
every_operator = pytest.mark.parametrize("operator", OPERATORS)
TWO_CHANNELS = ModelSpec.of_stack("two", LayerStack((Layer(1, 2, 3, 28, 28), Layer(2 * 14 * 14, 4)), Layer(4, 62)))
IMAGES = torch.rand(5, 1, 28, 28, generator=torch.Generator().manual_seed(1))
SGD = {"learning_rate": 0.05, "batch_size": 4}


def start(operator: Operator, spec: ModelSpec = TWO_CHANNELS) -> Weights:
    return initial_weights(spec, Draws(3)) | fusion_weights(spec, operator, Draws(3))


def built(operator: Operator, spec: ModelSpec = TWO_CHANNELS, **changes: Tensor) -> FusionNetwork:
    network = FusionNetwork(spec, operator)
    network.load(start(operator, spec) | changes)
    return network


def parts_of(operator: Operator) -> LearnerContext:
    engine = ENGINES[ENGINE.get()](FusionNetwork(TWO_CHANNELS, operator), 1)
    return LearnerContext(TWO_CHANNELS, start(operator), engine, RandomImages(), SHUFFLES)


def learner(operator: Operator) -> FusionLearner:
    return FusionLearner(FedFusionSettings(operator=operator, **SGD), parts_of(operator))


LOCAL = torch.tensor([[[[1.0, 2.0]], [[3.0, 4.0]]]])  # two channels of 1 x 2 pixels
FROZEN = torch.tensor([[[[5.0, 6.0]], [[7.0, 8.0]]]])


def test_conv_is_a_weighted_sum_of_all_channels_at_each_pixel_local_ones_first() -> None:
    """First output l0 + 10 l1 + 100 g0 + 1000 g1, second one g1 - l0 + 0.5."""
    weight = torch.tensor([[1.0, 10.0, 100.0, 1000.0], [-1.0, 0.0, 0.0, 1.0]]).reshape(2, 4, 1, 1)
    network = built("conv", **{"fusion.weight": weight, "fusion.bias": torch.tensor([0.0, 0.5])})
    fused = network.fused(LOCAL, FROZEN)
    assert torch.allclose(fused, torch.tensor([[[[7531.0, 8642.0]], [[6.5, 6.5]]]]))


def test_multi_mixes_each_channel_by_its_own_gamma() -> None:
    network = built("multi", gamma=torch.tensor([0.25, 1.0]))
    assert torch.allclose(network.fused(LOCAL, FROZEN), torch.tensor([[[[2.0, 3.0]], [[7.0, 8.0]]]]))


def test_single_mixes_all_channels_by_one_gamma() -> None:
    network = built("single", gamma=torch.tensor([0.25]))
    assert torch.allclose(network.fused(LOCAL, FROZEN), torch.tensor([[[[2.0, 3.0]], [[4.0, 5.0]]]]))


@every_operator
def test_the_fused_features_are_those_of_the_last_pooled_convolution(operator: Operator) -> None:
    """By hand through the same modules, with a local stack that has moved away from the frozen one."""
    network = built(operator, spec_of("small-cnn"))
    if operator != "conv":
        torch.nn.init.constant_(network.gamma, 0.3)
    frozen = StackNetwork(spec_of("small-cnn"))
    frozen.load(initial_weights(spec_of("small-cnn"), Draws(3)))
    with torch.no_grad():
        network.extractor[0].weight.mul_(1.5)
        ours, theirs = network.extractor[:6](IMAGES), frozen.extractor[:6](IMAGES)
        assert ours.shape == (5, 16, 7, 7)
        if operator == "conv":
            kernel = network.fusion.weight[:, :, 0, 0]
            both = torch.cat([ours, theirs], dim=1)
            fused = torch.einsum("oc,nchw->nohw", kernel, both) + network.fusion.bias.reshape(1, -1, 1, 1)
        else:
            fused = 0.3 * theirs + 0.7 * ours
        expected = network.classifier(network.extractor[6:](fused))
        assert torch.allclose(network(IMAGES), expected, atol=1e-5)
        assert not torch.allclose(ours, theirs, atol=1e-2)


@pytest.mark.parametrize("operator", ["multi", "single"])
def test_gamma_starts_at_zero_and_the_network_is_then_the_plain_one(operator: Operator) -> None:
    network, plain = built(operator), StackNetwork(TWO_CHANNELS)
    plain.load(initial_weights(TWO_CHANNELS, Draws(3)))
    assert not network.gamma.any()
    assert torch.equal(network(IMAGES), plain(IMAGES))


def test_the_convolution_starts_glorot_uniform_from_the_seed() -> None:
    first, again, other = (fusion_weights(spec_of("cnn"), "conv", Draws(seed)) for seed in (1, 1, 2))
    weight, bound = first["fusion.weight"], (6 / (128 + 64)) ** 0.5
    assert weight.shape == (64, 128, 1, 1)
    assert 0.99 * bound < float(weight.abs().max()) <= bound
    assert abs(float(weight.mean())) < 5 * bound / (3 * weight.numel()) ** 0.5
    assert not first["fusion.bias"].any()
    assert torch.equal(weight, again["fusion.weight"])
    assert not torch.equal(weight, other["fusion.weight"])


@pytest.mark.usefixtures("every_engine")
@every_operator
def test_torchs_own_generator_is_left_alone(operator: Operator) -> None:
    before = torch.get_rng_state()
    learner(operator).learn(record(1, [[0]], 4))
    assert torch.equal(before, torch.get_rng_state())


@every_operator
def test_the_frozen_stack_never_trains_and_is_no_part_of_the_model(operator: Operator) -> None:
    network = FusionNetwork(TWO_CHANNELS, operator)
    context = parts_of(operator)._replace(engine=ENGINES["generic"](network, 1))
    one = FusionLearner(FedFusionSettings(operator=operator, **SGD), context)
    names = {"extractor.0.weight", "extractor.0.bias", "extractor.4.weight", "extractor.4.bias"}
    names |= {"classifier.weight", "classifier.bias"}
    names |= {"fusion.weight", "fusion.bias"} if operator == "conv" else {"gamma"}
    before = start(operator)
    for number in (1, 2):
        one.learn(record(number, [[0]], 9))
        frozen = network.frozen.state_dict()
        assert torch.equal(frozen["0.weight"], before["extractor.0.weight"])  # of the model the round started from
        assert torch.equal(frozen["0.bias"], before["extractor.0.bias"])
        assert not torch.equal(network.extractor[0].weight, before["extractor.0.weight"])
        assert {name for name, _ in network.named_parameters()} == set(network.weights()) == set(one.weights) == names
        before = one.weights


@pytest.mark.usefixtures("every_engine")
@every_operator
def test_everything_that_is_sent_trains(operator: Operator) -> None:
    one = learner(operator)
    for number in (1, 2):
        one.learn(record(number, [[0], [1]], 12))
    assert [name for name, value in start(operator).items() if torch.equal(one.weights[name], value)] == []


@pytest.mark.parametrize("model", ["cnn", "small-cnn"])
@every_operator
def test_the_networks_extra_parameters_are_those_that_the_bytes_are_counted_by(operator: Operator, model: str) -> None:
    spec = spec_of(model)
    extra = sum(value.numel() for value in fusion_weights(spec, operator, Draws(1)).values())
    network = sum(value.numel() for value in FusionNetwork(spec, operator).parameters())
    counted = FedFusion.costs(FedFusionSettings(operator=operator), spec).parameters
    assert extra == network - spec.parameters == counted - spec.parameters


def test_the_servers_gamma_moves_a_tenth_of_the_way() -> None:
    merged = merged_gamma(torch.tensor([1.0, 0.0]), torch.tensor([2.0, 0.5]))
    assert torch.allclose(merged, torch.tensor([1.1, 0.05]))


@pytest.mark.usefixtures("every_engine")
@pytest.mark.parametrize("operator", ["multi", "single"])
def test_gamma_is_damped_and_all_other_weights_are_fedavgs_mean(operator: Operator) -> None:
    one = learner(operator)
    plain = ChainLearner(FedAvgSettings(**SGD), parts_of(operator))
    for number in (1, 2):
        before = one.weights
        plain.weights = before
        for each in (one, plain):
            each.learn(record(number, [[0], [1], [2]], 9))
        expected = 0.1 * plain.weights["gamma"] + 0.9 * before["gamma"]
        assert torch.allclose(one.weights["gamma"], expected, rtol=1e-6)
        assert plain.weights["gamma"].any()
        assert all(torch.equal(one.weights[name], plain.weights[name]) for name in before if name != "gamma")


@pytest.mark.usefixtures("every_engine")
@every_operator
def test_an_empty_round_changes_nothing(operator: Operator) -> None:
    one = learner(operator)
    for number in (1, 2, 3):
        one.learn(record(number, [[0], [1]], 9))
    before = one.weights
    nobody = RoundRecord(4, 4, "full", (), (), 0.0, 1.0)
    for played in (nobody, record(4, [[0], [1]], 0, samples=())):
        one.learn(played)
        assert all(torch.equal(one.weights[name], before[name]) for name in before)


class TenImages:
    def test_inputs(self, sensor: int) -> Any:
        return np.random.default_rng(sensor).random((10, 1, 28, 28), dtype=np.float32)

    def test_labels(self, sensor: int) -> Any:
        return np.arange(10)


@pytest.mark.usefixtures("every_engine")
@every_operator
def test_in_evaluation_both_streams_are_the_merged_stack(operator: Operator) -> None:
    """An evaluator that has seen an older model gives the loss of a network whose two stacks are equal."""
    one = learner(operator)
    evaluator = Evaluator(one.logits, TenImages(), 1)
    evaluator.evaluate(one.weights)
    for number in (1, 2, 3):
        one.learn(record(number, [[0], [1]], 9))
    changed = one.weights | ({} if operator == "conv" else {"gamma": torch.full_like(one.weights["gamma"], 0.5)})
    network = built(operator)
    network.load(changed)
    with torch.no_grad():
        images = torch.from_numpy(TenImages().test_inputs(0))
        features = network.extractor[:3](images)
        logits = network.classifier(network.extractor[3:](network.fused(features, features)))
        loss = float(torch.nn.functional.cross_entropy(logits, torch.arange(10)))
    assert evaluator.evaluate(changed).loss == pytest.approx(loss, rel=1e-5)


@pytest.mark.parametrize("model", ["mlp", "tiny-mlp"])
def test_a_model_without_a_convolution_is_refused_in_one_line(model: str) -> None:
    with pytest.raises(InputError) as refused:
        run(load_scenario("quickstart", strategy="fedfusion", overrides=[f"model={model}"]), timing_only=True)
    assert "\n" not in str(refused.value)
    assert f"fedfusion fuses the features of a convolution, and model: {model} has none" in str(refused.value)
