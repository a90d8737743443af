"""Seconds per transfer of a run. As a program: on the paper's profile, bare and with a full radio, as JSON."""

import json
import tempfile
from pathlib import Path
from time import perf_counter

from hfedms_sim.scenario import Scenario, load_profile, load_scenario
from hfedms_sim.simulation import run

ROUNDS, REPEATS = 200, 5


def scenarios() -> tuple[Scenario, Scenario]:
    """The full one has the set-up, block errors and energy of lte-cat-m2."""
    full = load_profile("lte-cat-m2")
    features = {"setup_s": full.setup_s, "blocks": full.blocks, "energy": full.energy}
    bare = load_scenario("paper-stream", strategy="fedavg", rounds=ROUNDS)
    (cell,) = bare.cells
    radio = cell.model_copy(update={"profile": cell.profile.model_copy(update=features)})
    return bare, bare.model_copy(update={"cells": (radio,)})


def transfer_s(scenario: Scenario) -> float:
    """Of a timing-only run, its directory included."""
    with tempfile.TemporaryDirectory() as directory:
        start = perf_counter()
        result = run(scenario, timing_only=True, out=Path(directory) / "run")
        elapsed_s = perf_counter() - start
        return elapsed_s / len(result.transfers)


def main() -> None:
    """In turn, and the best of each: noise only ever adds."""
    bare, radio = scenarios()
    measured = [(transfer_s(bare), transfer_s(radio)) for _ in range(REPEATS)]
    print(json.dumps({"bare_s": min(each for each, _ in measured), "radio_s": min(each for _, each in measured)}))


if __name__ == "__main__":
    main()
