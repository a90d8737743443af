"""Chains, means and their limits, against plain loops of stochastic gradient descent."""

import numpy as np
import pytest
import torch

from hfedms_sim.learning.learner import is_finite
from hfedms_sim.rounds import RoundRecord
from hfedms_sim.strategies.fedavg import FedAvgSettings
from hfedms_sim.strategies.hfedms import HFedMSStaticSettings
from tests.learning.second_hfedms import Settings, Visit, play
from tests.learning.tiny_factory import SHUFFLES, START, RandomImages, chain_learner, record

pytestmark = pytest.mark.usefixtures("every_engine")

SGD = {"learning_rate": 0.1, "batch_size": 4}
SOURCE = RandomImages()


def alone(sensor: int, size: int, start: dict[str, np.ndarray] | None = None) -> dict[str, np.ndarray]:
    """Where one sensor ends that trains from `start` in round 1, in plain loops."""
    images = SOURCE.inputs(sensor, ((0, size),)).reshape(-1, 784).astype(np.float64)
    visit = Visit(sensor, images, SOURCE.labels(sensor, ((0, size),)))
    start = {name: value.double().numpy() for name, value in START.items()} if start is None else start
    settings = Settings(interval=1, memory=1, scc="off", **SGD)
    (ended,) = play(start, [[[visit]]], settings, lambda s, r, n, e: SHUFFLES.of(s, r, n, e + 1)[e].numpy())
    return ended


def assert_same(weights: dict[str, torch.Tensor], expected: dict[str, np.ndarray]) -> None:
    for name, value in weights.items():
        assert float((torch.as_tensor(expected[name]) - value).abs().max()) < 1e-6, name


def learnt(settings: FedAvgSettings | HFedMSStaticSettings, played: RoundRecord) -> dict[str, torch.Tensor]:
    learner = chain_learner(settings)
    learner.learn(played)
    return learner.weights


def sizes_differ(sizes: dict[int, int]) -> RoundRecord:
    played = record(1, [[sensor] for sensor in sizes], 1)
    chains = tuple((chain[0]._replace(samples=((0, sizes[chain[0].sensor]),)),) for chain in played.chains)
    return RoundRecord(1, 1, "full", chains, played.arrived, 0.0, 1.0)


def test_fedavg_weighs_each_sensor_by_its_samples() -> None:
    """w = (9 w_0 + 5 w_1 + 2 w_2) / 16."""
    sizes = {0: 9, 1: 5, 2: 2}
    ends = {sensor: alone(sensor, size) for sensor, size in sizes.items()}
    expected = {name: sum(sizes[s] * ends[s][name] for s in sizes) / 16 for name in START}
    assert_same(learnt(FedAvgSettings(**SGD), sizes_differ(sizes)), expected)


def test_uniform_weights_do_not_look_at_the_samples() -> None:
    sizes = {0: 9, 1: 5, 2: 2}
    ends = [alone(sensor, size) for sensor, size in sizes.items()]
    expected = {name: sum(end[name] for end in ends) / 3 for name in START}
    assert_same(learnt(FedAvgSettings(**SGD, weights="uniform"), sizes_differ(sizes)), expected)


def test_weights_by_local_sets_do_not_look_at_what_was_captured() -> None:
    """Sensors 0, 1 and 2 own 11, 14 and 17 train samples."""
    sizes = {0: 9, 1: 5, 2: 2}
    ends = [alone(sensor, size) for sensor, size in sizes.items()]
    expected = {name: (11 * ends[0][name] + 14 * ends[1][name] + 17 * ends[2][name]) / 42 for name in START}
    assert_same(learnt(FedAvgSettings(**SGD, weights="local-set"), sizes_differ(sizes)), expected)


def test_a_chain_weighs_as_much_as_the_local_sets_of_all_its_sensors() -> None:
    ends = alone(1, 6, alone(0, 6)), alone(2, 6)
    expected = {name: (25 * ends[0][name] + 17 * ends[1][name]) / 42 for name in START}
    assert_same(learnt(HFedMSStaticSettings(**SGD, weights="local-set"), record(1, [[0, 1], [2]], 6)), expected)


