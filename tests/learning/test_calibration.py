"""What HFedMS-D keeps and what it leaves alone; the numbers are in test_second_implementation."""

from typing import Any

import pytest
import torch

from hfedms_sim.learning.engine import GenericEngine
from hfedms_sim.learning.networks import StackNetwork, is_classifier
from hfedms_sim.rounds import RoundRecord
from hfedms_sim.strategies.hfedms import HFedMSDynamicSettings
from hfedms_sim.strategies.learners.hfedms import CalibratingLearner
from tests.learning.tiny_factory import SPEC, START, RandomImages, parts, record

pytestmark = pytest.mark.usefixtures("every_engine")

CHAINS = [[0, 1], [2, 3]]


def learner(**changes: Any) -> CalibratingLearner:
    settings = HFedMSDynamicSettings(**({"interval": 3, "memory": 20, "learning_rate": 0.1} | changes))
    return CalibratingLearner(settings, parts())


def play(one: CalibratingLearner, rounds: int, interval: int = 3, size: int = 9) -> None:
    for number in range(1, rounds + 1):
        one.learn(record(number, CHAINS, size, interval=interval))


def test_calibration_leaves_the_extractor_bit_identical_and_moves_the_classifier() -> None:
    one = learner(interval=4)
    play(one, 1, interval=4)
    extractor = {name: value.clone() for name, value in one.weights.items() if not is_classifier(name)}
    classifier = one.weights["classifier.weight"].clone()
    for number in (2, 3, 4):
        one.learn(record(number, CHAINS, 9, interval=4))
        assert all(torch.equal(one.weights[name], value) for name, value in extractor.items())
    assert not torch.equal(one.weights["classifier.weight"], classifier)


def test_without_calibration_rounds_there_is_no_memory() -> None:
    one = learner(interval=1)
    play(one, 4, interval=1)
    assert one.memories == {}


@pytest.mark.parametrize("capacity", [1, 5, 1000])
def test_a_memory_never_holds_more_than_its_capacity(capacity: int) -> None:
    one = learner(memory=capacity)
    for number in range(1, 10):
        one.learn(record(number, CHAINS, 9, interval=3))
        assert all(len(memory.labels) <= capacity for memory in one.memories.values())
    assert all(len(memory.labels) == min(capacity, 9 * 9) for memory in one.memories.values())


def test_nothing_is_stored_before_the_cycle_ends() -> None:
    one = learner()
    play(one, 2)
    assert one.memories == {}
    one.learn(record(3, CHAINS, 9, interval=3))
    assert sorted(one.memories) == [0, 1, 2, 3]


def test_backup_extractors_are_shared_and_as_many_as_cycles_still_in_use() -> None:
    """Sensors 0 and 1 stay in cycle 1's space while 2 and 3 move on to cycle 2's."""
    one = learner()
    play(one, 3)
    assert len({id(memory.extractor) for memory in one.memories.values()}) == 1
    for number in (4, 5, 6):
        one.learn(record(number, [[2], [3]], 9, interval=3))
    spaces = {sensor: id(memory.extractor) for sensor, memory in one.memories.items()}
    assert spaces[0] == spaces[1] != spaces[2] == spaces[3]


def test_without_scc_the_schedule_stays_and_nothing_is_kept() -> None:
    one = learner(scc="off")
    play(one, 6)
    assert one.memories == {}


def test_the_oracle_keeps_every_raw_sample_once_and_sees_it_through_the_newest_extractor() -> None:
    one = learner(scc="oracle", memory=2)
    play(one, 5)
    source = RandomImages()
    memory = one.memories[2]
    assert memory.labels.tolist() == source.labels(2, ((0, 27),)).tolist()
    images = torch.from_numpy(source.inputs(2, ((0, 27),))).reshape(-1, 1, 28, 28)
    expected = GenericEngine(StackNetwork(SPEC)).extract(one.weights, images)
    assert torch.allclose(memory.vectors, expected, atol=1e-6)
    again = learner(scc="oracle")
    for number in range(1, 9):
        again.learn(record(number, CHAINS, 9, interval=3, samples=((0, 9),)))
    assert len(again.memories[2].labels) == 9


def test_a_first_time_sensor_that_skips_leaves_the_classifier_as_it_got_it() -> None:
    """The record says who trained; nobody did, so the classifier is the one of the full round."""
    one = learner(first_time="skip")
    play(one, 1)
    classifier = one.weights["classifier.weight"]
    played = record(2, CHAINS, 9, interval=3)
    chains = tuple(tuple(each._replace(trained=False) for each in chain) for chain in played.chains)
    one.learn(RoundRecord(2, 1, "calibration", chains, played.arrived, 0.0, 1.0))
    assert torch.equal(one.weights["classifier.weight"], classifier)


def test_sensors_without_samples_calibrate_on_their_memory_and_keep_it_in_its_space() -> None:
    one = learner()
    play(one, 3)
    before = one.memories[0]
    for number in (4, 5, 6):
        one.learn(record(number, CHAINS, 0, interval=3, samples=()))
    assert one.memories[0] is before


