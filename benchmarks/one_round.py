"""One FedAvg round of COUNT sensors in 50 cells; prints seconds and peak memory as JSON. Used by benchmarks.clock.

With `churn` every sensor is out of reach 5 % of the time, for a day on average. With `async` it is no round of FedAvg
but three windows of FedBuff, each of a third of its arrivals, with as many sensors under way.
"""

import json
import resource
import sys
import tempfile
from pathlib import Path
from time import perf_counter, process_time

from hfedms_sim.loading import load_scenario
from hfedms_sim.scenario import Scenario
from hfedms_sim.simulation import run

MINIMUM_S = 1.5
CELLS = ", ".join(f"{{name: cell{number}, profile: lte-cat-m2-paper}}" for number in range(50))


CHURN = f"faults=[{{kind: sensor-outage, mean_up_s: {19 * 86_400.0}, mean_down_s: {86_400.0}}}]"


def scenario_of(count: int, *kinds: str) -> Scenario:
    overrides = [f"sensors.count={count}", f"cells=[{CELLS}]"]
    if "async" in kinds:
        overrides.append(f"strategy.buffer={max(1, count // 10)}")
        return load_scenario("paper-stream", strategy="fedbuff", rounds=3, overrides=overrides)
    overrides += [CHURN] if "churn" in kinds else []
    return load_scenario("paper-stream", strategy="fedavg", rounds=1, overrides=overrides)


def main(count: int, *kinds: str) -> None:
    """A short round is repeated for a second or so, and the quickest counts: noise only ever adds."""
    measured: list[dict[str, float]] = []
    with tempfile.TemporaryDirectory() as directory:
        run(scenario_of(500), timing_only=True, out=Path(directory) / "warm-up")
        started = perf_counter()
        while not measured or perf_counter() - started < MINIMUM_S:
            start = process_time()
            result = run(scenario_of(count, *kinds), timing_only=True, out=Path(directory) / f"run{len(measured)}")
            phases = result.provenance["wall_s"]
            spent = {"seconds": phases["play"] + phases["write"], "cpu_s": process_time() - start}
            begun = len(result.arrow("transfers")) + result.rounds["under_way"].fillna(0).iloc[-1]
            measured.append(spent | {"transfers": int(begun)})
    gigabytes = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e6  # ru_maxrss is in kilobytes
    print(json.dumps(min(measured, key=lambda each: each["seconds"]) | {"gigabytes": gigabytes}))


if __name__ == "__main__":
    main(int(sys.argv[1]), *sys.argv[2:])
