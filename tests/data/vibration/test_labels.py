"""Who hears which fault: dealt to machines, shared by their sensors."""

import numpy as np
import pytest

from hfedms_sim.data.vibration.labels import CONDITIONS, FAULTS, HEALTHY_SHARE, Condition, VibrationLabels
from hfedms_sim.seeds import Draws


def law(*, sensors: int = 120, per_machine: int = 3, faults: int = 3, evenly: bool = False) -> VibrationLabels:
    return VibrationLabels(Draws(1), sensors, per_machine, faults, evenly)


def test_there_are_ten_conditions_and_health_is_the_first() -> None:
    assert (len(CONDITIONS), CONDITIONS[0], CONDITIONS[9]) == (10, "healthy", "broken tooth")


@pytest.mark.parametrize("faults", range(1, FAULTS + 1))
def test_nine_machines_in_a_row_have_each_fault_equally_often(faults: int) -> None:
    dealt = law(faults=faults).faults_of(np.arange(9, 18))
    assert all(len(set(row)) == faults for row in dealt.tolist())
    assert np.bincount(dealt.ravel(), minlength=10).tolist() == [0] + [faults] * FAULTS


@pytest.mark.parametrize("faults", [1, 3, 9])
def test_a_sensor_hears_health_and_its_machines_faults_and_nothing_else(faults: int) -> None:
    one = law(faults=faults)
    weights = one.weights(np.arange(120))
    assert np.allclose(weights.sum(axis=1), 1)
    assert (weights[:, Condition.HEALTHY] == HEALTHY_SHARE).all()
    assert ((weights > 0).sum(axis=1) == faults + 1).all()
    for sensor in (0, 1, 77):
        prone = set(one.faults_of(np.array([sensor // 3]))[0].tolist())
        assert set(np.flatnonzero(weights[sensor]).tolist()) == prone | {0}


def test_sensors_of_a_machine_share_its_law_and_other_machines_differ() -> None:
    weights = law().weights(np.arange(120)).reshape(40, 3, 10)
    assert np.ptp(weights, axis=1).max() == 0
    assert len({row.tobytes() for row in weights[:, 0]}) == 40


def test_labels_follow_the_weights() -> None:
    windows = 20_000
    labels = law().labels(np.full(windows, 7), np.arange(windows))
    expected = law().weights(np.array([7]))[0]
    error = np.sqrt(expected * (1 - expected) / windows)
    assert (np.abs(np.bincount(labels, minlength=10) / windows - expected) <= 5 * error).all()


def test_labels_of_pairs_do_not_depend_on_their_company() -> None:
    sensors, arrivals = np.array([5, 119, 0, 5]), np.array([3, 10**9, 0, 4])
    together = law().labels(sensors, arrivals)
    alone = [int(law().labels(sensors[[place]], arrivals[[place]])[0]) for place in range(4)]
    assert together.tolist() == alone


def test_windows_dealt_evenly_are_the_same_on_the_whole_and_the_same_for_everybody() -> None:
    windows = 20_000
    even = law(evenly=True)
    heard = even.heard(np.full(windows, 7), np.arange(windows))
    assert (heard.min(), heard.max()) == (0, 119)
    expected = law().weights(np.arange(120)).mean(axis=0)
    error = np.sqrt(expected * (1 - expected) / windows)
    for sensor in (7, 80):
        labels = even.labels(np.full(windows, sensor), np.arange(windows))
        assert (np.abs(np.bincount(labels, minlength=10) / windows - expected) <= 5 * error).all()


def test_a_window_dealt_evenly_has_a_condition_of_the_machine_it_was_recorded_at() -> None:
    even = law(evenly=True)
    sensors, arrivals = np.repeat(np.arange(120), 5), np.tile(np.arange(5), 120)
    weights = even.weights(even.heard(sensors, arrivals))
    assert (weights[np.arange(600), even.labels(sensors, arrivals)] > 0).all()
