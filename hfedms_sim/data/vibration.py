"""The embedded data set of a machine park: half a second of vibration of a machine, in ten conditions.

Like `glyphs` it needs no download, and a window is a pure function of (seed, sensor, arrival) and of how the park is
arranged: it is the same in whatever order and company it is asked for, and one more machine moves nobody else's.
Sensors are numbered machine by machine: `sensors_per_machine` in a row listen to the same one.

A sensor has train windows of the conditions its machine has been in (`vibration_labels.py`), and test windows of all
ten alike: the model should also know, on this very machine, the faults that only others have had so far. So the test
parts of all sensors together are a balanced test set.

`bearings.py` has the kinematics, `vibration_machines.py` machines, halls and sensors, `vibration_motion.py` the turning
shaft, `vibration_tones.py` and `vibration_impulses.py` what it excites, and `vibration_windows.py` the sum of it.
"""

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from hfedms_sim.data.base import DeviceLabels, offsets_of
from hfedms_sim.data.vibration_labels import Condition, VibrationLabels
from hfedms_sim.data.vibration_machines import places
from hfedms_sim.data.vibration_motion import Window
from hfedms_sim.data.vibration_windows import SAMPLES, STEPS_A_UNIT, recorded
from hfedms_sim.seeds import Draws

GENERATOR_VERSION = 1
"""Raised whenever a label or a sample changes: it keeps old results apart from new ones."""

TEST_WINDOWS = 40
FEWEST_TRAIN_WINDOWS, MOST_TRAIN_WINDOWS = 120, 240
FIRST_TEST_ARRIVAL = 2**32
"""Test windows are arrivals that no stream gets to."""

_CHUNK_WINDOWS = 64  # so that what a chunk needs stays in the processor's cache

Whole = NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class Vibration:
    seed: int
    machines: int
    sensors_per_machine: int = 1
    faults_per_machine: int = 4
    evenly: bool = False
    """Deal the windows of all machines to all sensors alike: the iid split to compare with."""
    name: ClassVar[str] = "vibration"

    @property
    def devices(self) -> int:
        return self.machines * self.sensors_per_machine

    @property
    def content(self) -> dict[str, Any]:
        return {
            "set": self.name,
            "generator": GENERATOR_VERSION,
            "seed": self.seed,
            "machines": self.machines,
            "sensors_per_machine": self.sensors_per_machine,
            "faults_per_machine": self.faults_per_machine,
            "evenly": self.evenly,
        }

    @property
    def least_train_samples(self) -> int:
        return FEWEST_TRAIN_WINDOWS

    def weights(self, sensors: Whole) -> NDArray[np.float64]:
        """Return how likely each condition is in the sensors' train windows: (sensors, 10)."""
        return self._law.weights(sensors)

    def labels(self, sensors: Whole, arrivals: Whole) -> Whole:
        """Return the conditions in windows, by pairs of sensor and arrival."""
        label = self._law.labels(sensors, arrivals)
        return np.where(arrivals < FIRST_TEST_ARRIVAL, label, (arrivals - FIRST_TEST_ARRIVAL) % len(Condition))

    def series(self, sensors: Whole, arrivals: Whole) -> NDArray[np.float32]:
        """Return the windows by pairs of sensor and arrival: (pairs, 1, 1024), one channel."""
        steps = np.empty((len(sensors), 1, SAMPLES), dtype=np.int16)
        for start in range(0, len(sensors), _CHUNK_WINDOWS):
            chunk = slice(start, start + _CHUNK_WINDOWS)
            steps[chunk, 0] = self._recorded(sensors[chunk], arrivals[chunk])
        return steps.astype(np.float32) / np.float32(STEPS_A_UNIT)

    def train_sizes(self, devices: Whole) -> Whole:
        span = MOST_TRAIN_WINDOWS - FEWEST_TRAIN_WINDOWS + 1
        return FEWEST_TRAIN_WINDOWS + (Draws(self.seed).uniform("vibration/size", devices) * span).astype(np.int64)

    def test_sizes(self, devices: Whole) -> Whole:
        return np.full(len(devices), TEST_WINDOWS)

    def train_labels_of(self, devices: Whole) -> DeviceLabels:
        sizes = self.train_sizes(devices)
        offsets = offsets_of(sizes)
        arrivals = np.arange(offsets[-1]) - np.repeat(offsets[:-1], sizes)
        return DeviceLabels(self.labels(np.repeat(devices, sizes), arrivals).astype(np.uint8), offsets)

    def train_labels(self, device: int) -> Whole:
        return self.labels(*self._train(device))

    def test_labels(self, device: int) -> Whole:
        return self.labels(*self._test(device))

    def train_images(self, device: int) -> NDArray[np.float32]:
        """Return the train windows, (windows, 1, 1024), under the name by which data sets give their samples."""
        return self.series(*self._train(device))

    def test_images(self, device: int) -> NDArray[np.float32]:
        return self.series(*self._test(device))

    @property
    def _law(self) -> VibrationLabels:
        shape = self.devices, self.sensors_per_machine, self.faults_per_machine
        return VibrationLabels(Draws(self.seed), *shape, evenly=self.evenly)

    def _recorded(self, sensors: Whole, arrivals: Whole) -> NDArray[np.int16]:
        draws = Draws(self.seed)
        heard = np.where(arrivals < FIRST_TEST_ARRIVAL, self._law.heard(sensors, arrivals), sensors)
        at = places(draws, heard, self.sensors_per_machine)
        return recorded(Window(draws, sensors, arrivals), at, self.labels(sensors, arrivals))

    def _train(self, device: int) -> tuple[Whole, Whole]:
        size = int(self.train_sizes(np.array([device]))[0])
        return np.full(size, device), np.arange(size)

    def _test(self, device: int) -> tuple[Whole, Whole]:
        return np.full(TEST_WINDOWS, device), FIRST_TEST_ARRIVAL + np.arange(TEST_WINDOWS)
