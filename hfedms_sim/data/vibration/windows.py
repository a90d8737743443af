"""What a sensor records of a machine in half a second: shaft, gear and blows, in the noise of the hall.

    x = gain (shaft + mesh + ringing + noise + hum), less its mean

The mean goes because such sensors do not pass it: blows that all push one way would otherwise show in it, and a model
would learn what no sensor measures. The fault's severity differs from window to window, evenly from 0.7 to 1.4 of its
level. The result is in units in which a healthy machine's vibration has an effective value of about 0.4, rounded to
steps of 1/1024 and cut off at 32 as the sensor's converter does. Amplitude says how bad a fault is, so no window is
scaled to a size of its own. Rounding also hides the last bits in which processors differ.
"""

import numpy as np
from numpy.typing import NDArray

from hfedms_sim.data.vibration.impulses import LEAD_SAMPLES, blows, ringing
from hfedms_sim.data.vibration.machines import Places
from hfedms_sim.data.vibration.motion import Window, motion, sample_times_s
from hfedms_sim.data.vibration.tones import mesh_tones, shaft_tones

SAMPLES = 1024
STEPS_A_UNIT = 1024
_SEVERITY = (0.7, 1.4)
_FULL_SCALE = 2**15 - 1

Real = NDArray[np.float64]
Whole = NDArray[np.int64]


def recorded(window: Window, places: Places, labels: Whole) -> NDArray[np.int16]:
    """Return the windows as the converter gives them: (windows, 1024)."""
    steps = np.rint(vibration(window, places, labels) * STEPS_A_UNIT)
    return np.clip(steps, -_FULL_SCALE, _FULL_SCALE).astype(np.int16)


def vibration(window: Window, places: Places, labels: Whole) -> Real:
    mildest, worst = _SEVERITY
    severity = mildest + (worst - mildest) * window.uniform("severity")
    turning = motion(window, places)
    time_s = sample_times_s(SAMPLES)
    angle = turning.angle(time_s)
    noise = window.normals("noise", LEAD_SAMPLES + SAMPLES)
    struck = blows(window, places, labels, severity, turning)
    total = shaft_tones(window, places, labels, severity, angle) + mesh_tones(places, labels, severity, angle)
    total += ringing(places, struck, noise, SAMPLES) + places.noise[:, None] * noise[:, LEAD_SAMPLES:]
    hum_phase = 2 * np.pi * window.uniform("hum_phase")[:, None]
    total += places.hum[:, None] * np.cos(2 * np.pi * places.hum_hz[:, None] * time_s + hum_phase)
    return np.asarray((total - total.mean(axis=1, keepdims=True)) * places.gain[:, None])
