"""Signals of machines against the textbook: lines in spectra and envelope spectra, and each part against an oracle."""

from functools import cache

import numpy as np
import pytest
from numpy.typing import NDArray

from hfedms_sim.data.vibration.bearings import BEARINGS
from hfedms_sim.data.vibration.impulses import LEAD_SAMPLES, MOST_BLOWS, Blows, blows, blows_a_turn, ringing
from hfedms_sim.data.vibration.labels import Condition
from hfedms_sim.data.vibration.machines import RATE_HZ, SHAFT_HZ, Places, places
from hfedms_sim.data.vibration.motion import Window, motion, sample_times_s
from hfedms_sim.data.vibration.tones import shaft_tones
from hfedms_sim.data.vibration.windows import SAMPLES, STEPS_A_UNIT, recorded
from hfedms_sim.seeds import Draws

DRAWS = Draws(1)
WINDOWS = 60
BIN_HZ = RATE_HZ / SAMPLES
BAND_HZ = (380.0, 1000.0)  # where the resonances are

Real = NDArray[np.float64]


def place(machine: int) -> Places:
    return places(DRAWS, np.array([machine]), 1)


def machine_with(bearing: int) -> int:
    """Return a machine that runs in the bearing."""
    cage = BEARINGS[bearing].orders.cage
    return next(machine for machine in range(100) if place(machine).cage_order[0] == cage)


@cache
def signals(machine: int, condition: Condition) -> Real:
    sensors = np.full(WINDOWS, machine)
    window = Window(DRAWS, sensors, np.arange(WINDOWS))
    return recorded(window, places(DRAWS, sensors, 1), np.full(WINDOWS, condition)) / STEPS_A_UNIT


def spectrum(machine: int, condition: Condition) -> Real:
    """Return mean amplitudes by bin."""
    return np.abs(np.fft.rfft(signals(machine, condition), axis=1)).mean(axis=0) * 2 / SAMPLES


def envelope_spectrum(machine: int, condition: Condition) -> Real:
    """Return the spectrum of the squared envelope in the resonances' band, averaged over windows."""
    frequency_hz = np.fft.fftfreq(SAMPLES, 1 / RATE_HZ)
    passed = (frequency_hz >= BAND_HZ[0]) & (frequency_hz <= BAND_HZ[1])
    analytic = np.fft.ifft(np.fft.fft(signals(machine, condition), axis=1) * passed, axis=1)
    envelope = np.abs(analytic) ** 2
    return np.abs(np.fft.rfft(envelope - envelope.mean(axis=1, keepdims=True), axis=1)).mean(axis=0)


def line(spectrum_: Real, frequency_hz: float, reach_bins: int) -> tuple[float, float]:
    """Return where the highest bin near a frequency is, and how far it stands out of its neighbourhood."""
    centre = round(frequency_hz / BIN_HZ)
    first = max(centre - reach_bins, 1)
    highest = first + int(np.argmax(spectrum_[first : centre + reach_bins + 1]))
    around = spectrum_[max(centre - 20, 1) : centre + 21]
    return highest * BIN_HZ, float(spectrum_[highest] / np.median(around))


BEARING_FAULTS = [Condition.OUTER_RACE, Condition.INNER_RACE, Condition.BALL, Condition.CAGE]


@pytest.mark.parametrize("condition", BEARING_FAULTS, ids=lambda condition: condition.name.lower())
@pytest.mark.parametrize("bearing", range(len(BEARINGS)), ids=lambda bearing: BEARINGS[bearing].name)
def test_the_envelope_spectrum_shows_a_bearing_faults_frequency_within_a_bin(
    bearing: int, condition: Condition
) -> None:
    machine = machine_with(bearing)
    orders = BEARINGS[bearing].orders
    order = orders[BEARING_FAULTS.index(condition)]
    expected_hz = order * float(place(machine).shaft_hz[0])
    # As far as half way to the nearest sideband: the cage's frequency away for a ball, the shaft's for a race.
    reach_bins = 2 if condition in (Condition.BALL, Condition.CAGE) else 7
    found_hz, prominence = line(envelope_spectrum(machine, condition), expected_hz, reach_bins)
    assert abs(found_hz - expected_hz) <= BIN_HZ
    assert prominence > 2
    _, healthy = line(envelope_spectrum(machine, Condition.HEALTHY), expected_hz, reach_bins)
    assert healthy < 1.3


def test_the_highest_line_of_an_outer_race_fault_is_its_frequency_or_a_multiple() -> None:
    for machine in range(8):
        highest_hz = int(np.argmax(envelope_spectrum(machine, Condition.OUTER_RACE))) * BIN_HZ
        expected_hz = float(place(machine).outer_order[0] * place(machine).shaft_hz[0])
        multiple = round(highest_hz / expected_hz)
        assert multiple in (1, 2, 3)
        assert abs(highest_hz - multiple * expected_hz) <= multiple * BIN_HZ


def amplitude_at(machine: int, condition: Condition, order: float) -> float:
    centre = round(order * float(place(machine).shaft_hz[0]) / BIN_HZ)
    return float(spectrum(machine, condition)[centre - 1 : centre + 2].max())


@pytest.mark.parametrize("machine", [0, 3, 7])
def test_shaft_faults_have_their_textbook_orders(machine: int) -> None:
    def at(condition: Condition, order: float) -> float:
        return amplitude_at(machine, condition, order)

    assert at(Condition.IMBALANCE, 1) > 3 * at(Condition.HEALTHY, 1)
    assert at(Condition.IMBALANCE, 1) > 4 * at(Condition.IMBALANCE, 2)
    assert at(Condition.MISALIGNMENT, 2) > at(Condition.MISALIGNMENT, 1) > at(Condition.HEALTHY, 1)
    assert at(Condition.MISALIGNMENT, 3) > 3 * at(Condition.HEALTHY, 3)
    for order in (0.5, 1.5, 2.5, 5.0, 8.0):
        assert at(Condition.LOOSENESS, order) > 2 * at(Condition.HEALTHY, order)


