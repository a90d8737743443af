"""Vibration that is locked to the shaft: imbalance, misalignment, looseness, and the mesh of the gear.

Shaft components are a Fourier series in the angle, in half orders: the real part of sum c_k exp(i k angle / 2). Each
condition has its textbook signature:

    healthy       a little 1x, less 2x and 3x: no shaft is perfect
    imbalance     1x, as the force m e w^2 asks: by the square of the speed
    misalignment  2x above 1x, and 3x
    looseness     many harmonics, and half orders between them, which change from window to window

The mesh of a pinion with N teeth sounds at N, 2 N and 3 N times the shaft frequency, each modulated once a turn:

    sum_h A_h (1 + m cos angle) cos(h N angle + phase_h), by the load

Wear raises all harmonics, the higher ones more, and the sidebands (m). A broken tooth changes amplitude and phase for
the moment of one tooth in each turn; it also strikes (`impulses.py`).

Sources: R. B. Randall, Vibration-based Condition Monitoring, Wiley 2011 (signatures of faults of shafts and gears);
P. D. McFadden, Detecting fatigue cracks in gears by amplitude and phase demodulation of the meshing vibration,
Journal of Vibration, Acoustics, Stress, and Reliability in Design 108 (1986) 165-170. Levels are ours.

Left out: axial against radial direction, the second shaft of the gear, belts, electrical faults.
"""

import numpy as np
from numpy.typing import NDArray

from hfedms_sim.data.vibration.labels import Condition
from hfedms_sim.data.vibration.machines import HALF_ORDERS, RATE_HZ, SHAFT_HZ, Places
from hfedms_sim.data.vibration.motion import Window

Real = NDArray[np.float64]
Whole = NDArray[np.int64]

_MESH_HARMONICS = 3
_TOOTH_SHARPNESS = 12.0  # of exp(s (cos angle - 1)): about one tooth of 13 wide
_TOOTH_DROP, _TOOTH_LAG = 1.2, 1.0
_PASSBAND = 0.95  # of half the rate: what the sensor's filter lets through


def _series(**orders: float) -> Real:
    """Return amplitudes by half order from those by order: x1=..., x1h=... for one and a half."""
    amplitudes = np.zeros(HALF_ORDERS)
    for order, amplitude in orders.items():
        halves = 2 * int(order.strip("xh")) + order.endswith("h")
        amplitudes[halves - 1] = amplitude
    return amplitudes


_HEALTHY = _series(x1=0.16, x2=0.06, x3=0.03)
_FAULTY = np.zeros((len(Condition), HALF_ORDERS))
_FAULTY[Condition.IMBALANCE] = _series(x1=1.0)
_FAULTY[Condition.MISALIGNMENT] = _series(x1=0.3, x2=0.8, x3=0.35, x4=0.1)
_FAULTY[Condition.LOOSENESS, 1::2] = 0.55 / np.sqrt(np.arange(1, HALF_ORDERS // 2 + 1))
_FAULTY[Condition.LOOSENESS, ::2] = 0.28 / np.sqrt(np.arange(1, HALF_ORDERS // 2 + 1))

_MESH = np.tile([0.16, 0.06, 0.03], (len(Condition), 1))
_MESH[Condition.GEAR_WEAR] = 0.45, 0.35, 0.2
_MESH[Condition.BROKEN_TOOTH] = 0.24, 0.1, 0.05
_SIDEBANDS = np.full(len(Condition), 0.15)
_SIDEBANDS[Condition.GEAR_WEAR] = 0.8


def shaft_tones(window: Window, places: Places, labels: Whole, severity: Real, angle: Real) -> Real:
    """Return what comes from shaft and coupling: (windows, samples)."""
    changing = np.where(labels[:, None] == Condition.LOOSENESS, 0.5 + window.uniforms("loose", HALF_ORDERS), 1.0)
    by_speed = np.where(labels == Condition.IMBALANCE, (places.shaft_hz / np.mean(SHAFT_HZ)) ** 2, 1.0)
    faulty = _FAULTY[labels] * changing * (severity * by_speed)[:, None]
    amplitudes = (_HEALTHY * places.residual[:, None] + faulty) * places.shaft_gain[:, None]
    coefficients = amplitudes * np.exp(1j * places.phases)
    half_turn = np.exp(0.5j * angle)
    total = np.zeros_like(half_turn)
    for order in range(HALF_ORDERS - 1, -1, -1):  # Horner's rule
        total += coefficients[:, order, None]
        total *= half_turn
    return np.asarray(total.real)


def mesh_tones(places: Places, labels: Whole, severity: Real, angle: Real) -> Real:
    """Return what comes from the gear but for the blows of a broken tooth: (windows, samples)."""
    strength = np.where(labels == Condition.GEAR_WEAR, severity, 1.0) * places.load * places.mesh_gain
    at_tooth = np.exp(_TOOTH_SHARPNESS * (np.cos(angle) - 1)) * (labels == Condition.BROKEN_TOOTH)[:, None]
    turn = 1 + _SIDEBANDS[labels][:, None] * np.cos(angle + places.phases[:, :1]) - _TOOTH_DROP * at_tooth
    meshing = places.teeth[:, None] * angle + _TOOTH_LAG * at_tooth
    total = np.zeros_like(angle)
    for harmonic in range(1, _MESH_HARMONICS + 1):
        heard = harmonic * places.teeth * places.shaft_hz < _PASSBAND * RATE_HZ / 2
        amplitude = _MESH[labels, harmonic - 1] * strength * heard
        total += amplitude[:, None] * np.cos(harmonic * meshing + places.phases[:, harmonic, None])
    return np.asarray(total * turn)
