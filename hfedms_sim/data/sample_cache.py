"""Generated samples kept: on disk, a file for each device, so that a second run need not generate them again, and in
memory, so that a second round need not read them again.

A cache on disk may be lost, damaged, unreadable or full at any time, and nobody should notice but by the time it takes:
what is not exactly what was stored counts as not there, and what cannot be stored is not stored. A file is written
under another name and then renamed, so nobody reads half a file. It may be deleted whenever no run needs it.
"""

import os
from collections import OrderedDict
from dataclasses import dataclass
from hashlib import blake2b
from math import prod
from pathlib import Path
from tempfile import NamedTemporaryFile
from threading import Lock
from typing import Any

import numpy as np
from numpy.typing import NDArray

_DIGEST_BYTES = 16
_DEVICES_A_DIRECTORY = 1000


def cache_home() -> Path | None:
    """Return the user's cache directory, or None where there is no home."""
    given = os.environ.get("XDG_CACHE_HOME", "")
    try:
        # The XDG convention: a relative path is to be ignored.
        home = Path(given) if Path(given).is_absolute() else Path.home() / ".cache"
    except (RuntimeError, ValueError):
        return None
    return home / "hfedms_sim"


@dataclass(frozen=True, slots=True)
class SampleCache:
    directory: Path | None
    suffix: str
    """What the files' names end in: what they hold."""
    dtype: np.dtype[Any]
    sample_shape: tuple[int, ...]

    def load(self, device: int, samples: int) -> NDArray[Any] | None:
        """Return the device's samples, or None if they are not there as they were stored."""
        if self.directory is None:
            return None
        try:
            content = self._path(self.directory, device).read_bytes()
        except (OSError, ValueError):
            return None
        digest, values = content[:_DIGEST_BYTES], content[_DIGEST_BYTES:]
        if len(values) != samples * prod(self.sample_shape) * self.dtype.itemsize or digest != _digest(values):
            return None
        return np.frombuffer(values, dtype=self.dtype).reshape(samples, *self.sample_shape)

    def store(self, device: int, samples: NDArray[Any]) -> None:
        if self.directory is None:
            return
        path = self._path(self.directory, device)
        values = samples.astype(self.dtype, copy=False).tobytes()
        temporary = None
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            with NamedTemporaryFile(dir=path.parent, prefix=".", delete=False) as file:
                temporary = Path(file.name)
                file.write(_digest(values) + values)
            temporary.replace(path)
        except (OSError, ValueError):
            if temporary is not None:
                _remove(temporary)

    def _path(self, directory: Path, device: int) -> Path:
        return directory / str(device // _DEVICES_A_DIRECTORY) / f"{device}.{self.suffix}"


class RecentSamples:
    """The samples of the devices that were asked for last, up to a number of bytes. A copy of it starts empty."""

    def __init__(self, most_bytes: int) -> None:
        self._most_bytes = most_bytes
        self._bytes = 0
        self._samples: OrderedDict[int, NDArray[Any]] = OrderedDict()
        self._lock = Lock()

    def __reduce__(self) -> tuple[type["RecentSamples"], tuple[int]]:
        return RecentSamples, (self._most_bytes,)

    def get(self, device: int) -> NDArray[Any] | None:
        with self._lock:
            if device in self._samples:
                self._samples.move_to_end(device)
            return self._samples.get(device)

    def put(self, device: int, samples: NDArray[Any]) -> None:
        if samples.nbytes > self._most_bytes:
            return
        with self._lock:
            self._bytes += samples.nbytes - self._taken(device)
            self._samples[device] = samples
            while self._bytes > self._most_bytes:
                self._bytes -= self._taken(next(iter(self._samples)))

    def _taken(self, device: int) -> int:
        """Remove a device's samples, if they are there, and return how many bytes they had."""
        samples = self._samples.pop(device, None)
        return 0 if samples is None else samples.nbytes


def _digest(values: bytes) -> bytes:
    return blake2b(values, digest_size=_DIGEST_BYTES).digest()


def _remove(path: Path) -> None:
    try:
        path.unlink(missing_ok=True)
    except OSError:
        return
