"""Blows that make the machine ring: faults of the bearing's parts, and a broken tooth.

A fault is struck whenever the shaft has turned by 2 pi / order, order being BPFO, BPFI, 2 BSF or FTF (`bearings.py`),
or 1 for the broken tooth. Rolling elements slip, so that each interval scatters by SLIP around its mean; these errors
add up, as in real bearings, and a gear has none. How hard a blow is depends on the load where it happens. The load zone
is Stribeck's, at the angle psi from its middle:

    q(psi) = (1 - (1 - cos psi) / (2 e))^(3/2), and 0 outside

    outer race   the spot rests in the load zone: all blows alike
    inner race   the spot turns with the shaft: q of the shaft's angle
    ball         the ball goes round with the cage: q of the cage's angle; blows on outer and inner race by turns, the
                 inner one weaker, as it has farther to go
    cage         all blows alike, once in a turn of the cage
    broken tooth all blows alike, once in a turn of the shaft

A blow of strength a at time s excites each resonance, x(t) = a exp(-z w (t - s)) sin(w (t - s)) for t > s. Sampled at
m = 0, 1, ..., that is the imaginary part of

    y_m = exp(r) y_(m - 1) + a exp(r (m - s)), r = (-z w + i w) / rate,

with the last term only at the first sample after the blow: exact for any s between samples, without a convolution. The
rumble of the hall goes through a real pole in the same way, and a little of the noise through the resonances: a healthy
machine rings a little too.

Sources: P. D. McFadden and J. D. Smith, Model for the vibration produced by a single point defect in a rolling element
bearing, Journal of Sound and Vibration 96 (1984) 69-82, doi:10.1016/0022-460X(84)90595-9 (blows, load zone,
modulation); Randall and Antoni as in `bearings.py` (slip of 1 to 2 %, ball and cage).

Left out: spalls longer than a point (entry and exit blows), several spots, the changing path of a spot that moves.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from hfedms_sim.data.vibration.labels import Condition
from hfedms_sim.data.vibration.machines import MODES, RATE_HZ, Places
from hfedms_sim.data.vibration.motion import Motion, Window

SLIP = 0.012
LEAD_SAMPLES = 64
"""Blows before the window still ring in it, and are played from this many samples earlier."""

_LEVEL = np.zeros(len(Condition))
_LEVEL[[Condition.OUTER_RACE, Condition.INNER_RACE, Condition.BALL]] = 1.5, 2.4, 2.4
_LEVEL[[Condition.CAGE, Condition.BROKEN_TOOTH]] = 2.6, 2.4
_SCATTER = 0.12
_INNER_BLOW = 0.6
_LOAD_ZONE = 0.95  # Stribeck's e of a preloaded bearing, at a load of 1
_NOISE_IN_MODES = 0.25
_RUMBLE_POLE = 0.9
MOST_BLOWS = 192  # of the fastest rhythm, BPFI of 16 rollers at 34 Hz, a window has 162

Real = NDArray[np.float64]
Complex = NDArray[np.complex128]
Whole = NDArray[np.int64]


class Blows(NamedTuple):
    """When each window's fault is struck, in samples since LEAD_SAMPLES before the window, and how hard."""

    at: Real
    strength: Real


def blows(window: Window, places: Places, labels: Whole, severity: Real, turning: Motion) -> Blows:
    """Return more blows than fit into any window, whether its condition strikes or not: then their strength is 0."""
    lead_s = LEAD_SAMPLES / RATE_HZ
    slip = np.where(labels == Condition.BROKEN_TOOTH, 0.0, SLIP)[:, None]
    struck = np.cumsum(1 + slip * window.normals("slip", MOST_BLOWS), axis=1) - window.uniform("first_blow")[:, None]
    angle = turning.angle(np.array([[-lead_s]])) + struck * 2 * np.pi / blows_a_turn(places, labels)[:, None]
    scatter = 1 + _SCATTER * (2 * window.uniforms("strength", MOST_BLOWS) - 1)
    level = (_LEVEL[labels] * severity * places.load)[:, None]
    strength = level * scatter * _load(places, labels, angle, window.uniform("spot")[:, None])
    return Blows((turning.time_at(angle) + lead_s) * RATE_HZ, strength)


def blows_a_turn(places: Places, labels: Whole) -> Real:
    """Return how often each window's fault is struck in a turn of the shaft; 1 where there is nothing to strike."""
    order = np.ones(len(labels))
    order[labels == Condition.OUTER_RACE] = places.outer_order[labels == Condition.OUTER_RACE]
    order[labels == Condition.INNER_RACE] = places.inner_order[labels == Condition.INNER_RACE]
    order[labels == Condition.BALL] = 2 * places.spin_order[labels == Condition.BALL]
    order[labels == Condition.CAGE] = places.cage_order[labels == Condition.CAGE]
    return order


def _load(places: Places, labels: Whole, angle: Real, spot: Real) -> Real:
    """Return how much of the load is on the spot at each blow."""
    is_ball, is_inner = (labels[:, None] == kind for kind in (Condition.BALL, Condition.INNER_RACE))
    psi = np.where(is_ball, places.cage_order[:, None], 1.0) * angle + 2 * np.pi * spot
    zone = 2 * _LOAD_ZONE * places.load[:, None]
    carried = np.maximum(1 - (1 - np.cos(psi)) / zone, 0.0) ** 1.5
    by_turns = np.where(np.arange(angle.shape[1]) % 2, _INNER_BLOW, 1.0)
    return np.asarray(np.where(is_ball, carried * by_turns, np.where(is_inner, carried, 1.0)))


def ringing(places: Places, struck: Blows, noise: Real, samples: int) -> Real:
    """Return how the resonances answer to blows and noise, and the rumble: (windows, samples).

    `noise` is white, (windows, LEAD_SAMPLES + samples).
    """
    turn = 2 * np.pi * places.mode_hz / RATE_HZ
    poles = np.asarray((1j - places.damping) * turn, dtype=np.complex128)
    white = noise.T
    total = np.zeros((samples, len(noise)))
    for mode in range(MODES):
        entering = _entering(struck, poles[:, mode], LEAD_SAMPLES + samples)
        entering += (_NOISE_IN_MODES * places.noise) * white
        rung = _recursion(np.exp(poles[:, mode]), entering)[LEAD_SAMPLES:].imag
        total += places.mode_gain[:, mode] * rung
    rumbling = _recursion(np.full(len(noise), _RUMBLE_POLE, dtype=complex), white * places.rumble)
    return np.asarray((total + rumbling[LEAD_SAMPLES:].real).T)


def _entering(struck: Blows, poles: Complex, length: int) -> Complex:
    """Return what each blow adds at the first sample after it: (length, windows)."""
    first = np.ceil(struck.at)
    inside = (first >= 0) & (first < length)
    window, _ = np.nonzero(inside)
    place = first[inside].astype(np.int64) * len(poles) + window
    added = struck.strength[inside] * np.exp(poles[window] * (first - struck.at)[inside])
    size = length * len(poles)
    summed = np.bincount(place, added.real, size) + 1j * np.bincount(place, added.imag, size)
    return summed.reshape(length, len(poles))


def _recursion(factor: Complex, entering: NDArray[np.generic]) -> Complex:
    """Return y_m = factor y_(m - 1) + entering_m, along the first axis."""
    values = entering.astype(complex)
    for step in range(1, len(values)):
        values[step] += factor * values[step - 1]
    return values
