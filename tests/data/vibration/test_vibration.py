"""The machine park's data set: pure, lazy, balanced where it is tested, and nothing for a linear classifier."""

import pickle
from hashlib import sha256
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from hfedms_sim.data.vibration import vibration as vibration_module
from hfedms_sim.data.vibration.labels import Condition, VibrationLabels
from hfedms_sim.data.vibration.vibration import FIRST_TEST_ARRIVAL, Vibration
from hfedms_sim.seeds import Draws

Real = NDArray[np.float64]

DIGEST = "5e654049d532517c30056226d9b11a464c1a9ad61fca849624b0d203bdf1fa5f"


def park(**changes: Any) -> Vibration:
    return Vibration(**{"seed": 1, "machines": 20} | changes)


def test_windows_are_series_of_1024_samples_in_one_channel() -> None:
    windows = park().series(np.array([3, 4]), np.array([0, 7]))
    assert (windows.shape, windows.dtype) == ((2, 1, 1024), np.float32)
    assert np.array_equal(np.rint(windows * 1024), windows * 1024)
    assert 0.1 < windows.std() < 5


@settings(max_examples=10, deadline=None)
@given(order=st.permutations(range(12)), evenly=st.booleans())
def test_a_window_is_the_same_in_whatever_order_and_company_it_is_asked_for(order: list[int], evenly: bool) -> None:
    data = park(sensors_per_machine=3, evenly=evenly)
    sensors = np.array([0, 0, 59, 7, 7, 7, 31, 2, 2, 40, 41, 42])
    arrivals = np.array([0, 1, 0, 5, 10**6, FIRST_TEST_ARRIVAL, 3, 3, 2, 0, 0, 0])
    together = data.series(sensors, arrivals)
    shuffled = data.series(sensors[order], arrivals[order])
    assert np.array_equal(shuffled, together[order])
    assert np.array_equal(data.series(sensors[order[:1]], arrivals[order[:1]]), together[order[:1]])
    assert np.array_equal(data.labels(sensors[order], arrivals[order]), data.labels(sensors, arrivals)[order])


def test_windows_do_not_depend_on_the_chunks_they_are_made_in(monkeypatch: pytest.MonkeyPatch) -> None:
    sensors, arrivals = np.arange(20), np.arange(20)
    whole = park().series(sensors, arrivals)
    monkeypatch.setattr(vibration_module, "_CHUNK_WINDOWS", 7)
    assert np.array_equal(park().series(sensors, arrivals), whole)


def test_more_machines_move_nobody_elses_windows_and_another_seed_moves_all() -> None:
    few, many, other = park(machines=3), park(machines=3000), park(seed=2)
    assert np.array_equal(few.train_labels(2), many.train_labels(2))
    pair = np.array([2]), np.array([5])
    assert np.array_equal(few.series(*pair), many.series(*pair))
    assert not np.array_equal(few.series(*pair), other.series(*pair))


def test_train_parts_are_the_first_arrivals_and_lie_between_120_and_240() -> None:
    data = park(machines=2000)
    devices = np.arange(2000)
    sizes = data.train_sizes(devices)
    assert (sizes.min(), sizes.max()) == (data.least_train_samples, 240)
    labels, offsets = data.train_labels_of(devices[:50])
    assert np.diff(offsets).tolist() == sizes[:50].tolist()
    for device in (0, 31, 49):
        one = data.train_labels(device)
        assert labels[offsets[device] : offsets[device + 1]].tolist() == one.tolist()
        assert one.tolist() == data.labels(np.full(sizes[device], device), np.arange(sizes[device])).tolist()


def test_windows_of_both_parts_go_with_their_labels() -> None:
    data = park()
    assert data.train_inputs(5).shape == (len(data.train_labels(5)), 1, 1024)
    assert data.test_inputs(5).shape == (len(data.test_labels(5)), 1, 1024)
    assert data.test_sizes(np.arange(20)).tolist() == [len(data.test_labels(5))] * 20


@pytest.mark.parametrize("evenly", [False, True])
def test_every_sensors_test_part_has_all_conditions_alike_at_its_own_machine(evenly: bool) -> None:
    data = park(faults_per_machine=1, evenly=evenly)
    for device in (0, 7, 19):
        assert np.bincount(data.test_labels(device)).tolist() == [4] * len(Condition)
    assert np.array_equal(data.test_inputs(7), park(faults_per_machine=1).test_inputs(7))


def test_sensors_train_on_what_their_machine_has() -> None:
    data = park(sensors_per_machine=3, faults_per_machine=2)
    for sensor in (0, 4, 59):
        possible = np.flatnonzero(data.weights(np.array([sensor]))[0])
        assert set(data.train_labels(sensor).tolist()) == set(possible.tolist())
    assert data.devices == 60


def test_labels_and_sizes_record_no_window(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: object) -> None:
        raise AssertionError("a window was recorded")

    monkeypatch.setattr(vibration_module, "recorded", refuse)
    data = park()
    data.train_labels(0), data.test_labels(0), data.train_sizes(np.arange(9)), data.train_labels_of(np.arange(9))
    with pytest.raises(AssertionError, match="recorded"):
        data.train_inputs(0)


def test_content_tells_apart_whatever_differs() -> None:
    changes = [
        {},
        {"seed": 2},
        {"machines": 21},
        {"sensors_per_machine": 2},
        {"faults_per_machine": 2},
        {"evenly": True},
    ]
    assert len({str(park(**change).content) for change in changes}) == len(changes)


