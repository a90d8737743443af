"""Arrays that a stranger gives, made into samples and labels. What is wrong with them raises ValueError, in a line."""

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hfedms_sim.data.base import MAX_CLASSES, Ink
from hfedms_sim.scenario.models import CHARACTER_IMAGES, shape_text

_CHANNELS = (1, 3)
_IMAGES = "must be height x width, with 1 or 3 channels last or first, if any"
_POLARITY_IMAGES = 2000


def checked_images(images: NDArray[Any]) -> NDArray[np.uint8]:
    """Return images of bytes, or of numbers from 0 to 1, as bytes with the channels first."""
    pixels = _channels_first(images)
    if pixels.dtype == np.uint8:
        return pixels
    if pixels.dtype.kind not in "fiu":
        raise ValueError(f"pixels are {pixels.dtype}: must be bytes (uint8) or numbers from 0 to 1")
    sound = (pixels >= 0) & (pixels <= 1)  # NaN is neither
    if not sound.all():
        wrong = np.argmin(sound.reshape(len(sound), -1).all(axis=1))
        pixel = pixels[wrong][~sound[wrong]][0]
        raise ValueError(f"sample {wrong}: pixel = {pixel:g}: must be a byte (uint8) or a number from 0 to 1")
    return np.asarray(np.rint(pixels * 255), dtype=np.uint8)


def _channels_first(images: NDArray[Any]) -> NDArray[Any]:
    """Return images as (samples, channels, height, width); rows of 784 are 28x28."""
    shape = images.shape[1:]
    if shape == (28 * 28,):
        shape = CHARACTER_IMAGES.input_shape
    elif len(shape) == 2:
        shape = (1, *shape)
    elif len(shape) == 3 and shape[-1] in _CHANNELS:
        images, shape = np.moveaxis(images, -1, 1), (shape[-1], *shape[:-1])
    elif len(shape) != 3 or shape[0] not in _CHANNELS:
        raise ValueError(f"images are {shape_text(shape)}: {_IMAGES}")
    if not all(shape):
        raise ValueError(f"images are {shape_text(shape)}: must have pixels")
    return images.reshape(len(images), *shape)


def checked_inputs(inputs: NDArray[Any]) -> NDArray[np.float32]:
    """Return samples of any shape as they are, in single precision; a sample that is one number is a row of one."""
    if inputs.dtype.kind not in "fiub":
        raise ValueError(f"inputs are {inputs.dtype}: must be numbers")
    if not all(inputs.shape[1:]):
        raise ValueError(f"inputs are {shape_text(inputs.shape[1:])}: must have values")
    with np.errstate(over="ignore"):
        values = inputs.reshape(len(inputs), *(inputs.shape[1:] or (1,))).astype(np.float32)
    finite = np.isfinite(values)
    if not finite.all():
        wrong = np.argmin(finite.reshape(len(finite), -1).all(axis=1))
        value = inputs.reshape(values.shape)[wrong][~finite[wrong]][0]
        raise ValueError(f"sample {wrong}: value = {value:g}: must be a finite number in single precision")
    return values


def checked_labels(labels: NDArray[Any], classes: int | None = None) -> NDArray[np.int64]:
    if labels.dtype.kind not in "iu" or labels.ndim != 1:
        raise ValueError("labels must be a list of whole numbers")
    wrong = (labels < 0) | (labels >= (classes or MAX_CLASSES))
    if wrong.any():
        sample = np.argmax(wrong)
        raise ValueError(f"sample {sample}: label = {labels[sample]}: must be from 0 to {(classes or MAX_CLASSES) - 1}")
    return labels.astype(np.int64)


def checked_owners(owners: NDArray[Any], name: str) -> NDArray[Any]:
    if owners.dtype.kind not in "iuU" or owners.ndim != 1:
        raise ValueError(f"{name} must be whole numbers or names")
    return owners


def checked_split(is_test: NDArray[Any]) -> NDArray[np.bool_]:
    if is_test.dtype.kind not in "biu" or not np.isin(is_test, (0, 1)).all():
        raise ValueError("is_test must be true or false")
    return is_test.astype(np.bool_)


def checked_names(names: NDArray[Any]) -> tuple[str, ...]:
    if names.dtype.kind != "U" or names.ndim != 1 or not 1 <= len(np.unique(names)) == len(names) <= MAX_CLASSES:
        raise ValueError(f"class_names must be 1 to {MAX_CLASSES} different names")
    return tuple(names.tolist())


def require_rows(arrays: Mapping[str, NDArray[Any]]) -> None:
    """Refuse arrays that have not a row for each of the labels; samples may have any shape, the others have none."""
    if arrays["labels"].ndim != 1:
        raise ValueError("labels must be a list of whole numbers")
    count = len(arrays["labels"])
    for key, array in arrays.items():
        if array.shape[:1] != (count,) or (key not in ("images", "inputs") and array.ndim != 1):
            raise ValueError(f"{key} has the shape {array.shape}: must have a row for each of {count} labels")


def ink_of(pixels: NDArray[np.uint8]) -> Ink:
    """Return the polarity of (samples, 1, height, width), told by the borders, which are background in nearly all."""
    some = pixels[:: max(1, len(pixels) // _POLARITY_IMAGES), 0]
    border = np.concatenate([some[:, 0], some[:, -1], some[:, 1:-1, 0], some[:, 1:-1, -1]], axis=1)
    return "dark" if np.median(border) > 127 else "bright"
