"""Small runs that views are tried on: they take no training, and milliseconds."""

from functools import cache
from typing import Any

import numpy as np

from hfedms_sim.result import RunResult
from hfedms_sim.scenario import load_profile
from hfedms_sim.simulation import run
from tests.conftest import tiny_scenario

LTE_M = load_profile("lte-cat-m1-hd").model_dump(mode="json")
PLACED = {
    "sensors": {"count": 12, "placement": {"kind": "uniform", "width_m": 120, "length_m": 60}},
    "cells": [
        {"name": "west", "profile": LTE_M, "x_m": 20, "y_m": 30},
        {"name": "east", "profile": LTE_M, "x_m": 100, "y_m": 30},
    ],
}


def timed(**changes: Any) -> RunResult:
    """A timing-only run of the tiny scenario."""
    return run(tiny_scenario(**changes), timing_only=True)


@cache
def timed_once() -> RunResult:
    """The tiny scenario as it is, for tests that change nothing."""
    return timed()


@cache
def placed_once() -> RunResult:
    return timed(**PLACED)


def learnt(highest: float, **changes: Any) -> RunResult:
    """A run with made-up accuracies that rise evenly; its summary says so too."""
    result = timed(**changes)
    accuracies = np.linspace(0.0, highest, len(result.rounds))
    result.rounds["accuracy"] = accuracies
    assert isinstance(result.summary, dict)
    result.summary.update(final_accuracy=highest, best_accuracy=highest)
    return result
