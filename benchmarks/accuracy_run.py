"""One run of benchmarks.accuracy: DATA NAME SEED ROUNDS EVALUATE_EVERY; prints accuracies, loss and memory as JSON."""

import json
import resource
import sys
from time import perf_counter

from hfedms_sim.loading import load_scenario
from hfedms_sim.simulation import run

STRATEGIES = {"hfedms-d": "hfedms-d", "scc-off": "hfedms-d", "fedavg": "fedavg"}


def main(data: str, name: str, seed: int, rounds: int, every: int) -> None:
    overrides = [f"data={{set: npz, path: {data}}}", f"evaluate_every={every}"]
    if name == "scc-off":
        overrides.append("strategy.scc=off")
    scenario = load_scenario("paper-stream", strategy=STRATEGIES[name], seed=seed, rounds=rounds, overrides=overrides)
    started = perf_counter()
    result = run(scenario)
    rounds_table = result.rounds.dropna(subset=["accuracy"]).set_index("round")
    measured = {
        "accuracy": {str(number): value for number, value in rounds_table["accuracy"].items()},
        "loss": {str(number): value for number, value in rounds_table["loss"].items()},
        "seconds": perf_counter() - started,
        "gigabytes": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e6,  # ru_maxrss is in kilobytes
        "wall_s": result.provenance["wall_s"],
    }
    print(json.dumps(measured))


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2], *map(int, sys.argv[3:]))
