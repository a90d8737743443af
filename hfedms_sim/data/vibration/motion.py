"""How a shaft turns during a window: steadily, but for a slow wobble, and not at quite the same speed in the next one.

With f the mean speed in the window, w and p frequency and phase of a slow wobble, the angle of the shaft is

    angle(t) = start + 2 pi f t + b (sin(w t + p) - sin p),

so that the speed swings by b w. From window to window the mean speed varies by SPEED_SPREAD (standard deviation), as
the load on the drive does. `time_at` inverts the angle by one Newton step, whose error is of second order in the
swing, which is 0.3 %: less than a hundredth of a sample.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from hfedms_sim.data.vibration.machines import RATE_HZ, Places
from hfedms_sim.seeds import Draws

SPEED_SPREAD = 0.004
_SWING = 0.003
_WOBBLE_HZ = (0.5, 2.0)

Real = NDArray[np.float64]
Whole = NDArray[np.int64]


class Window(NamedTuple):
    """Keys of windows: arrivals at sensors, in pairs. All randomness of a window hangs on its key."""

    draws: Draws
    sensors: Whole
    arrivals: Whole

    def uniform(self, what: str) -> Real:
        return self.draws.uniform(f"vibration/{what}", self.sensors, self.arrivals)

    def uniforms(self, what: str, count: int) -> Real:
        """Return `count` even numbers for each window."""
        return self.draws.uniform(f"vibration/{what}", *self._numbered(count))

    def normals(self, what: str, count: int) -> Real:
        """Return `count` standard normal numbers for each window."""
        return self.draws.normal(f"vibration/{what}", *self._numbered(count))

    def _numbered(self, count: int) -> tuple[Whole, Whole]:
        return self.sensors[:, None], self.arrivals[:, None] * count + np.arange(count)


class Motion(NamedTuple):
    """The turning of each window's shaft: columns of one, to go with rows of times."""

    shaft_hz: Real
    start: Real
    swing_angle: Real
    wobble: Real
    phase: Real

    def angle(self, time_s: Real) -> Real:
        """Return the shaft's angle since some turn, in radians: (windows, times)."""
        swung = np.sin(self.wobble * time_s + self.phase) - np.sin(self.phase)
        return np.asarray(self.start + 2 * np.pi * self.shaft_hz * time_s + self.swing_angle * swung)

    def time_at(self, angle: Real) -> Real:
        """Return when the shaft is at an angle."""
        speed = 2 * np.pi * self.shaft_hz
        guess_s = (angle - self.start) / speed
        return guess_s - (self.angle(guess_s) - angle) / speed


def motion(window: Window, places: Places) -> Motion:
    mean_hz = places.shaft_hz * (1 + SPEED_SPREAD * window.normals("speed_of_window", 1)[:, 0])
    slowest_hz, fastest_hz = _WOBBLE_HZ
    wobble = 2 * np.pi * (slowest_hz + (fastest_hz - slowest_hz) * window.uniform("wobble"))
    swing_angle = _SWING * 2 * np.pi * mean_hz / wobble
    columns = mean_hz, 2 * np.pi * window.uniform("start"), swing_angle, wobble, 2 * np.pi * window.uniform("phase")
    return Motion(*(column[:, None] for column in columns))


def sample_times_s(samples: int) -> Real:
    return np.asarray(np.arange(samples) / RATE_HZ)
