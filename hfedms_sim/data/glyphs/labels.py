"""Which characters a glyph device sees, and how many: the law of labels, vectorised over devices.

A sensor watches a production line (its *type*), and a line favours a dozen classes. The class probabilities of a
device are 0.6 times its type's preference (even over the favoured classes) plus 0.4 times a skew of its own, drawn
from the symmetric Dirichlet law of concentration 1/2: normalised gammas of shape 1/2, of which two independent ones
are E cos^2 A and E sin^2 A for an exponential E and an even angle A.

How far the laws p of two devices lie apart is set by `skew`, s from 0 to 2. With u even over all classes and e all on
one class, which the device draws by its own p:

    s <= 1   (1 - s) u + s p            the distance of any two devices is s times that of today's law, s = 1
    s >= 1   (2 - s) p + (s - 1) e      at s = 2 a device sees a single class

As e is p in the mean, the expected distance is convex in s - 1 and least at 0 (Jensen), so it only grows. Raising p to
a power would not do: it brings devices of the same type together before it drives them apart. Only labels depend on s,
neither the number of samples nor anybody's hand.

Probabilities are rounded to multiples of 1/256, so a device's law is a table of 256 slots and a sample's label is
one random byte looked up in it: eight labels from one keyed draw.

Samples of a device are independent given its law, so *which* of them are for testing carries no information: the
first ones train and the last fifth tests, which is as random a split as any other.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from hfedms_sim.data.base import CHARACTERS, TEST_FRACTION, DeviceLabels, held_out, offsets_of
from hfedms_sim.seeds import Draws

DEFAULT_SKEW = 1.0
FEWEST_SAMPLES, MOST_SAMPLES = 100, 300
LEAST_TRAIN_SAMPLES = FEWEST_SAMPLES - round(TEST_FRACTION * FEWEST_SAMPLES)

_CLASSES = len(CHARACTERS)
_FAVOURED_CLASSES = 12
_TYPE_SHARE = 0.6
_SLOTS = 256
_LABELS_A_DRAW = 8
_CHUNK_DEVICES = 256  # so that what a chunk needs stays in the processor's cache

Devices = NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class GlyphLabels:
    draws: Draws
    types: int
    skew: float = DEFAULT_SKEW

    def sizes(self, devices: Devices) -> NDArray[np.int64]:
        """Samples of each device, for training and testing together."""
        span = MOST_SAMPLES - FEWEST_SAMPLES + 1
        return FEWEST_SAMPLES + (self.draws.uniform("glyphs/size", devices) * span).astype(np.int64)

    def train_sizes(self, devices: Devices) -> NDArray[np.int64]:
        sizes = self.sizes(devices)
        return sizes - held_out(sizes)

    def types_of(self, devices: Devices) -> NDArray[np.int64]:
        """Drawn, not dealt in turn: cells are dealt in turn, and a cell's sensors should not all be of one type."""
        return (self.draws.uniform("glyphs/type", devices) * self.types).astype(np.int64)

    def labels(self, device: int) -> NDArray[np.int64]:
        """Return the labels of all the device's samples: first those for training, then those for testing."""
        one = np.array([device])
        return self._matrix(one)[0, : self.sizes(one)[0]].astype(np.int64)

    def train_labels_of(self, devices: Devices) -> DeviceLabels:
        sizes = self.train_sizes(devices)
        pieces: list[NDArray[np.uint8]] = [np.empty(0, dtype=np.uint8)]
        for start in range(0, len(devices), _CHUNK_DEVICES):
            chunk = slice(start, start + _CHUNK_DEVICES)
            matrix = self._matrix(devices[chunk])
            pieces.append(matrix[np.arange(matrix.shape[1]) < sizes[chunk, None]])
        return DeviceLabels(np.concatenate(pieces), offsets_of(sizes))

    def probabilities(self, devices: Devices) -> NDArray[np.float64]:
        """(devices, 62), before rounding."""
        used, which = np.unique(self.types_of(devices), return_inverse=True)
        mixed = _TYPE_SHARE * self._preferences(used)[which] + (1 - _TYPE_SHARE) * self.skews(devices)
        if self.skew == DEFAULT_SKEW:
            return mixed
        if self.skew < DEFAULT_SKEW:
            return (1 - self.skew) / _CLASSES + self.skew * mixed
        return (2 - self.skew) * mixed + (self.skew - 1) * self._single_classes(devices, mixed)

    def _single_classes(self, devices: Devices, probabilities: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return for each device all probability on one class, drawn by its own probabilities."""
        ends = np.cumsum(probabilities, axis=1)
        points = self.draws.uniform("glyphs/single", devices)[:, None] * ends[:, -1:]
        drawn = np.minimum((ends <= points).sum(axis=1), _CLASSES - 1)
        return np.asarray(np.eye(_CLASSES)[drawn])

    def _preferences(self, types: NDArray[np.int64]) -> NDArray[np.float64]:
        order = np.argsort(self.draws.bits("glyphs/favoured", types[:, None], np.arange(_CLASSES)), axis=1)
        preferences = np.zeros((len(types), _CLASSES))
        np.put_along_axis(preferences, order[:, :_FAVOURED_CLASSES], 1 / _FAVOURED_CLASSES, axis=1)
        return preferences

    def skews(self, devices: Devices) -> NDArray[np.float64]:
        """Return the part of the probabilities that is each device's own: (devices, 62), symmetric Dirichlet of 1/2."""
        uniforms = self.draws.uniform("glyphs/skew", devices[:, None], np.arange(_CLASSES))
        exponentials = -np.log1p(-uniforms[:, ::2])
        shares = np.cos(2 * np.pi * uniforms[:, 1::2]) ** 2
        gammas = np.concatenate([exponentials * shares, exponentials * (1 - shares)], axis=1)
        return np.asarray(gammas / gammas.sum(axis=1, keepdims=True))

    def _matrix(self, devices: Devices) -> NDArray[np.uint8]:
        """Labels of more samples than any device has, a row for each device."""
        ends = np.rint(np.cumsum(self.probabilities(devices), axis=1) * _SLOTS).astype(np.int64)
        slots = np.diff(ends, axis=1, prepend=0)
        classes = np.broadcast_to(np.arange(_CLASSES, dtype=np.uint8), slots.shape)
        table = np.repeat(classes.ravel(), slots.ravel())
        words = np.arange(-(-MOST_SAMPLES // _LABELS_A_DRAW))
        bits = self.draws.bits("glyphs/label", devices[:, None], words)
        slot = bits.astype("<u8", copy=False).view(
            np.uint8
        )  # little-endian, so that every machine reads the same bytes
        return np.asarray(table[slot + _SLOTS * np.arange(len(devices))[:, None]])
