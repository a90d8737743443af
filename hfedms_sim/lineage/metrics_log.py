"""An append-only log of finished rounds: a line each, with a checksum of its own.

    CHECKSUM {"round": 12, "lineage": "...", "finite": true}
    CHECKSUM {"round": 12, "lineage": "...", "probe_round": null, "metrics": [0.61, 1.3, 0.5, 0.6, 0.7, null]}

The first says that a round was learnt, and whether every weight is finite; the second what its model measured, which
depends on the probe round too. A line whose checksum does not match counts as not written. Numbers are written with
all their digits, so that they come back as the same bits.
"""

import json
import os
from collections.abc import Iterator
from hashlib import sha256
from pathlib import Path
from typing import Any, NamedTuple

from hfedms_sim.system.files import opened_at_end

_CHECKSUM_DIGITS = 16


class Metrics(NamedTuple):
    """What a model measured on test data.

    Accuracy and loss are means over all test samples; percentiles are of the sensors' own accuracies.

    Each is a column of that name in the table of rounds; None is what was not measured.
    """

    accuracy: float | None = None
    loss: float | None = None
    accuracy_p10: float | None = None
    accuracy_p50: float | None = None
    accuracy_p90: float | None = None
    probe_accuracy: float | None = None


class MetricsLog:
    """`finite` and `metrics` hold what the file said when it was opened, and what has been noted since."""

    def __init__(self, path: Path) -> None:
        self.finite: dict[str, bool] = {}
        self.metrics: dict[tuple[str, int | None], Metrics] = {}
        self.damaged_lines = 0
        self.has_torn_end = False
        self._path = path
        self._descriptor: int | None = None
        for entry in self._entries():
            self._take(entry)

    def note_learnt(self, round_number: int, lineage: str, finite: bool) -> None:
        self._append({"round": round_number, "lineage": lineage, "finite": finite})

    def note_metrics(self, round_number: int, lineage: str, probe_round: int | None, metrics: Metrics) -> None:
        self._append({"round": round_number, "lineage": lineage, "probe_round": probe_round, "metrics": list(metrics)})

    def sync(self) -> None:
        """What was noted so far has reached the disk."""
        if self._descriptor is not None:
            os.fsync(self._descriptor)

    def close(self) -> None:
        if self._descriptor is not None:
            os.close(self._descriptor)
            self._descriptor = None

    def _entries(self) -> Iterator[dict[str, Any]]:
        lines = self._path.read_bytes().split(b"\n") if self._path.is_file() else [b""]
        *whole, rest = lines
        self.has_torn_end = bool(rest)
        for line in whole:
            entry = _parsed(line)
            if entry is None:
                self.damaged_lines += 1
            else:
                yield entry

    def _take(self, entry: dict[str, Any]) -> None:
        if "metrics" in entry:
            self.metrics[entry["lineage"], entry["probe_round"]] = Metrics(*entry["metrics"])
        else:
            self.finite[entry["lineage"]] = entry["finite"]

    def _append(self, entry: dict[str, Any]) -> None:
        if self._descriptor is None:
            self._descriptor = self._opened()
        content = json.dumps(entry).encode()
        line = _checksum(content) + b" " + content + b"\n"
        written = os.write(self._descriptor, line)
        if written < len(line):  # a disk that is nearly full takes a part; the rest makes it say so
            os.write(self._descriptor, line[written:])
        self._take(entry)

    def _opened(self) -> int:
        """Return the log opened at its end, where a line that was torn is cut off first."""
        descriptor = opened_at_end(self._path)
        if self.has_torn_end:
            content = self._path.read_bytes()
            os.ftruncate(descriptor, content.rfind(b"\n") + 1)
            self.has_torn_end = False
        return descriptor


def _parsed(line: bytes) -> dict[str, Any] | None:
    checksum, _, content = line.partition(b" ")
    if checksum != _checksum(content):
        return None
    try:
        entry: dict[str, Any] = json.loads(content)
        return entry if _is_sound(entry) else None
    except (ValueError, KeyError, TypeError, RecursionError):
        return None  # whoever can compute a checksum can write anything


def _is_sound(entry: Any) -> bool:
    """Return whether an entry is one of the two kinds that there are."""
    if not isinstance(entry["lineage"], str):
        return False
    if "metrics" not in entry:
        return isinstance(entry["finite"], bool)
    is_probed = entry["probe_round"] is None or type(entry["probe_round"]) is int
    return is_probed and 0 < len(entry["metrics"]) <= len(Metrics._fields) and all(map(_is_figure, entry["metrics"]))


def _is_figure(value: Any) -> bool:
    """Return whether a value can be a measured figure: none, or a number that fits."""
    return value is None or isinstance(value, float) or (type(value) is int and abs(value) < 2**63)


def _checksum(content: bytes) -> bytes:
    return sha256(content).hexdigest()[:_CHECKSUM_DIGITS].encode()
