"""Drawing: points along a pen's path become ink on a 28x28 grid.

The pen is round and soft: a point at (a, b) leaves exp(-((x - a)^2 + (y - b)^2) / 2w^2) at (x, y). That is a
product of one factor in x and one in y, so the ink of all points of a glyph is one product of two matrices, (28 x
points) (points x 28). It is scaled so that a long straight stroke is a little over full ink along its middle; more
than full is full. Soft edges come with the pen, so there is nothing to anti-alias.
"""

import numpy as np
from numpy.typing import NDArray

SIDE_PIXELS = 28
_INK_GAIN = 1.4  # a core of full ink with soft edges, rather than a peak
_MARGIN_PIXELS = 2.0  # from the image's edge to the pen's path


def draw_strokes(
    points: NDArray[np.float64], lengths_pixels: NDArray[np.float64], pen_pixels: NDArray[np.float64]
) -> NDArray[np.uint8]:
    """Ink of glyphs given as (glyphs, points, 2) in pixels, the length of each one's strokes, and its pen's w."""
    centres = np.arange(SIDE_PIXELS, dtype=np.float32) + np.float32(0.5)
    sharpness = (np.sqrt(0.5) / pen_pixels).astype(np.float32)[:, None, None, None]
    apart = (centres - points.astype(np.float32)[..., None]) * sharpness
    factors = np.exp(-(apart * apart))
    # The ink of a straight stroke's middle: the integral of the pen along it, over the distance between points.
    per_point = lengths_pixels / points.shape[1] / (np.sqrt(2 * np.pi) * pen_pixels)
    gain = (_INK_GAIN * per_point).astype(np.float32)[:, None, None]
    ink = np.matmul(factors[:, :, 1].transpose(0, 2, 1), factors[:, :, 0]) * gain
    return np.asarray(np.rint(np.minimum(ink, 1) * 255), dtype=np.uint8)


def fitted(points: NDArray[np.float64]) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """The glyphs shrunk and moved no more than needed to lie within the margins, and by how much they shrank."""
    low, high = points.min(axis=1), points.max(axis=1)
    room = SIDE_PIXELS - 2 * _MARGIN_PIXELS
    shrink = np.minimum(1.0, room / np.maximum((high - low).max(axis=1), 1e-9))
    middle = (low + high) / 2
    half = (high - low) / 2 * shrink[:, None]
    placed = np.clip(middle, _MARGIN_PIXELS + half, SIDE_PIXELS - _MARGIN_PIXELS - half)
    return (points - middle[:, None]) * shrink[:, None, None] + placed[:, None], shrink
