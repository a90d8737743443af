"""Encoded images (PNG) of one size as pixels. Only Parquet files have them, and only they need Pillow."""

import warnings
from collections.abc import Sequence
from io import BytesIO
from types import ModuleType

import numpy as np
from numpy.typing import NDArray

from hfedms_sim.errors import InputError
from hfedms_sim.system.machine import require_memory
from hfedms_sim.system.reading import COPIES

Pixels = NDArray[np.uint8]

_COLOUR_MODES = frozenset({"P", "PA", "RGB", "RGBA", "RGBX", "CMYK", "YCbCr", "LAB", "HSV"})


def decoded(encoded: Sequence[bytes | None]) -> Pixels:
    """Return the images: (samples, height, width), or (samples, height, width, 3) if any of them is in colour.

    Raises ValueError, with the row, for one that cannot be decoded or is not as large as the first.
    """
    pillow = _pillow()
    pixels: Pixels | None = None
    with warnings.catch_warnings():
        # Pillow only warns of a small file that would unpack to gigabytes.
        warnings.simplefilter("error", pillow.DecompressionBombWarning)
        for row, content in enumerate(encoded):
            image = _decoded(content, pillow, row, None if pixels is None else pixels.shape[1:3])
            if pixels is None:
                require_memory(COPIES * len(encoded) * image.nbytes)
                pixels = np.empty((len(encoded), *image.shape), dtype=np.uint8)
            if image.ndim == 3 > pixels.ndim - 1:
                require_memory(COPIES * pixels.nbytes)
                pixels = in_colour(pixels)
            pixels[row] = image if pixels.ndim == image.ndim + 1 else image[..., None]
    assert pixels is not None, "a file without rows is refused before"
    return pixels


def in_colour(pixels: Pixels) -> Pixels:
    """Return the images with three channels last."""
    return pixels if pixels.ndim == 4 else np.repeat(pixels[..., None], 3, axis=-1)


def grey_if_equal(pixels: Pixels) -> Pixels:
    """Return images with one channel if the three of all of them are equal."""
    if pixels.ndim == 4 and (pixels[..., :1] == pixels).all():
        return pixels[..., 0]
    return pixels


def _decoded(content: bytes | None, pillow: ModuleType, row: int, size: tuple[int, ...] | None) -> Pixels:
    """Return one image; `size` is the height and width that it must have, if any."""
    try:
        with pillow.open(BytesIO(content or b"")) as image:
            width, height = image.size
            if size in (None, (height, width)):
                return np.asarray(image.convert("RGB" if image.mode in _COLOUR_MODES else "L"))
    except MemoryError:
        raise
    except Exception:  # a damaged image can trip Pillow over anything
        raise ValueError(f"row {row}: the image cannot be decoded") from None
    assert size is not None
    raise ValueError(f"row {row}: the image is {width}x{height}: must be {size[1]}x{size[0]} as the first one")


def _pillow() -> ModuleType:
    try:
        from PIL import Image  # here: only Parquet files need it
    except ImportError:
        raise InputError("data.set = parquet: needs Pillow to decode the images; install the package pillow") from None
    return Image
