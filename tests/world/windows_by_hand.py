"""A factory whose windows can be worked out by hand, and what is read of its runs.

The radio is exact: a model takes 4 s down and 8 s up, on channels of each sensor's own; between them a sensor works for
as long as its processor says. With 2, 4 and 8 s of work a turn of sensors 0, 1 and 2 takes 14, 16 and 20 s.
"""

from collections.abc import Callable
from typing import Any

import numpy as np
import pandas as pd

from hfedms_sim.result import RunResult
from hfedms_sim.seeds import Draws
from hfedms_sim.simulation import play
from tests.window_factory import MODEL, UP_S

REPORT_S = 4 * MODEL.classes / MODEL.model_bytes * UP_S  # class counts of four bytes each
UNEQUAL, EQUAL = (2, 4, 8), (2, 2, 2)
FLAT = {"voltage_v": 1.0} | dict.fromkeys(("transmit_ma", "receive_ma", "connected_ma", "sleep_ma"), 100.0)  # 0.1 W
FEDASYNC = {"name": "fedasync", "sample_ratio": 1.0}

Played = Callable[..., RunResult]
Row = tuple[float, float, int, float | None, int]
Turn = tuple[int, float, int]


def fedbuff(buffer: int, sample_ratio: float = 1.0, **keys: Any) -> dict[str, Any]:
    return {"name": "fedbuff", "buffer": buffer, "sample_ratio": sample_ratio} | keys


def windows(result: RunResult) -> list[Row]:
    """Return for each window when it began and was closed, how many arrived, how stale, how many went on."""
    columns = ("start_s", "end_s", "arrived", "staleness", "under_way")
    rows = zip(*(result.rounds[column] for column in columns), strict=True)
    return [
        (round(a, 6), round(b, 6), int(n), None if pd.isna(s) else round(s, 6), 0 if pd.isna(u) else int(u))
        for a, b, n, s, u in rows
    ]


def ends(result: RunResult) -> list[tuple[float, float]]:
    return [row[:2] for row in windows(result)]


def starts(result: RunResult) -> list[Turn]:
    """Return who was sent a model when, and which, in the order in which that began: (sensor, second, version)."""
    rows = result.transfers[result.transfers["direction"] == "down"].sort_values(["start_s", "version", "sensor"])
    columns = ("sensor", "start_s", "version")
    return [(int(k), round(s, 6), int(v)) for k, s, v in zip(*(rows[column] for column in columns), strict=True)]


def arrivals(result: RunResult) -> list[list[tuple[int, int]]]:
    """Return for each window who arrived in it, and from which version, in the order in which it was heard of."""
    windows_of = [each.record for each in play(result.scenario)]
    return [
        [
            (chain[0].sensor, started - 1)
            for chain, started, arrived in zip(record.chains, record.started, record.arrived, strict=True)
            if arrived
        ]
        for record in windows_of
    ]


def drawn(window: int, *idle: int) -> list[int]:
    """Return the idle sensors in the order in which they are drawn in a window."""
    order: list[int] = Draws(1).order("selection", np.array(sorted(idle)), window).tolist()
    return order
