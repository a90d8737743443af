"""Adam at the sensors: torch's own by hand, moments that no sensor is sent, and what FedProx's pull goes through."""

import pytest
import torch

from hfedms_sim.learning.engine import GenericEngine, LocalSet, Sgd
from hfedms_sim.learning.learner import ChainLearner
from hfedms_sim.learning.networks import StackNetwork, Weights, is_classifier
from hfedms_sim.strategies.fedavg import FedAvgSettings
from hfedms_sim.strategies.hfedms import HFedMSDynamicSettings
from hfedms_sim.strategies.learners.hfedms import CalibratingLearner
from tests.learning.test_fedprox import gradient
from tests.learning.tiny_factory import SPEC, START, RandomImages, parts, record

RATE, SIZE = 0.01, 4
ADAM = Sgd(RATE, SIZE, optimiser="adam")


def local_set(sensor: int, size: int = 3 * SIZE) -> LocalSet:
    source = RandomImages()
    images = torch.from_numpy(source.inputs(sensor, ((0, size),))).reshape(-1, 1, 28, 28)
    return LocalSet(images, torch.from_numpy(source.labels(sensor, ((0, size),))), (torch.arange(size).flip(0),))


def by_hand(chain: list[LocalSet], pull: float = 0.0) -> Weights:
    """Kingma and Ba's algorithm 1, in double precision; the moments are zero whenever a sensor begins."""
    weights = {name: value.double() for name, value in START.items()}
    for local in chain:
        first, second = ({name: torch.zeros_like(value) for name, value in weights.items()} for _ in range(2))
        for step, chosen in enumerate(local.epochs[0].split(SIZE), start=1):
            slopes = gradient(weights, local.inputs[chosen].double(), local.labels[chosen])
            for name, value in weights.items():
                slope = slopes[name] + pull * (value - START[name])
                first[name] = 0.9 * first[name] + 0.1 * slope
                second[name] = 0.999 * second[name] + 0.001 * slope**2
                m, v = first[name] / (1 - 0.9**step), second[name] / (1 - 0.999**step)
                weights[name] = value - RATE * m / (v.sqrt() + 1e-8)
    return weights


def furthest(one: Weights, other: Weights) -> float:
    return max(float((one[name] - other[name]).abs().max()) for name in one)


@pytest.mark.parametrize("pull", [0.0, 0.7])
def test_a_chain_descends_by_the_formula_with_moments_that_start_anew_at_every_sensor(pull: float) -> None:
    network = StackNetwork(SPEC).to(dtype=torch.float64)
    start = {name: value.double() for name, value in START.items()}
    chain = [local_set(0), local_set(1)]
    wide = [local._replace(inputs=local.inputs.double()) for local in chain]
    learnt = GenericEngine(network).train_models(start, [wide], [1.0], ADAM._replace(proximal=pull))
    assert furthest(learnt, by_hand(chain, pull)) < 1e-9
    one_set = LocalSet(
        torch.cat([local.inputs for local in wide]), torch.cat([local.labels for local in wide]), (torch.arange(24),)
    )
    one_set = one_set._replace(epochs=(torch.cat([torch.arange(12).flip(0), torch.arange(12, 24).flip(0)]),))
    kept = GenericEngine(network).train_models(start, [[one_set]], [1.0], ADAM._replace(proximal=pull))
    assert furthest(kept, learnt) > 1e-3  # moments handed on would show


def test_the_key_chooses_it() -> None:
    learnt = {}
    for optimiser in ("sgd", "adam"):
        settings = FedAvgSettings(learning_rate=RATE, batch_size=SIZE, local_optimiser=optimiser)  # type: ignore[arg-type]
        learner = ChainLearner(settings, parts())
        learner.learn(record(1, [[0]], 8))
        learnt[optimiser] = learner.weights
    local = learner.local_set(next(iter(record(1, [[0]], 8).participations)), 1)
    assert furthest(learnt["adam"], by_hand([local])) < 1e-4
    assert furthest(learnt["sgd"], learnt["adam"]) > 5e-3


def test_the_classifier_is_calibrated_by_it_too() -> None:
    """Each weight of the first step moves by the rate, whatever its gradient."""
    settings = HFedMSDynamicSettings(interval=2, learning_rate=RATE, batch_size=8, local_optimiser="adam")
    learner = CalibratingLearner(settings, parts())
    learner.learn(record(1, [[0]], 8, interval=2))
    before = learner.weights
    learner.learn(record(2, [[0]], 8, interval=2))
    moved = (learner.weights["classifier.bias"] - before["classifier.bias"]).abs()
    assert torch.allclose(moved, torch.full_like(moved, RATE), rtol=1e-3)
    assert all(torch.equal(value, before[name]) for name, value in learner.weights.items() if not is_classifier(name))