def test_a_chain_hands_its_weights_on_in_order() -> None:
    expected = alone(2, 6, alone(0, 6, alone(1, 6)))
    assert_same(learnt(HFedMSStaticSettings(**SGD), record(1, [[1, 0, 2]], 6)), expected)
    with pytest.raises(AssertionError):
        assert_same(learnt(HFedMSStaticSettings(**SGD), record(1, [[0, 1, 2]], 6)), expected)


def test_the_server_takes_the_mean_of_the_groups() -> None:
    ends = alone(1, 6, alone(0, 6)), alone(2, 6)
    expected = {name: (ends[0][name] + ends[1][name]) / 2 for name in START}
    assert_same(learnt(HFedMSStaticSettings(**SGD), record(1, [[0, 1], [2]], 6)), expected)


def test_as_many_groups_as_sensors_is_fedavg_with_uniform_weights() -> None:
    played = record(1, [[0], [1], [2], [3]], 7)
    chains, fedavg = learnt(HFedMSStaticSettings(**SGD), played), learnt(FedAvgSettings(**SGD), played)
    assert all(torch.allclose(chains[name], fedavg[name], atol=1e-7) for name in chains)


def test_one_group_of_everybody_is_one_pass_of_sgd() -> None:
    """Over all sensors' samples in the chain's order; 8 samples are two whole mini-batches."""
    end = None
    for sensor in (3, 1, 0, 2):
        end = alone(sensor, 8, end)
    assert end is not None
    assert_same(learnt(HFedMSStaticSettings(**SGD), record(1, [[3, 1, 0, 2]], 8)), end)


def test_a_sensor_that_did_not_train_passes_the_model_on() -> None:
    played = record(1, [[0, 1, 2]], 6)
    first, second, third = played.chains[0]
    skipped = RoundRecord(1, 1, "full", ((first, second._replace(trained=False), third),), (True,), 0.0, 1.0)
    assert_same(learnt(HFedMSStaticSettings(**SGD), skipped), alone(2, 6, alone(0, 6)))


def test_a_chain_that_was_lost_does_not_count() -> None:
    played = record(1, [[0], [1]], 6)
    lost = RoundRecord(1, 1, "full", played.chains, (True, False), 0.0, 1.0)
    assert_same(learnt(HFedMSStaticSettings(**SGD), lost), alone(0, 6))


@pytest.mark.parametrize("settings", [FedAvgSettings(), HFedMSStaticSettings()], ids=lambda each: each.name)
def test_an_empty_round_changes_nothing(settings: FedAvgSettings | HFedMSStaticSettings) -> None:
    nobody = RoundRecord(1, 1, "full", (), (), 0.0, 1.0)
    nothing = record(1, [[0], [1]], 0, samples=())
    lost = RoundRecord(1, 1, "full", record(1, [[0]], 3).chains, (False,), 0.0, 1.0)
    for played in (nobody, nothing, lost):
        weights = learnt(settings, played)
        assert all(torch.equal(weights[name], START[name]) for name in START)


def test_learning_is_the_same_bit_for_bit_and_leaves_torchs_generator_alone() -> None:
    torch.manual_seed(3)
    before = torch.get_rng_state()
    first, second = (learnt(HFedMSStaticSettings(**SGD), record(1, [[0, 1], [2]], 9)) for _ in range(2))
    assert all(torch.equal(first[name], second[name]) for name in first)
    assert torch.equal(before, torch.get_rng_state())


def test_divergence_is_noticed() -> None:
    learner = chain_learner(FedAvgSettings(learning_rate=1e12, batch_size=4))
    for number in range(1, 4):
        learner.learn(record(number, [[0]], 8))
    assert is_finite(START)
    assert not is_finite(learner.weights)
