"""Runs of the exact factory of windows_by_hand.py."""

from typing import Any

import pytest

from hfedms_sim.result import RunResult
from hfedms_sim.simulation import run
from tests.window_factory import exact_scenario
from tests.world.windows_by_hand import UNEQUAL, Played


@pytest.fixture(scope="module")
def played(tmp_path_factory: pytest.TempPathFactory) -> Played:
    directory = tmp_path_factory.mktemp("processors")

    def made(
        strategy: dict[str, Any], work_s: tuple[int, ...] = UNEQUAL, *faults: dict[str, Any], **keys: Any
    ) -> RunResult:
        scenario = exact_scenario(directory, strategy, work_s, faults=list(faults), **keys)
        return run(scenario, timing_only=True)

    return made
