"""A problem that everything should learn: six bars at six heights, each device holding two of them."""

from pathlib import Path

import numpy as np

DEVICES, CLASSES = 11, 6
_TRAIN, _TEST = 20, 4


def write_toy(path: Path) -> Path:
    """Bright bars on dark noise. Device d has the classes d and d + 1, counted round."""
    random = np.random.default_rng(1)
    device = np.repeat(np.arange(DEVICES), _TRAIN + _TEST)
    number = np.tile(np.arange(_TRAIN + _TEST), DEVICES)
    labels = (device + number % 2) % CLASSES
    images = random.integers(0, 60, (len(labels), 28, 28), dtype=np.uint8)
    for image, label in zip(images, labels, strict=True):
        image[4 * label + 2 : 4 * label + 6] += 180
    np.savez(path, images=images, labels=labels, device=device, is_test=number >= _TRAIN)
    return path
