"""A factory for windows on an exact clock: a model takes 4 s down and 8 s up, on channels of each sensor's own, and in
between a sensor works for as many seconds as its processor is given.
"""

from pathlib import Path
from typing import Any

from hfedms_sim.loading import scenario_of
from hfedms_sim.models import spec_of
from hfedms_sim.scenario import TRAINING_PASSES, Scenario

MODEL, BATCH = spec_of("tiny-mlp"), 50
DOWN_S, UP_S = 4.0, 8.0
RADIO = {
    "name": "exact",
    "uplink_bps": 8 * MODEL.model_bytes / UP_S,
    "downlink_bps": 8 * MODEL.model_bytes / DOWN_S,
    "channels": "dedicated",
}


def exact_scenario(
    directory: Path,
    strategy: dict[str, Any],
    work_s: tuple[int, ...],
    *,
    cells: tuple[str, ...] = ("hall",),
    radio: dict[str, Any] | None = None,
    batch: int = BATCH,
    **keys: Any,
) -> Scenario:
    """Return a scenario of sensors that work for so many seconds each; the file of their processors is left there.

    Times are exact if the seconds divide the multiply-adds of a batch, as the numbers up to 6, 8, 9, 12 and 16 do.
    """
    path = directory / f"{'-'.join(str(each) for each in work_s)}.csv"
    lines = [f"{sensor},takes-{seconds}" for sensor, seconds in enumerate(work_s)]
    path.write_text("\n".join(["sensor,device", *lines]) + "\n")
    multiply_adds = TRAINING_PASSES * MODEL.multiply_adds * batch * strategy.get("epochs", 1)
    devices = {f"takes-{each}": {"multiply_adds_per_s": multiply_adds / each, "power_w": 0.0} for each in work_s}
    raw: dict[str, Any] = {
        "name": "windows",
        "rounds": 6,
        "model": "tiny-mlp",
        "sensors": {"count": len(work_s)},
        "cells": [{"name": name, "profile": RADIO | (radio or {})} for name in cells],
        "compute": {"devices": devices, "path": str(path)},
        "stream": {"batch": batch},
        "strategy": strategy,
    }
    return scenario_of(raw | keys)


def turns_s(work_s: tuple[int, ...]) -> list[float]:
    """Return how long a turn of each sensor takes: down, work, up."""
    return [DOWN_S + each + UP_S for each in work_s]