def test_the_generators_version_stands_for_these_very_windows() -> None:
    """If this fails, labels or samples have changed: raise GENERATOR_VERSION, then renew the digest."""
    sensors, arrivals = np.repeat(np.arange(4), 5), np.tile(np.arange(5), 4)
    data = park(sensors_per_machine=2)
    labels, windows = data.labels(sensors, arrivals), data.series(sensors, arrivals)
    steps = np.rint(windows * 1024).astype("<i2")
    digest = sha256(labels.astype("<i8").tobytes() + steps.tobytes()).hexdigest()
    assert (vibration_module.GENERATOR_VERSION, digest) == (1, DIGEST)


def linear_accuracy(train: Real, train_labels: Any, test: Real, test_labels: Any) -> float:
    """Return the test accuracy of a logistic regression, trained by gradient descent with weight decay."""
    weights, bias = np.zeros((train.shape[1], 10)), np.zeros(10)
    wanted = np.eye(10)[train_labels]
    best = 0.0
    for step in range(150):
        logits = train @ weights + bias
        odds = np.exp(logits - logits.max(axis=1, keepdims=True))
        error = odds / odds.sum(axis=1, keepdims=True) - wanted
        weights -= 0.05 * (train.T @ error / len(train) + 1e-3 * weights)
        bias -= 0.05 * error.mean(axis=0)
        if step % 20 == 19:
            best = max(best, float(np.mean((test @ weights + bias).argmax(axis=1) == test_labels)))
    return best


def test_a_logistic_regression_on_raw_samples_stays_below_40_percent() -> None:
    """Stopped where it is best on the test set itself, and trained on all conditions of all machines."""
    data = park(faults_per_machine=9)
    sensors, arrivals = np.repeat(np.arange(20), 60), np.tile(np.arange(60), 20)
    train, labels = data.series(sensors, arrivals)[:, 0].astype(float), data.labels(sensors, arrivals)
    held_out = np.repeat(np.arange(20), 20), FIRST_TEST_ARRIVAL + np.tile(np.arange(20), 20)
    test, test_labels = data.series(*held_out)[:, 0].astype(float), data.labels(*held_out)
    assert np.bincount(test_labels).tolist() == [40] * 10
    assert linear_accuracy(train, labels, test, test_labels) < 0.4


def test_energy_alone_tells_conditions_apart_better_than_chance_but_not_well() -> None:
    """Nearest mean of the logarithm of the effective value: amplitude carries information, and no more than some."""
    data = park()
    sensors = np.repeat(np.arange(20), 20)
    arrivals = FIRST_TEST_ARRIVAL + np.tile(np.arange(20), 20)
    level = np.log(data.series(sensors, arrivals)[:, 0].astype(float).std(axis=1))
    labels = data.labels(sensors, arrivals)
    means = np.array([level[labels == label].mean() for label in range(10)])
    accuracy = float(np.mean(np.abs(level[:, None] - means).argmin(axis=1) == labels))
    assert 0.15 < accuracy < 0.5


@pytest.fixture
def recorded(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """How many windows were recorded at a time, in order."""
    log: list[int] = []
    record = vibration_module.recorded

    def logged(window, places, labels):  # type: ignore[no-untyped-def]
        log.append(len(labels))
        return record(window, places, labels)

    monkeypatch.setattr(vibration_module, "recorded", logged)
    return log


def test_windows_are_recorded_once_and_then_come_from_memory_or_disk(recorded: list[int], cache_home: Path) -> None:
    data = park()
    windows = data.train_inputs(3)
    assert sum(recorded) == len(windows)
    assert np.array_equal(data.train_inputs(3), windows)
    assert np.array_equal(park().train_inputs(3), windows)
    assert np.array_equal(pickle.loads(pickle.dumps(data)).train_inputs(3), windows)
    assert sum(recorded) == len(windows)
    data.test_inputs(3)
    assert np.array_equal(park().test_inputs(3), data.test_inputs(3))
    assert sum(recorded) == len(windows) + 40
    assert sorted(path.name for path in cache_home.rglob("*") if path.is_file()) == ["3.test", "3.train"]
    assert np.array_equal(windows, data.series(np.full(len(windows), 3), np.arange(len(windows))))


def test_parks_whose_windows_differ_do_not_share_a_cache(recorded: list[int]) -> None:
    park().train_inputs(3)
    alone = sum(recorded)
    park(machines=21).train_inputs(3)
    assert sum(recorded) == alone
    others: list[dict[str, Any]] = [{"seed": 2}, {"sensors_per_machine": 2}, {"faults_per_machine": 2}]
    others += [{"evenly": True}, {"evenly": True, "machines": 21}]
    for changes in others:
        before = sum(recorded)
        data = park(**changes)
        arrivals = np.arange(len(data.train_labels(3)))
        assert np.array_equal(data.train_inputs(3), data.series(np.full_like(arrivals, 3), arrivals))
        assert sum(recorded) > before + alone / 3


def test_windows_given_out_are_not_the_memorys_own() -> None:
    data = park()
    windows = data.train_inputs(0)
    data.train_inputs(0)[:] = 0
    assert np.array_equal(data.train_inputs(0), windows)


def test_a_park_whose_last_machine_has_fewer_sensors_has_the_same_windows() -> None:
    whole, less = park(sensors_per_machine=3), park(sensors_per_machine=3, sensors=58)
    assert (whole.devices, less.devices) == (60, 58)
    assert np.array_equal(whole.train_labels(57), less.train_labels(57))
    assert whole.content != less.content
    evenly = park(sensors_per_machine=3, sensors=58, evenly=True)
    law = VibrationLabels(Draws(evenly.seed), 58, 3, evenly.faults_per_machine, evenly=True)
    heard = law.heard(np.zeros(5000, dtype=np.int64), np.arange(5000))
    assert heard.max() == 57
