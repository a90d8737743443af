"""Augmentation of images: each captured sample a little brighter or darker, and a little closer.

1. Every pixel times u, u even in [0.9, 1.1]. Not clipped.
2. A random crop, resized back to the image's size: its area is an even fraction in [0.8, 1] of the image; its aspect
   ratio (width by height, in units of the image's) is log-uniform in [0.8, 1.2], narrowed to what fits into the image
   at that area; its place is even among those inside the image. Resampling is bilinear between pixel centres; beyond
   the outermost centres the outermost pixel counts.

No flip and no rotation: a turned 6 is a 9. All channels of an image are changed alike. A sample's draws are keyed by
(sensor, arrival index), so it looks the same to every algorithm and in whatever batch it comes.
"""

import numpy as np
from numpy.typing import NDArray

from hfedms_sim.seeds import Draws

BRIGHTNESS = (0.9, 1.1)
AREA = (0.8, 1.0)
ASPECT = (0.8, 1.2)


def augmented(
    images: NDArray[np.float32], draws: Draws, sensor: int, arrivals: NDArray[np.int64]
) -> NDArray[np.float32]:
    """Return the images (samples, channels, height, width) as captured: image i arrived as number arrivals[i]."""
    height, width = images.shape[2:]
    factor = _between(BRIGHTNESS, draws.uniform("augment/brightness", sensor, arrivals))
    rows, columns = crop_centres(draws, sensor, arrivals, height, width)
    down, across = _weights(rows, height)[:, None], _weights(columns, width).transpose(0, 2, 1)[:, None]
    cropped = np.matmul(np.matmul(down, images), across)
    return np.asarray(cropped * factor.astype(np.float32)[:, None, None, None])


def crop_centres(
    draws: Draws, sensor: int, arrivals: NDArray[np.int64], height_pixels: int, width_pixels: int
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return where in the image each row and column of the crop is read, as a pixel's number with a fraction."""
    area = _between(AREA, draws.uniform("augment/area", sensor, arrivals))
    # A crop of area a (in images) and aspect r is sqrt(a r) wide and sqrt(a / r) high: both at most 1 if a <= r <= 1/a.
    narrowest, widest = np.maximum(ASPECT[0], area), np.minimum(ASPECT[1], 1 / area)
    aspect = narrowest * (widest / narrowest) ** draws.uniform("augment/aspect", sensor, arrivals)
    top = draws.uniform("augment/top", sensor, arrivals)
    left = draws.uniform("augment/left", sensor, arrivals)
    rows = _centres(np.sqrt(area / aspect), top, height_pixels)
    return rows, _centres(np.sqrt(area * aspect), left, width_pixels)


def _centres(size: NDArray[np.float64], place: NDArray[np.float64], pixels: int) -> NDArray[np.float64]:
    start = place * (1 - size)
    across = (np.arange(pixels) + 0.5) / pixels
    centres = (start[:, None] + size[:, None] * across) * pixels - 0.5
    return np.clip(centres, 0, pixels - 1)


def _weights(centres: NDArray[np.float64], pixels: int) -> NDArray[np.float32]:
    """Return how much of each pixel is in each reading: one minus the distance, where that is positive."""
    distance = np.abs(centres[:, :, None] - np.arange(pixels))
    return np.asarray(np.maximum(0, 1 - distance), dtype=np.float32)


def _between(limits: tuple[float, float], uniform: NDArray[np.float64]) -> NDArray[np.float64]:
    low, high = limits
    return low + (high - low) * uniform
