"""The embedded data set: handwriting-like characters drawn from stroke fonts, for any number of devices.

It needs no download and no file, and everything about a device is a pure function of (seed, types, skew, device): one
more device moves nobody else's labels, style or pixels. It is a stand-in for handwriting: a device writes in one of six
hands with a style of its own, and its production line decides which characters it sees most.
"""

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hfedms_sim.data.base import CHARACTERS, Dataset, DeviceLabels, Ink, as_inputs
from hfedms_sim.data.glyphs.labels import DEFAULT_SKEW, LEAST_TRAIN_SAMPLES, GlyphLabels
from hfedms_sim.data.glyphs.writers import write_characters
from hfedms_sim.data.sample_cache import SampleCache, cache_home
from hfedms_sim.scenario.models import CHARACTER_IMAGES
from hfedms_sim.seeds import Draws

GENERATOR_VERSION = 1
"""Raised whenever a label or a pixel changes: it keeps old caches and old results apart from new ones."""


@dataclass(frozen=True)
class Glyphs(Dataset):
    seed: int
    devices: int
    types: int
    ink: Ink = "bright"
    skew: float = DEFAULT_SKEW

    name = "glyphs"
    shape = CHARACTER_IMAGES
    is_image = True
    generation_s = 560e-6
    class_names = tuple(CHARACTERS)
    least_train_samples = LEAST_TRAIN_SAMPLES

    @cached_property
    def content(self) -> dict[str, Any]:
        return {
            "set": self.name,
            "generator": GENERATOR_VERSION,
            "seed": self.seed,
            "types": self.types,
            "devices": self.devices,
            "ink": self.ink,
            "skew": float(self.skew),
        }

    def train_sizes(self, devices: NDArray[np.int64]) -> NDArray[np.int64]:
        return self._law.train_sizes(devices)

    def test_sizes(self, devices: NDArray[np.int64]) -> NDArray[np.int64]:
        return self._law.sizes(devices) - self._law.train_sizes(devices)

    def train_labels_of(self, devices: NDArray[np.int64]) -> DeviceLabels:
        return self._law.train_labels_of(devices)

    def train_labels(self, device: int) -> NDArray[np.int64]:
        return self._law.labels(device)[: self._train_size(device)]

    def test_labels(self, device: int) -> NDArray[np.int64]:
        return self._law.labels(device)[self._train_size(device) :]

    def train_inputs(self, device: int) -> NDArray[np.float32]:
        return self._delivered(self._images(device)[: self._train_size(device)])

    def test_inputs(self, device: int) -> NDArray[np.float32]:
        return self._delivered(self._images(device)[self._train_size(device) :])

    @property
    def _law(self) -> GlyphLabels:
        return GlyphLabels(Draws(self.seed), self.types, self.skew)

    def _train_size(self, device: int) -> int:
        return int(self._law.train_sizes(np.array([device]))[0])

    def _delivered(self, images: NDArray[np.uint8]) -> NDArray[np.float32]:
        return as_inputs(images[:, None], inverted=self.ink == "dark")

    def _images(self, device: int) -> NDArray[np.uint8]:
        cache = self._cache()
        images = cache.load(device, int(self._law.sizes(np.array([device]))[0]))
        if images is None:
            images = write_characters(Draws(self.seed), device, self._law.labels(device))
            cache.store(device, images)
        return images

    def _cache(self) -> SampleCache:
        home = cache_home()
        settings = f"glyphs-{GENERATOR_VERSION}-seed-{self.seed}-types-{self.types}"
        other = "" if self.skew == DEFAULT_SKEW else f"-skew-{float(self.skew)!r}"  # caches without it are older
        directory = None if home is None else home / f"{settings}{other}"
        return SampleCache(directory, "glyphs", np.dtype(np.uint8), CHARACTER_IMAGES.input_shape[1:])
