"""HFedMS-Plus's learner: rounds with momentum against the plain mean of the same rounds, with Adam against FedAdam's,
and rounds of a rate that falls against rounds of that rate."""

from dataclasses import replace
from typing import Any

import pytest
import torch

from hfedms_sim.learning.learner import ChainLearner
from hfedms_sim.learning.networks import Weights
from hfedms_sim.rounds import RoundRecord
from hfedms_sim.strategies.fedavg import FedAvgSettings
from hfedms_sim.strategies.fedopt import FedAdamSettings
from hfedms_sim.strategies.hfedms_plus import HFedMSPlusSettings, momentum_of
from hfedms_sim.strategies.learners.fedopt import AdaptiveServerLearner
from hfedms_sim.strategies.learners.hfedms_plus import PlusLearner
from tests.learning.tiny_factory import START, parts, record

RATE = 0.1
TWO_CHAINS = [[0, 1], [2, 3]]


def plus(**settings: Any) -> PlusLearner:
    return PlusLearner(
        HFedMSPlusSettings(learning_rate=RATE, **{"server": "momentum", "halving_sensors": None} | settings), parts()
    )


def mean_of(start: Weights, round_: RoundRecord, rate: float = RATE) -> Weights:
    """Return the mean of what the chains make of `start`."""
    plain = ChainLearner(FedAvgSettings(learning_rate=rate, weights="uniform"), parts(start))
    plain.learn(round_)
    return plain.weights


@pytest.mark.parametrize(("chains", "momentum"), [(0, 0.0), (1, 0.0), (3, 0.0), (4, 0.25), (6, 0.5), (12, 0.75)])
def test_the_more_chains_the_more_momentum(chains: int, momentum: float) -> None:
    assert momentum_of(HFedMSPlusSettings(), chains) == pytest.approx(momentum)
    assert momentum_of(HFedMSPlusSettings(server_momentum=0.4), chains) == 0.4


def test_a_step_is_the_means_and_a_share_of_the_last() -> None:
    learner = plus(server_momentum=0.5)
    weights, step = START, {name: torch.zeros_like(value) for name, value in START.items()}
    for number in (1, 2, 3):
        round_ = record(number, TWO_CHAINS, 5)
        mean = mean_of(weights, round_)
        step = {name: 0.5 * step[name] + mean[name] - weights[name] for name in mean}
        weights = {name: weights[name] + step[name] for name in mean}
        learner.learn(round_)
        for name, value in weights.items():
            torch.testing.assert_close(learner.weights[name], value)
        weights = learner.weights


def test_the_mean_of_three_chains_is_taken_as_it_is() -> None:
    learner, weights = plus(), START
    for number in (1, 2):
        round_ = record(number, [[0, 1], [2, 3], [4]], 5)
        weights = mean_of(weights, round_)
        learner.learn(round_)
        assert all(torch.equal(learner.weights[name], value) for name, value in weights.items())


def test_only_chains_that_arrived_count() -> None:
    """Six chains of which three are lost are three."""
    whole = record(2, [[sensor] for sensor in range(6)], 5)
    half = replace(whole, arrived=(True, False) * 3)
    learner = plus()
    learner.learn(record(1, TWO_CHAINS, 5))
    mean = mean_of(learner.weights, half)
    learner.learn(half)
    assert all(torch.equal(learner.weights[name], value) for name, value in mean.items())


def test_calibration_neither_takes_nor_changes_the_last_step() -> None:
    learner = plus(server_momentum=0.5)
    learner.learn(record(1, TWO_CHAINS, 5, interval=2))
    before = learner.state()
    extractor = {name: value for name, value in learner.weights.items() if not name.startswith("classifier")}
    learner.learn(record(2, TWO_CHAINS, 5, interval=2))
    after = learner.state()
    steps = [name for name in before if name.startswith("step")]
    assert len(steps) == len(START)
    assert all((before[name] == after[name]).all() for name in steps)
    assert all(torch.equal(learner.weights[name], value) for name, value in extractor.items())


