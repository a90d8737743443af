"""The server optimisers and FedProx against Flower, another federated learning library, on random tensors.

Where it differs from us on purpose, its choice is set here: it starts v at 0 (ours tau^2), and corrects Adam's rate by
sqrt(1 - b2^(t + 1)) / (1 - b1^(t + 1)) in round t (ours not at all). Its FedProx is a server that averages and sends
mu; what the clients minimise is in its documentation, as the formula that is written out below.
"""

from typing import Any

import numpy as np
import pytest
import torch
from torch.nn import functional

from hfedms_sim.learning.engine import LocalSet
from hfedms_sim.learning.merging import RunningMean
from hfedms_sim.learning.networks import StackNetwork, Weights
from hfedms_sim.strategies.fedprox import FedProxSettings
from hfedms_sim.strategies.learners.fedopt import Rule, ServerOptimiser
from hfedms_sim.strategies.learners.fedprox import ProximalLearner
from tests.learning.tiny_factory import SPEC, START, parts, record

pytest.importorskip("flwr", reason="Flower is not installed: pip install flwr, in an environment of its own")
pytestmark = pytest.mark.filterwarnings("ignore")  # what Flower says of itself is no concern of ours

RATE, TAU, BETA1, BETA2 = 0.1, 0.01, 0.9, 0.99
SHAPES = {"a": (4, 3), "b": (5,)}
SIZES = (9, 5, 2)


def random_weights(random: np.random.Generator) -> Weights:
    return {name: torch.from_numpy(random.normal(size=shape)) for name, shape in SHAPES.items()}


def flower_strategy(rule: str, start: Weights) -> Any:
    from flwr.common import ndarrays_to_parameters
    from flwr.server import strategy

    given: dict[str, Any] = {"initial_parameters": ndarrays_to_parameters([value.numpy() for value in start.values()])}
    if rule == "prox":
        return strategy.FedProx(proximal_mu=0.7, **given)
    given |= {"eta": RATE, "tau": TAU}
    if rule == "adagrad":
        return strategy.FedAdagrad(**given)
    kind = strategy.FedAdam if rule == "adam" else strategy.FedYogi
    return kind(beta_1=BETA1, beta_2=BETA2, **given)


def flower_round(server: Any, number: int, models: list[Weights]) -> list[np.ndarray]:
    from flwr.common import Code, FitRes, Status, ndarrays_to_parameters, parameters_to_ndarrays

    results = [
        (None, FitRes(Status(Code.OK, ""), ndarrays_to_parameters([v.numpy() for v in model.values()]), size, {}))
        for model, size in zip(models, SIZES, strict=True)
    ]
    merged, _ = server.aggregate_fit(number, results, [])
    return parameters_to_ndarrays(merged)


def mean_of(models: list[Weights]) -> Weights:
    mean = RunningMean()
    for model, size in zip(models, SIZES, strict=True):
        mean.add(model, size)
    found = mean.result()
    assert found is not None
    return found


def flowers_correction(rule: str, number: int) -> float:
    return float(np.sqrt(1 - BETA2 ** (number + 1)) / (1 - BETA1 ** (number + 1))) if rule == "adam" else 1.0


@pytest.mark.parametrize("rule", ["adagrad", "adam", "yogi"])
def test_five_rounds_of_a_server_optimiser_are_flowers(rule: Rule) -> None:
    random = np.random.default_rng(1)
    now = random_weights(random)
    theirs = flower_strategy(rule, now)
    ours = ServerOptimiser(rule, RATE, TAU, BETA1, BETA2)
    ours.second = {name: torch.zeros_like(value) for name, value in now.items()}
    for number in range(1, 6):
        models = [{name: value + 0.3 * random_weights(random)[name] for name, value in now.items()} for _ in SIZES]
        ours.rate = RATE * flowers_correction(rule, number)
        now = ours.step(now, mean_of(models))
        for value, other in zip(now.values(), flower_round(theirs, number, models), strict=True):
            assert np.allclose(value.numpy(), other, rtol=1e-9, atol=1e-12)
        for value, other in zip(ours.second.values(), theirs.v_t, strict=True):
            assert np.allclose(value.numpy(), other, rtol=1e-9, atol=1e-12)


@pytest.mark.parametrize("rule", ["adagrad", "adam", "yogi"])
def test_the_differences_are_real(rule: Rule) -> None:
    """Without setting them, one round differs: the test above would see them."""
    random = np.random.default_rng(1)
    start = random_weights(random)
    models = [{name: value + 0.01 * random_weights(random)[name] for name, value in start.items()} for _ in SIZES]
    ours = ServerOptimiser(rule, RATE, TAU, BETA1, BETA2).step(start, mean_of(models))
    theirs = flower_round(flower_strategy(rule, start), 1, models)
    assert not np.allclose(ours["a"].numpy(), theirs[0], rtol=1e-3, atol=1e-5)


def client(local: LocalSet, mu: float, rate: float, size: int) -> Weights:
    """Flower's documented loss, (mu / 2) |w - w^t|^2, through autograd and torch's own optimiser."""
    network = StackNetwork(SPEC)
    network.load(START)
    optimiser = torch.optim.SGD(network.parameters(), lr=rate)
    for order in local.epochs:
        for chosen in order.split(size):
            optimiser.zero_grad()
            loss = functional.cross_entropy(network(local.inputs[chosen]), local.labels[chosen])
            moved = sum((value - START[name]).square().sum() for name, value in network.named_parameters())
            (loss + mu / 2 * moved).backward()
            optimiser.step()
    return network.weights()


def test_a_round_of_fedprox_is_flowers_mean_of_clients_with_its_loss() -> None:
    mu, rate, size = 0.7, 0.1, 4
    learner = ProximalLearner(FedProxSettings(mu=mu, learning_rate=rate, batch_size=size), parts())
    played = record(1, [[0], [1], [2]], 1)
    chains = tuple(
        (each._replace(samples=((0, samples),)),) for (each,), samples in zip(played.chains, SIZES, strict=True)
    )
    played = type(played)(1, 1, "full", chains, played.arrived, 0.0, 1.0)
    theirs = flower_strategy("prox", START)
    ends = [client(learner.local_set(each, 1), theirs.proximal_mu, rate, size) for (each,) in played.chains]
    learner.learn(played)
    for value, other in zip(learner.weights.values(), flower_round(theirs, 1, ends), strict=True):
        assert np.allclose(value.numpy(), other, atol=1e-6)