def test_a_memory_is_compensated_at_the_cycles_end_if_only_the_full_round_had_samples() -> None:
    one = learner()
    play(one, 3)
    one.learn(record(4, CHAINS, 9, interval=3))
    for number in (5, 6):
        one.learn(record(number, CHAINS, 0, interval=3, samples=()))
    extractor = one.memories[0].extractor
    assert all(torch.equal(value, one.weights[name]) for name, value in extractor.items())
    assert len(one.memories[0].labels) == 20


def test_weights_by_samples_count_remembered_vectors_too() -> None:
    """The first chain's sensors have nothing new: only what they remember lets them count."""
    results = []
    for weights in ("samples", "uniform"):
        one = learner(weights=weights)
        play(one, 3)
        one.learn(record(4, CHAINS, 9, interval=3))
        played = record(5, CHAINS, 9, interval=3)
        silent = tuple(each._replace(samples=()) for each in played.chains[0])
        one.learn(RoundRecord(5, 2, "calibration", (silent, played.chains[1]), (True, True), 0.0, 1.0))
        results.append(one.weights["classifier.weight"])
    alone = learner(weights="samples")
    play(alone, 3)
    alone.learn(record(4, CHAINS, 9, interval=3))
    alone.learn(RoundRecord(5, 2, "calibration", (played.chains[1],), (True,), 0.0, 1.0))
    assert not torch.equal(results[0], alone.weights["classifier.weight"])
    assert not torch.equal(results[0], results[1])


def test_storage_by_quota_and_by_the_last_batch_differ_from_the_default() -> None:
    kept = []
    for changes in ({}, {"storage": "per-class"}, {"storage_mean": "batch"}):
        one = learner(memory=8, **changes)
        play(one, 3)
        kept.append(one.memories[0])
    assert all(len(memory.labels) == 8 for memory in kept)
    assert not torch.equal(kept[0].vectors, kept[1].vectors)
    assert not torch.equal(kept[0].vectors, kept[2].vectors)
    assert len(kept[1].labels.unique()) >= len(kept[0].labels.unique())


def test_a_memory_that_begins_with_the_local_set_is_made_when_its_sensor_first_takes_part() -> None:
    one = learner(initial_memory="local-set", memory=5)
    one.learn(record(1, [[2]], 9, interval=3))
    images, labels = RandomImages().local_set(2)
    expected = GenericEngine(StackNetwork(SPEC)).extract(START, torch.from_numpy(images).reshape(-1, 1, 28, 28))
    assert list(one.memories) == [2]
    assert torch.allclose(one.memories[2].vectors, expected, atol=1e-6)
    assert one.memories[2].labels.tolist() == labels.tolist()
    for number in (2, 3):
        one.learn(record(number, [[2]], 9, interval=3))
    assert len(one.memories[2].labels) == 5


def test_a_sensor_that_joins_late_still_begins_in_the_space_of_the_initial_extractor() -> None:
    one = learner(initial_memory="local-set")
    play(one, 3)
    one.learn(record(4, [[0, 5]], 9, interval=3))
    images, _ = RandomImages().local_set(5)
    expected = GenericEngine(StackNetwork(SPEC)).extract(START, torch.from_numpy(images).reshape(-1, 1, 28, 28))
    assert torch.allclose(one.memories[5].vectors, expected, atol=1e-6)
    assert len(one.memories[0].labels) == 20


def test_who_skips_its_first_cycle_stores_its_initial_memory_all_the_same_and_compensated() -> None:
    """With room for all, the memory of 17 is there after the cycle, moved, beside the three batches of 9."""
    one = learner(initial_memory="local-set", first_time="skip", memory=1000)
    one.learn(record(1, [[2]], 9, interval=3))
    initial, classifier = one.memories[2].vectors, one.weights["classifier.weight"]
    for number in (2, 3):
        ((played,),) = record(number, [[2]], 9, interval=3).chains
        chains = ((played._replace(trained=False),),)
        one.learn(RoundRecord(number, 1, "calibration", chains, (True,), 0.0, 1.0))
    assert torch.equal(one.weights["classifier.weight"], classifier)
    assert len(one.memories[2].labels) == 17 + 3 * 9
    assert not torch.allclose(one.memories[2].vectors[:17], initial, atol=1e-4)


@pytest.mark.parametrize("changes", [{"scc": "off"}, {"interval": 1}])
def test_without_a_semantic_memory_the_local_set_has_no_effect(changes: dict[str, Any]) -> None:
    weights = []
    for initial in ("empty", "local-set"):
        one = learner(initial_memory=initial, **changes)
        play(one, 5, interval=changes.get("interval", 3))
        assert one.memories == {}
        weights.append(one.weights)
    assert all(torch.equal(value, weights[1][name]) for name, value in weights[0].items())


def test_calibration_rounds_weigh_chains_by_local_sets_too() -> None:
    """Chains of one sensor with 11 and 26 samples of their own, whatever they captured or remember."""
    ends = []
    for sensor in (0, 5):
        one = learner(weights="local-set", scc="off")
        one.learn(record(1, [[0], [5]], 9, interval=3))
        one.learn(record(2, [[sensor]], 9, interval=3))
        ends.append(one.weights["classifier.weight"])
    both = learner(weights="local-set", scc="off")
    both.learn(record(1, [[0], [5]], 9, interval=3))
    both.learn(record(2, [[0], [5]], 9, interval=3))
    assert torch.allclose(both.weights["classifier.weight"], (11 * ends[0] + 26 * ends[1]) / 37, atol=1e-6)