def test_a_restored_learner_goes_on_with_the_same_momentum() -> None:
    learner, restored = plus(server_momentum=0.5), plus(server_momentum=0.5)
    learner.learn(record(1, TWO_CHAINS, 5))
    restored.restore(learner.state())
    for each in (learner, restored):
        each.learn(record(2, TWO_CHAINS, 5))
    assert all(torch.equal(restored.weights[name], value) for name, value in learner.weights.items())


def adam(start: Weights) -> AdaptiveServerLearner:
    """Return FedAdam with this rate of the sensors, and the plain mean of what arrives."""
    settings = FedAdamSettings(learning_rate=RATE, server_learning_rate=0.015, weights="uniform")
    return AdaptiveServerLearner(settings, parts(start))


def test_after_short_chains_the_server_is_fedadams() -> None:
    learner, fedadam = plus(server="auto"), adam(START)
    for number in (1, 2, 3):
        for each in (learner, fedadam):
            each.learn(record(number, TWO_CHAINS, 5))
        assert all(torch.equal(learner.weights[name], value) for name, value in fedadam.weights.items())


def test_chains_are_long_by_the_mean_of_those_that_arrived() -> None:
    """Chains of eight and four are six in the mean; without the long one they are short."""
    round_ = record(1, [list(range(8)), [8, 9, 10, 11]], 5)
    long, short = plus(server="auto"), plus(server="auto")
    long.learn(round_)
    assert all(torch.equal(long.weights[name], value) for name, value in mean_of(START, round_).items())
    without = replace(round_, arrived=(False, True))
    short.learn(without)
    fedadam = adam(START)
    fedadam.learn(without)
    assert all(torch.equal(short.weights[name], value) for name, value in fedadam.weights.items())


def test_a_restored_learner_goes_on_with_adams_moments() -> None:
    learner, restored = plus(server="auto"), plus(server="auto")
    learner.learn(record(1, TWO_CHAINS, 5))
    restored.restore(learner.state())
    for each in (learner, restored):
        each.learn(record(2, TWO_CHAINS, 5))
    assert all(torch.equal(restored.weights[name], value) for name, value in learner.weights.items())


def test_the_rate_falls_with_the_sensors_that_the_model_has_gone_through() -> None:
    """Chains of two and four are three in a row; calibration goes through nobody, lost chains count for nothing."""
    learner, chains = plus(server_momentum=0, halving_sensors=3), [[0, 1], [2, 3, 4, 5]]
    learner.learn(record(1, chains, 5, interval=2))
    first = learner.weights
    assert all(torch.equal(first[name], value) for name, value in mean_of(START, record(1, chains, 5)).items())
    learner.learn(record(2, chains, 5, interval=2))
    third = replace(record(3, chains, 5, interval=2), arrived=(True, False))
    expected = mean_of(learner.weights, third, rate=RATE / 2)
    learner.learn(third)
    assert all(torch.equal(learner.weights[name], value) for name, value in expected.items())
    last = record(5, chains, 5, interval=2)
    expected = mean_of(learner.weights, last, rate=RATE / (1 + 5 / 3))
    learner.learn(last)
    assert all(torch.equal(learner.weights[name], value) for name, value in expected.items())


def test_calibration_has_the_same_rate() -> None:
    """A third of it moves the classifier about a third as far."""
    moved = []
    for halving in (None, 1.0):
        learner = plus(halving_sensors=halving)
        learner.learn(record(1, TWO_CHAINS, 5, interval=2))
        before = learner.weights
        learner.learn(record(2, TWO_CHAINS, 5, interval=2))
        moved.append(sum(float((learner.weights[name] - value).norm()) for name, value in before.items()))
    assert moved[1] == pytest.approx(moved[0] / 3, rel=0.1)


def test_a_restored_learner_goes_on_at_the_same_rate() -> None:
    learner, restored = plus(halving_sensors=3), plus(halving_sensors=3)
    learner.learn(record(1, TWO_CHAINS, 5))
    restored.restore(learner.state())
    for each in (learner, restored):
        each.learn(record(2, TWO_CHAINS, 5))
    assert all(torch.equal(restored.weights[name], value) for name, value in learner.weights.items())
