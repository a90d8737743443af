"""Writers: how a device's hand differs from the letter forms, and how its samples differ from each other.

Three layers, each a keyed draw: the writer (hand, slant, size, width, pen), the writer's habit for a character
(the same odd `g` every time), and the single sample (turn, shift, stretch, a little of everything). Every layer
bends the form by a smooth wave, because a hand's errors are smooth.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from hfedms_sim.data.glyphs.drawing import SIDE_PIXELS, draw_strokes, fitted
from hfedms_sim.data.glyphs.forms import HANDS, letter_forms
from hfedms_sim.seeds import Draws

Values = NDArray[np.float64]


class _Style(NamedTuple):
    """The style of a writer."""

    hand: int
    lean: float
    capital_pixels: float
    width: float
    pen_pixels: float
    wobble_pixels: float


def write_characters(draws: Draws, device: int, labels: NDArray[np.int64]) -> NDArray[np.uint8]:
    """The device's samples 0, 1, ... of these labels, as bright ink.

    Leaning, turning and bending change a stroke's length, and so its ink, by little: that is left out.
    """
    forms = letter_forms()
    style = _style(draws, device)
    samples = np.arange(len(labels))
    habit = _Layer(draws, "glyphs/habit", device, labels)
    sample = _Layer(draws, "glyphs/sample", device, samples)

    points = forms.points[style.hand, labels]
    stretch = style.capital_pixels * (1 + habit.between(0, -0.08, 0.08)) * (1 + sample.between(0, -0.12, 0.12))
    width = style.width * (1 + habit.between(1, -0.12, 0.12)) * (1 + sample.between(1, -0.12, 0.12))
    lean = style.lean + habit.between(2, -0.08, 0.08) + sample.between(2, -0.15, 0.15)
    points = _leant(points, lean) * np.stack([stretch * width, stretch], axis=-1)[:, None]
    points = _turned(points, sample.between(3, -0.2, 0.2))
    points = points + habit.wave(points, np.full(len(labels), style.wobble_pixels))
    points = points + sample.wave(points, sample.between(4, 0.3, 1.2))
    points, shrink = fitted(_placed(points, stretch, sample))
    pen_pixels = style.pen_pixels * sample.between(5, 0.9, 1.1)
    return draw_strokes(points, forms.lengths[style.hand, labels] * stretch * shrink, pen_pixels)


class _Layer:
    """Draws of one layer of variation: the same for equal entries of `entries` (labels, or samples)."""

    _STRIDE = 16

    def __init__(self, draws: Draws, purpose: str, device: int, entries: NDArray[np.int64]) -> None:
        index = entries[:, None] * self._STRIDE + np.arange(self._STRIDE)
        self._uniform = draws.uniform(purpose, device, index)

    def between(self, which: int, low: float, high: float) -> Values:
        return low + (high - low) * self._uniform[:, which]

    def wave(self, points: Values, height_pixels: Values) -> Values:
        """A smooth displacement in x and y: a wave across the image in a direction and phase of its own."""
        bent = np.empty_like(points)
        for axis in (0, 1):
            turn, phase, length = (self._uniform[:, which, None] for which in (10 + axis, 12 + axis, 14 + axis))
            along = points[..., 0] * np.cos(2 * np.pi * turn) + points[..., 1] * np.sin(2 * np.pi * turn)
            bent[..., axis] = np.sin(2 * np.pi * (along / (14 + 12 * length) + phase)) * height_pixels[:, None]
        return bent


def _style(draws: Draws, device: int) -> _Style:
    u = draws.uniform("glyphs/writer", device, np.arange(6)).tolist()
    hand = int(u[0] * len(HANDS))
    return _Style(
        hand=hand,
        lean=-0.25 + 0.55 * u[1] - 0.5 * HANDS[hand].slope,
        capital_pixels=14.5 + 5.0 * u[2],
        width=0.8 + 0.4 * u[3],
        pen_pixels=(0.6 + 0.5 * u[4]) * HANDS[hand].pen_scale,
        wobble_pixels=0.3 + 0.8 * u[5],
    )


def _leant(points: Values, lean: Values) -> Values:
    return np.stack([points[..., 0] - lean[:, None] * points[..., 1], points[..., 1]], axis=-1)


def _turned(points: Values, angle: Values) -> Values:
    cos, sin = np.cos(angle)[:, None], np.sin(angle)[:, None]
    x, y = points[..., 0], points[..., 1]
    return np.stack([x * cos - y * sin, x * sin + y * cos], axis=-1)


def _placed(points: Values, capital_pixels: Values, sample: _Layer) -> Values:
    """Half way between "on the line" (which tells o from O) and "in the middle" (as scanned characters are)."""
    middle = (points.min(axis=1) + points.max(axis=1)) / 2
    on_line_y = -capital_pixels / 2
    centre = np.stack([middle[:, 0], (middle[:, 1] + on_line_y) / 2], axis=-1)
    shift = np.stack([sample.between(6, -2.0, 2.0), sample.between(7, -2.0, 2.0)], axis=-1)
    return points + (SIDE_PIXELS / 2 - centre + shift)[:, None]
