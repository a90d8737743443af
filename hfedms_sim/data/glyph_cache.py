"""Drawn glyphs on disk, a file for each device, so that a second run need not draw them again.

A cache may be lost, damaged, unreadable or full at any time, and nobody should notice but by the time it takes: what
is not exactly what was stored counts as not there, and what cannot be stored is not stored. A file is written under
another name and then renamed, so nobody reads half a file. It may be deleted whenever no run needs it.
"""

import os
from dataclasses import dataclass
from hashlib import blake2b
from pathlib import Path
from tempfile import NamedTemporaryFile

import numpy as np
from numpy.typing import NDArray

from hfedms_sim.data.base import SIDE_PIXELS

_DIGEST_BYTES = 16
_DEVICES_A_DIRECTORY = 1000


def cache_home() -> Path | None:
    """The user's cache directory, or None where there is no home."""
    given = os.environ.get("XDG_CACHE_HOME", "")
    try:
        # The XDG convention: a relative path is to be ignored.
        home = Path(given) if Path(given).is_absolute() else Path.home() / ".cache"
    except (RuntimeError, ValueError):
        return None
    return home / "hfedms_sim"


@dataclass(frozen=True, slots=True)
class GlyphCache:
    directory: Path | None

    def load(self, device: int, samples: int) -> NDArray[np.uint8] | None:
        """The device's images, or None if they are not there as they were stored."""
        if self.directory is None:
            return None
        try:
            content = self._path(self.directory, device).read_bytes()
        except (OSError, ValueError):
            return None
        digest, pixels = content[:_DIGEST_BYTES], content[_DIGEST_BYTES:]
        if len(pixels) != samples * SIDE_PIXELS**2 or digest != _digest(pixels):
            return None
        return np.frombuffer(pixels, dtype=np.uint8).reshape(samples, SIDE_PIXELS, SIDE_PIXELS)

    def store(self, device: int, images: NDArray[np.uint8]) -> None:
        if self.directory is None:
            return
        path = self._path(self.directory, device)
        pixels = images.tobytes()
        temporary = None
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            with NamedTemporaryFile(dir=path.parent, prefix=".", delete=False) as file:
                temporary = Path(file.name)
                file.write(_digest(pixels) + pixels)
            temporary.replace(path)
        except (OSError, ValueError):
            if temporary is not None:
                _remove(temporary)

    @staticmethod
    def _path(directory: Path, device: int) -> Path:
        return directory / str(device // _DEVICES_A_DIRECTORY) / f"{device}.glyphs"


def _digest(pixels: bytes) -> bytes:
    return blake2b(pixels, digest_size=_DIGEST_BYTES).digest()


def _remove(path: Path) -> None:
    try:
        path.unlink(missing_ok=True)
    except OSError:
        return
