"""The distillation term, by hand."""

import torch
from torch.nn import functional

from hfedms_sim.learning.distillation import distilling
from hfedms_sim.learning.networks import Network, initial_weights
from hfedms_sim.seeds import Draws
from tests.learning.tiny_factory import SPEC, START

IMAGES, LABELS = torch.rand(5, 1, 28, 28, generator=torch.Generator().manual_seed(1)), torch.arange(5)


def test_it_is_the_divergence_from_the_model_before_averaged_over_samples_and_classes() -> None:
    teacher, student = Network(SPEC), Network(SPEC)
    teacher.load(START)
    student.load(initial_weights(SPEC, Draws(9)))
    p, q = (functional.softmax(network(IMAGES), dim=1) for network in (teacher, student))
    divergence = (p * (p / q).log()).sum() / (5 * 62)
    expected = functional.cross_entropy(student(IMAGES), LABELS) + 0.5 * divergence
    assert torch.allclose(distilling(START, SPEC, 0.5)(student, IMAGES, LABELS), expected, atol=1e-6)


def test_a_model_that_has_not_moved_pays_nothing() -> None:
    student = Network(SPEC)
    student.load(START)
    with_term = distilling(START, SPEC, 100.0)(student, IMAGES, LABELS)
    assert torch.allclose(with_term, functional.cross_entropy(student(IMAGES), LABELS), atol=1e-6)
