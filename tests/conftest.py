"""What tests share: a SimPy environment, a log, and small scenarios."""

import os
import signal
from collections.abc import Container, Iterable, Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import settings
from simpy import Environment

from hfedms_sim.loading import scenario_of
from hfedms_sim.scenario import Scenario

# A busy machine is no failure: no example has a deadline.
settings.register_profile("repeatable", deadline=None, derandomize=True)
settings.register_profile("exploring", deadline=None)
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "repeatable"))

# A shell that starts tests in the background has its commands ignore Ctrl-C, and theirs; tests send it.
signal.signal(signal.SIGINT, signal.default_int_handler)

FAST = {"name": "fast", "uplink_bps": 8e3, "downlink_bps": 8e3}  # a kilobyte a second, one channel


@pytest.fixture(autouse=True, scope="session")
def shared_cache(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """Glyphs are drawn once for all tests, and never into the user's own cache."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("XDG_CACHE_HOME", str(tmp_path_factory.mktemp("cache")))
        yield


def some_of(values: Iterable[Any], kept: Container[Any]) -> list[Any]:
    """Return values to parametrize by: those that are kept are in every run, the others in `make thorough` too."""
    return [each if each in kept else pytest.param(each, marks=pytest.mark.thorough) for each in values]


@pytest.fixture
def env() -> Environment:
    return Environment(0.0)


@pytest.fixture
def log() -> list[Any]:
    return []


def without_checksums(directory: Path) -> Path:
    """Return a run's or a campaign's directory as an earlier version left it, whose files anybody may change."""
    (directory / "SHA256SUMS").unlink()
    return directory


def tiny_scenario(**changes: Any) -> Scenario:
    """Eight sensors in one cell; `changes` replace top-level keys."""
    raw: dict[str, Any] = {
        "name": "tiny",
        "rounds": 6,
        "model": "tiny-mlp",
        "sensors": {"count": 8},
        "cells": [{"name": "hall", "profile": FAST}],
        "strategy": {"name": "hfedms-d", "interval": 3, "beta": 2, "sample_ratio": 0.5},
    }
    return scenario_of(raw | changes)
