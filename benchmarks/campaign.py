"""Campaigns: what many trials cost beyond what must be done once. `python -m benchmarks.campaign` runs these alone.

(g) The full CNN with FedAvg, about a minute on one profile: `compare` over eight profiles against `run` over one, each
    a process of its own. It must train every round once, and the accuracies must be the same in all trials.
(h) 1,000 timing-only trials (40 sensors, 5 rounds): `compare` over seeds with one job, against the same runs in a loop
    in one process; run directories are written in both.

Costs are seconds of processor time, of the process and its children; wall time is printed beside them.
"""

import csv
import json
import resource
import subprocess
import sys
import tempfile
from pathlib import Path
from time import perf_counter
from typing import NamedTuple

from benchmarks.bars import at_most

PROFILES = (
    "lte-cat-m2-paper,lte-cat-m2,lte-cat-m1-fd,lte-cat-m1-hd,wifi-halow,private-5g,redcap,ethernet"  # all feasible
)
TRAINING = ("paper-stream", "--set", "sensors={count: 40, types: 5}", "--set", "engine=generic", "--rounds", "11")
LEARN_ONCE_BAR = 1.3
TRIALS, TRIAL_ROUNDS, TRIAL_MS_BAR = 1000, 5, 30.0
HFEDMS_SIM = (sys.executable, "-m", "hfedms_sim.cli")
LOOP = f"""
import sys
from pathlib import Path
from hfedms_sim.loading import load_scenario
from hfedms_sim.simulation import run

for seed in range(1, {TRIALS} + 1):
    scenario = load_scenario("quickstart", rounds={TRIAL_ROUNDS}, seed=seed)
    run(scenario, timing_only=True, out=Path(sys.argv[1]) / str(seed))
"""


class Cost(NamedTuple):
    processor_s: float
    wall_s: float


def benchmark_campaigns() -> bool:
    return all([_learn_once(), _many_trials()])


def _learn_once() -> bool:
    print("(g) compare of eight profiles, full CNN, against run of one")
    with tempfile.TemporaryDirectory() as directory:
        one, many = Path(directory) / "one", Path(directory) / "many"
        single = _cost(*HFEDMS_SIM, "run", *TRAINING, "--strategy", "fedavg", "--quiet", "--out", str(one))
        every = _cost(
            *HFEDMS_SIM,
            "compare",
            *TRAINING,
            "--strategies",
            "fedavg",
            "--profiles",
            PROFILES,
            "--quiet",
            "--out",
            str(many),
        )
        with (many / "trials.csv").open() as file:
            accuracies = {row["accuracy"] for row in csv.DictReader(file) if row["target"] == "end"}
        accuracies.add(str(json.loads((one / "summary.json").read_text())["final_accuracy"]))
        files = sorted(many.glob("trials/*/provenance.json"))
        trained = sum(json.loads(path.read_text())["rounds_trained"] for path in files)
    print(f"    run {single.processor_s:.1f} s of processor time ({single.wall_s:.1f} s), ", end="")
    print(f"compare {every.processor_s:.1f} s ({every.wall_s:.1f} s); {len(files)} trials, {trained} rounds trained")
    return all(
        [
            at_most("processor time, compare to run", every.processor_s / single.processor_s, LEARN_ONCE_BAR),
            at_most("rounds trained", trained, int(TRAINING[-1])),
            at_most("different accuracies", len(accuracies), 1),
        ]
    )


def _many_trials() -> bool:
    print(f"(h) {TRIALS:,} timing-only trials against a loop in one process")
    with tempfile.TemporaryDirectory() as directory:
        loop = _cost(sys.executable, "-c", LOOP, str(Path(directory) / "loop"))
        trials = _cost(
            *HFEDMS_SIM, "compare", "quickstart", "--profiles", "lte-cat-m2", "--seeds", f"1:{TRIALS}",
            "--rounds", str(TRIAL_ROUNDS), "--timing-only", "--quiet", "--out", str(Path(directory) / "trials"),
        )  # fmt: skip
    for name, cost in (("loop", loop), ("campaign", trials)):
        print(f"    {name}: {1000 * cost.processor_s / TRIALS:.1f} ms a trial ({1000 * cost.wall_s / TRIALS:.1f} ms)")
    return at_most(
        "ms a trial more than the loop", 1000 * (trials.processor_s - loop.processor_s) / TRIALS, TRIAL_MS_BAR
    )


def _cost(*command: str) -> Cost:
    def spent_s() -> float:
        usage = resource.getrusage(resource.RUSAGE_CHILDREN)
        return usage.ru_utime + usage.ru_stime

    before_s, started_s = spent_s(), perf_counter()
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
    return Cost(spent_s() - before_s, perf_counter() - started_s)


if __name__ == "__main__":
    sys.exit(0 if benchmark_campaigns() else 1)
