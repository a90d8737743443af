"""The embedded data set of a machine park: half a second of vibration of a machine, in ten conditions.

Like `glyphs` it needs no download, and a window is a pure function of (seed, sensor, arrival) and of how the park is
arranged: it is the same in whatever order and company it is asked for, and one more machine moves nobody else's.
Sensors are numbered machine by machine: `sensors_per_machine` in a row listen to the same one.

A sensor has train windows of the conditions its machine has been in (`labels.py`), and test windows of all
ten alike: the model should also know, on this very machine, the faults that only others have had so far. So the test
parts of all sensors together are a balanced test set.

A window takes about a millisecond to record, so a sensor's windows are kept on disk (`sample_cache.py`), and those that
were trained with last in memory, up to 256 MiB.

`bearings.py` has the kinematics, `machines.py` machines, halls and sensors, `motion.py` the turning
shaft, `tones.py` and `impulses.py` what it excites, and `windows.py` the sum of it.
"""

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hfedms_sim.data.base import Dataset, DeviceLabels, offsets_of
from hfedms_sim.data.sample_cache import RecentSamples, SampleCache, cache_home
from hfedms_sim.data.vibration.labels import CONDITIONS, Condition, VibrationLabels
from hfedms_sim.data.vibration.machines import places
from hfedms_sim.data.vibration.motion import Window
from hfedms_sim.data.vibration.windows import SAMPLES, STEPS_A_UNIT, recorded
from hfedms_sim.scenario.models import DataShape
from hfedms_sim.seeds import Draws

GENERATOR_VERSION = 1
"""Raised whenever a label or a sample changes: it keeps old results apart from new ones."""

TEST_WINDOWS = 40
FEWEST_TRAIN_WINDOWS, MOST_TRAIN_WINDOWS = 120, 240
FIRST_TEST_ARRIVAL = 2**32
"""Test windows are arrivals that no stream gets to."""

_CHUNK_WINDOWS = 64  # so that what a chunk needs stays in the processor's cache

_MOST_RECENT_BYTES = 2**28

Whole = NDArray[np.int64]
Steps = NDArray[np.int16]


@dataclass(frozen=True)
class Vibration(Dataset):
    seed: int
    machines: int
    sensors_per_machine: int = 1
    faults_per_machine: int = 4
    evenly: bool = False
    """Deal the windows of all machines to all sensors alike: the iid split to compare with."""
    sensors: int | None = None
    """How many there are if the last machine has fewer than the others."""

    name = "vibration"
    generation_s = 460e-6
    shape = DataShape((1, SAMPLES), len(Condition))
    class_names = CONDITIONS
    least_train_samples = FEWEST_TRAIN_WINDOWS

    @cached_property
    def devices(self) -> int:
        return self.sensors or self.machines * self.sensors_per_machine

    @cached_property
    def content(self) -> dict[str, Any]:
        others = {} if self.devices == self.machines * self.sensors_per_machine else {"sensors": self.devices}
        return others | {
            "set": self.name,
            "generator": GENERATOR_VERSION,
            "seed": self.seed,
            "machines": self.machines,
            "sensors_per_machine": self.sensors_per_machine,
            "faults_per_machine": self.faults_per_machine,
            "evenly": self.evenly,
        }

    def weights(self, sensors: Whole) -> NDArray[np.float64]:
        """Return how likely each condition is in the sensors' train windows: (sensors, 10)."""
        return self._law.weights(sensors)

    def labels(self, sensors: Whole, arrivals: Whole) -> Whole:
        """Return the conditions in windows, by pairs of sensor and arrival."""
        label = self._law.labels(sensors, arrivals)
        return np.where(arrivals < FIRST_TEST_ARRIVAL, label, (arrivals - FIRST_TEST_ARRIVAL) % len(Condition))

    def series(self, sensors: Whole, arrivals: Whole) -> NDArray[np.float32]:
        """Return the windows by pairs of sensor and arrival: (pairs, 1, 1024), one channel."""
        return _in_units(self._steps(sensors, arrivals))

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

    def train_inputs(self, device: int) -> NDArray[np.float32]:
        steps = self._recent.get(device)
        if steps is None:
            steps = self._kept("train", *self._train(device))
            self._recent.put(device, steps)
        return _in_units(steps)

    def test_inputs(self, device: int) -> NDArray[np.float32]:
        return _in_units(self._kept("test", *self._test(device)))

    @property
    def _law(self) -> VibrationLabels:
        shape = self.devices, self.sensors_per_machine, self.faults_per_machine
        return VibrationLabels(Draws(self.seed), *shape, evenly=self.evenly)

    @cached_property
    def _recent(self) -> RecentSamples:
        """The train windows, which every round asks for again; the test windows are asked for once."""
        return RecentSamples(_MOST_RECENT_BYTES)

    def _kept(self, part: str, sensors: Whole, arrivals: Whole) -> Steps:
        """Return a device's windows from the cache on disk, or record them and keep them there."""
        home, device = cache_home(), int(sensors[0])
        settings = f"vibration-{GENERATOR_VERSION}-seed-{self.seed}-sensors-{self.sensors_per_machine}"
        settings += f"-faults-{self.faults_per_machine}" + (f"-evenly-{self.devices}" if self.evenly else "")
        directory = None if home is None else home / settings
        cache = SampleCache(directory, part, np.dtype("<i2"), self.shape.input_shape)
        steps = cache.load(device, len(arrivals))
        if steps is None:
            steps = self._steps(sensors, arrivals)
            cache.store(device, steps)
        return steps

    def _steps(self, sensors: Whole, arrivals: Whole) -> Steps:
        steps = np.empty((len(sensors), *self.shape.input_shape), dtype=np.int16)
        for start in range(0, len(sensors), _CHUNK_WINDOWS):
            chunk = slice(start, start + _CHUNK_WINDOWS)
            steps[chunk, 0] = self._recorded(sensors[chunk], arrivals[chunk])
        return steps

    def _recorded(self, sensors: Whole, arrivals: Whole) -> Steps:
        draws = Draws(self.seed)
        heard = np.where(arrivals < FIRST_TEST_ARRIVAL, self._law.heard(sensors, arrivals), sensors)
        at = places(draws, heard, self.sensors_per_machine)
        return recorded(Window(draws, sensors, arrivals), at, self.labels(sensors, arrivals))

    def _train(self, device: int) -> tuple[Whole, Whole]:
        size = int(self.train_sizes(np.array([device]))[0])
        return np.full(size, device), np.arange(size)

    def _test(self, device: int) -> tuple[Whole, Whole]:
        return np.full(TEST_WINDOWS, device), FIRST_TEST_ARRIVAL + np.arange(TEST_WINDOWS)


def _in_units(steps: Steps) -> NDArray[np.float32]:
    return steps.astype(np.float32) / np.float32(STEPS_A_UNIT)
