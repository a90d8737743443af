"""FedProx's pull, by hand: w <- w - rate (gradient + mu (w - w_start))."""

import pytest
import torch
from torch.nn import functional

from hfedms_sim.learning.engine import LocalSet, Sgd
from hfedms_sim.learning.engine.chain_models import distance
from hfedms_sim.learning.learner import ChainLearner
from hfedms_sim.learning.networks import Weights
from hfedms_sim.strategies.fedavg import FedAvgSettings
from hfedms_sim.strategies.fedprox import FedProxSettings
from hfedms_sim.strategies.learners.fedprox import ProximalLearner
from tests.learning.tiny_factory import START, RandomImages, parts, record

pytestmark = pytest.mark.usefixtures("every_engine")

RATE, MU = 0.1, 0.7
SIZE = 4  # of a mini-batch, and half of what a sensor captures: two steps a round
SGD = {"learning_rate": RATE, "batch_size": SIZE}


def gradient(weights: Weights, images: torch.Tensor, labels: torch.Tensor) -> Weights:
    """Return the gradient of the mean cross-entropy of one hidden layer, the product's network left aside."""
    variables = {name: value.clone().requires_grad_() for name, value in weights.items()}
    w1, b1, w2, b2 = variables.values()
    hidden = functional.relu(images.flatten(1) @ w1.T + b1)
    functional.cross_entropy(hidden @ w2.T + b2, labels).backward()
    return {name: value.grad for name, value in variables.items()}  # type: ignore[misc]


def steps_by_hand(local: LocalSet, mu: float) -> Weights:
    weights = START
    (order,) = local.epochs
    for chosen in order.split(SIZE):
        slope = gradient(weights, local.inputs[chosen], local.labels[chosen])
        weights = {name: w - RATE * (slope[name] + mu * (w - START[name])) for name, w in weights.items()}
    return weights


def local_set(sensor: int = 0, size: int = 2 * SIZE) -> LocalSet:
    source = RandomImages()
    images = torch.from_numpy(source.inputs(sensor, ((0, size),))).reshape(-1, 1, 28, 28)
    return LocalSet(images, torch.from_numpy(source.labels(sensor, ((0, size),))), (torch.arange(size).flip(0),))


def ended(chain: list[LocalSet], mu: float) -> Weights:
    (end,) = all_ended([chain], mu)
    return end


def all_ended(chains: list[list[LocalSet]], mu: float) -> list[Weights]:
    ends = parts().engine.train_chains(START, chains, Sgd(RATE, SIZE, mu))
    models = {number: {name: value.clone() for name, value in model.items()} for number, model in ends.models()}
    return [models[number] for number in range(len(chains))]


def furthest(one: Weights, other: Weights) -> float:
    return max(float((one[name] - other[name]).abs().max()) for name in one)


def test_two_steps_are_those_of_the_formula() -> None:
    local = local_set()
    expected = steps_by_hand(local, MU)
    assert furthest(ended([local], MU), expected) < 1e-6
    assert furthest(steps_by_hand(local, 0.0), expected) > 1e-4  # the term matters


def test_the_first_step_feels_no_pull() -> None:
    """It starts from where it would be pulled to."""
    local = local_set(size=SIZE)
    assert all(torch.equal(value, ended([local], 0.0)[name]) for name, value in ended([local], 100.0).items())


def test_every_sensor_is_pulled_to_the_rounds_start_not_to_where_another_ended() -> None:
    one, other = local_set(0), local_set(1)
    ends = all_ended([[one], [other]], MU)
    assert furthest(ends[0], steps_by_hand(one, MU)) < 1e-6
    assert furthest(ends[1], steps_by_hand(other, MU)) < 1e-6


@pytest.mark.parametrize("mu", [0.0, MU])
def test_only_without_a_pull_is_it_fedavg_bit_for_bit(mu: float) -> None:
    proximal = ProximalLearner(FedProxSettings(mu=mu, **SGD), parts())
    plain = ChainLearner(FedAvgSettings(**SGD), parts())
    for number in (1, 2):
        for learner in (proximal, plain):
            learner.learn(record(number, [[0], [1], [2]], 9))
    same = [torch.equal(proximal.weights[name], plain.weights[name]) for name in START]
    assert all(same) if mu == 0.0 else not any(same)


def test_the_server_takes_fedavgs_mean_of_models_that_were_pulled() -> None:
    learner = ProximalLearner(FedProxSettings(mu=MU, **SGD), parts())
    played = record(1, [[0], [1]], 2 * SIZE)
    learner.learn(played)
    chains = [[learner.local_set(each, 1)] for each in played.participations]
    ends = [steps_by_hand(local, MU) for (local,) in chains]
    assert furthest(learner.weights, {name: (ends[0][name] + ends[1][name]) / 2 for name in START}) < 1e-6


def test_the_stronger_the_pull_the_nearer_the_start() -> None:
    """Over ten steps of little noise."""
    local = local_set(size=10 * SIZE)
    moved = [distance(ended([local], mu), START) for mu in (0.0, 1.0, 8.0)]
    assert moved == sorted(moved, reverse=True)
    assert len(set(moved)) == 3
