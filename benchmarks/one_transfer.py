"""Processor seconds per transfer of a timing-only FedAvg run of `paper-stream`, in units of a bare SimPy timeout.

As a program it measures one radio, named on the command line as it is shipped, and prints JSON.
"""

import json
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from time import process_time

import simpy

from hfedms_sim.loading import load_scenario
from hfedms_sim.scenario import Scenario
from hfedms_sim.simulation import run

ROUNDS, REPEATS, TIMEOUTS = 200, 5, 300_000


def transfer_s(scenario: Scenario) -> float:
    """Return the seconds of a run, its directory included, over its transfers."""
    with tempfile.TemporaryDirectory() as directory:
        start = process_time()
        result = run(scenario, timing_only=True, out=Path(directory) / "run")
        return (process_time() - start) / len(result.transfers)


def bare_timeout_s() -> float:
    """Return the seconds of one iteration of a single process that loops over `yield env.timeout(1)`."""
    env = simpy.Environment()

    def loop() -> Iterator[simpy.Event]:
        while True:
            yield env.timeout(1)

    env.process(loop())  # type: ignore[arg-type]
    start = process_time()
    env.run(until=TIMEOUTS)
    return (process_time() - start) / TIMEOUTS


def main(profile: str) -> None:
    """Measure both in turn and keep the best of each: noise only ever adds."""
    scenario = load_scenario("paper-stream", strategy="fedavg", rounds=ROUNDS, profile=profile)
    measured = [(bare_timeout_s(), transfer_s(scenario)) for _ in range(REPEATS)]
    print(json.dumps({"timeout_s": min(each for each, _ in measured), "transfer_s": min(each for _, each in measured)}))


if __name__ == "__main__":
    main(sys.argv[1])
