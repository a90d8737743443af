"""The distillation term, by hand."""

import pytest
import torch
from torch.nn import functional

from hfedms_sim.learning.distillation import distilling
from hfedms_sim.learning.networks import StackNetwork, Weights, initial_weights
from hfedms_sim.seeds import Draws
from hfedms_sim.strategies.hfedms import HFedMSDynamicSettings
from hfedms_sim.strategies.learners.hfedms import CalibratingLearner
from tests.learning.tiny_factory import SPEC, START, parts, record

IMAGES, LABELS = torch.rand(5, 1, 28, 28, generator=torch.Generator().manual_seed(1)), torch.arange(5)


def test_it_is_the_divergence_from_the_model_before_averaged_over_samples_and_classes() -> None:
    teacher, student = StackNetwork(SPEC), StackNetwork(SPEC)
    teacher.load(START)
    student.load(initial_weights(SPEC, Draws(9)))
    p, q = (functional.softmax(network(IMAGES), dim=1) for network in (teacher, student))
    divergence = (p * (p / q).log()).sum() / (5 * 62)
    expected = functional.cross_entropy(student(IMAGES), LABELS) + 0.5 * divergence
    value = distilling(0.5).value(student(IMAGES), LABELS, teacher(IMAGES))
    assert torch.allclose(value, expected, atol=1e-6)


def test_a_model_that_has_not_moved_pays_nothing() -> None:
    student = StackNetwork(SPEC)
    student.load(START)
    with_term = distilling(100.0).value(student(IMAGES), LABELS, student(IMAGES))
    assert torch.allclose(with_term, functional.cross_entropy(student(IMAGES), LABELS), atol=1e-6)


def learnt(distillation: float) -> Weights:
    settings = HFedMSDynamicSettings(interval=1, distillation=distillation, learning_rate=0.1, batch_size=4)
    learner = CalibratingLearner(settings, parts())
    learner.learn(record(1, [[0, 1]], 12))
    return learner.weights


@pytest.mark.usefixtures("every_engine")
def test_a_chain_is_held_near_the_model_that_the_round_started_from_not_near_the_sensor_before() -> None:
    """By hand, in autograd on the two sensors' batches; the term matters."""
    network, teacher = StackNetwork(SPEC), StackNetwork(SPEC)
    network.load(START)
    teacher.load(START)
    learner = CalibratingLearner(HFedMSDynamicSettings(batch_size=4), parts())
    for participation in record(1, [[0, 1]], 12).participations:
        local = learner.local_set(participation, 1)
        for chosen in local.epochs[0].split(4):
            network.zero_grad()
            p, q = (functional.softmax(each(local.inputs[chosen]), dim=1) for each in (teacher, network))
            term = (p.detach() * (p.detach() / q).log()).sum() / (4 * 62)
            (functional.cross_entropy(network(local.inputs[chosen]), local.labels[chosen]) + 20 * term).backward()
            network.load({name: w.detach() - 0.1 * w.grad for name, w in network.named_parameters()})  # type: ignore[operator]
    held, free, expected = learnt(20.0), learnt(0.0), network.weights()
    assert max(float((held[name] - expected[name]).abs().max()) for name in held) < 1e-6
    assert max(float((free[name] - expected[name]).abs().max()) for name in held) > 1e-3
