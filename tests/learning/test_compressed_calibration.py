"""HFedMS-D in fewer bytes: sensors extract with what they received, the server keeps what it had."""

from typing import Any

import pytest
import torch
from torch.nn import functional

from hfedms_sim.learning.compression import by_content, by_seed, quantised
from hfedms_sim.learning.engine.compressing import CompressingEngine
from hfedms_sim.learning.networks import Weights
from hfedms_sim.learning.samples import captured_samples
from hfedms_sim.rounds import Participation
from hfedms_sim.strategies.hfedms import HFedMSDynamicSettings
from hfedms_sim.strategies.learners.hfedms import CalibratingLearner
from tests.learning.tiny_factory import DRAWS, SHUFFLES, RandomImages, parts, record

CHAINS, SIZE, RATE = [[0, 1], [2]], 6, 0.1


def learner_of(**compression: Any) -> CalibratingLearner:
    settings = HFedMSDynamicSettings(interval=3, learning_rate=RATE, compression=compression)  # type: ignore[arg-type]
    context = parts()
    return CalibratingLearner(settings, context._replace(engine=CompressingEngine(context.engine, settings, DRAWS)))


def part(weights: Weights, name: str) -> Weights:
    return {each: value.clone() for each, value in weights.items() if each.startswith(name)}


@pytest.mark.parametrize("codec", ["float16", "int8"])
def test_the_servers_extractor_stays_as_the_full_round_made_it(codec: str) -> None:
    learner = learner_of(downlink=codec, relay=codec, uplink=codec)
    learner.learn(record(1, CHAINS, SIZE, interval=3))
    own = part(learner.weights, "extractor")
    learner.learn(record(2, CHAINS, SIZE, interval=3))
    learner.learn(record(3, CHAINS, SIZE, interval=3))
    assert all(torch.equal(learner.weights[name], value) for name, value in own.items())
    held = quantised(codec, own, by_content(DRAWS))  # type: ignore[arg-type]
    assert learner.memories.keys() == {0, 1, 2}
    assert all(torch.equal(each.extractor[name], held[name]) for each in learner.memories.values() for name in held)
    assert not all(torch.equal(own[name], held[name]) for name in own)


def test_a_calibration_round_is_the_naive_loop() -> None:
    """Chains of two and of one; classifiers go down as float16, on as int8, up as float16."""
    learner = learner_of(downlink="float16", relay="int8", uplink="float16")
    learner.learn(record(1, CHAINS, SIZE, interval=3))
    master, extractor = part(learner.weights, "classifier"), part(learner.weights, "extractor")
    held, received = (quantised("float16", each, by_content(DRAWS)) for each in (extractor, master))
    ends = []
    for chain in CHAINS:
        model = received
        for sensor in chain:
            model = calibrated(model, held, sensor)
            rounding = by_seed(DRAWS, "relay", SHUFFLES.seed(sensor, 2))
            model = quantised("float16" if sensor == chain[-1] else "int8", model, rounding)
        ends.append(model)
    learner.learn(record(2, CHAINS, SIZE, interval=3))
    for name, value in master.items():
        expected = value + ((ends[0][name] + ends[1][name]) / 2 - received[name])
        assert (learner.weights[name] - expected).abs().max() < 1e-5


def calibrated(model: Weights, extractor: Weights, sensor: int) -> Weights:
    """Plain SGD on the semantics of the second round's batch."""
    own = Participation(sensor, ((SIZE, SIZE),), True, False)
    inputs, labels = captured_samples(RandomImages(), own)
    vectors = functional.linear(inputs.flatten(1), *extractor.values()).relu()
    weight, bias = (value.clone().requires_grad_() for value in model.values())
    (order,) = SHUFFLES.of(sensor, 2, SIZE, 1)
    for chosen in order.split(5):
        loss = functional.cross_entropy(functional.linear(vectors[chosen], weight, bias), labels[chosen])
        steps = torch.autograd.grad(loss, [weight, bias])
        weight, bias = ((v - RATE * g).detach().requires_grad_() for v, g in zip((weight, bias), steps, strict=True))
    return dict(zip(model, (weight.detach(), bias.detach()), strict=True))