@pytest.mark.parametrize("machine", [0, 3, 7])
def test_wear_raises_mesh_and_sidebands_and_a_broken_tooth_strikes_once_a_turn(machine: int) -> None:
    teeth, shaft_hz = int(place(machine).teeth[0]), float(place(machine).shaft_hz[0])
    for order in (teeth - 1, teeth, teeth + 1):
        assert amplitude_at(machine, Condition.GEAR_WEAR, order) > 2 * amplitude_at(machine, Condition.HEALTHY, order)
    found_hz, prominence = line(envelope_spectrum(machine, Condition.BROKEN_TOOTH), shaft_hz, 7)
    assert abs(found_hz - shaft_hz) <= BIN_HZ
    assert prominence > 5


def test_the_shaft_is_at_an_angle_when_it_is_said_to_be() -> None:
    sensors = np.arange(50)
    turning = motion(Window(DRAWS, sensors, sensors), places(DRAWS, sensors, 1))
    time_s = sample_times_s(SAMPLES) + np.zeros((50, 1))
    assert np.abs(turning.time_at(turning.angle(time_s)) - time_s).max() * RATE_HZ < 0.01
    assert (np.diff(turning.angle(time_s), axis=1) > 0).all()


def test_the_shafts_series_is_the_sum_of_its_orders() -> None:
    """Health, whose three amplitudes are said once more here."""
    at = place(4)
    angle = np.linspace(0, 20, 50)[None]
    found = shaft_tones(Window(DRAWS, np.array([4]), np.array([0])), at, np.array([0]), np.ones(1), angle)
    gain = float(at.residual[0] * at.shaft_gain[0])
    amplitudes = {1: 0.16, 2: 0.06, 3: 0.03}
    slow = sum(gain * size * np.cos(order * angle + at.phases[0, 2 * order - 1]) for order, size in amplitudes.items())
    assert np.allclose(found, slow)


def test_ringing_is_a_sum_of_damped_sines_whenever_the_blows_are() -> None:
    at = place(2)
    struck = Blows(np.array([[10.25, 70.0, 400.9, 5000.0]]), np.array([[1.0, 2.0, 0.5, 9.0]]))
    found = ringing(at, struck, np.zeros((1, LEAD_SAMPLES + SAMPLES)), SAMPLES)[0]
    sample = np.arange(LEAD_SAMPLES, LEAD_SAMPLES + SAMPLES)
    slow = np.zeros(SAMPLES)
    for when, strength in zip(struck.at[0], struck.strength[0], strict=True):
        since = np.maximum(sample - when, 0)
        for mode_hz, damping, gain in zip(at.mode_hz[0], at.damping[0], at.mode_gain[0], strict=True):
            turn = 2 * np.pi * mode_hz / RATE_HZ
            slow += gain * strength * np.exp(-damping * turn * since) * np.sin(turn * since)
    assert np.allclose(found, slow)


@pytest.mark.parametrize("condition", [*BEARING_FAULTS, Condition.BROKEN_TOOTH])
def test_blows_come_as_often_as_the_kinematics_say(condition: Condition) -> None:
    sensors = np.repeat(np.arange(20), 10)
    window, at = Window(DRAWS, sensors, np.arange(200)), places(DRAWS, sensors, 1)
    labels = np.full(200, condition)
    struck = blows(window, at, labels, np.ones(200), motion(window, at))
    inside = (struck.at >= LEAD_SAMPLES) & (struck.at < LEAD_SAMPLES + SAMPLES)
    expected = blows_a_turn(at, labels) * at.shaft_hz * SAMPLES / RATE_HZ
    assert np.abs(inside.sum(axis=1) - expected).max() < 1.5 + 0.03 * expected.max()
    assert abs(inside.sum() / expected.sum() - 1) < 0.01


def test_there_are_blows_enough_for_the_fastest_rhythm() -> None:
    most_a_turn = max(max(bearing.orders.inner_race, 2 * bearing.orders.ball_spin) for bearing in BEARINGS)
    length_s = (LEAD_SAMPLES + SAMPLES) / RATE_HZ
    assert most_a_turn * SHAFT_HZ[1] * 1.05 * length_s < MOST_BLOWS


def test_a_spot_on_the_inner_race_is_struck_hardest_once_a_turn_and_one_on_the_outer_race_always_alike() -> None:
    sensors = np.zeros(50, dtype=np.int64)
    window, at = Window(DRAWS, sensors, np.arange(50)), places(DRAWS, sensors, 1)
    turning = motion(window, at)

    def spread(condition: Condition) -> float:
        strength = blows(window, at, np.full(50, condition), np.ones(50), turning).strength
        return float(strength.min() / strength.max())

    assert spread(Condition.OUTER_RACE) > 0.7
    assert spread(Condition.INNER_RACE) < 0.1


def test_machines_and_sensors_differ_but_sensors_of_a_machine_share_it() -> None:
    at = places(DRAWS, np.arange(60), 3)
    shaft_hz = at.shaft_hz.reshape(20, 3)
    assert np.ptp(shaft_hz, axis=1).max() == 0
    assert len(set(at.shaft_hz.tolist())) == 20
    assert len(set(at.gain.tolist())) == 60
    assert (np.abs(at.mode_hz.reshape(20, 3, 2) / at.mode_hz.reshape(20, 3, 2)[:, :1] - 1) < 0.09).all()
    assert at.mode_hz.max() < RATE_HZ / 2
    assert len(set(at.noise.tolist())) == 4  # 20 machines in halls of six
