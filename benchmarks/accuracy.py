"""Accuracy at the paper's size, on real handwriting: `make accuracy DATA=FILE.npz`. Takes an hour on two cores.

Paper settings (368 devices, the full CNN, streamed batches of 50, all test images), three seeds (fedavg one):

- hfedms-d with T = 5 reaches 0.56 at round 60, mean of the seeds
- without semantic memory (scc: off) it is lower at round 30, paired by seed
- fedavg's loss falls in 30 rounds while its accuracy stays below 0.15
- accuracy rises on average in calibration rounds (first seed, evaluated every round)
- the peak memory of a run stays under 3 GB
"""

import json
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.bars import at_least, at_most

SEEDS = (1, 2, 3)
REACHED_BAR, FEDAVG_BAR, GIGABYTES_BAR = 0.56, 0.15, 3.0


def measure(data: str, name: str, seed: int, rounds: int, every: int) -> dict[str, Any]:
    """One run, in a process of its own."""
    command = [sys.executable, "-m", "benchmarks.accuracy_run", data, name, str(seed), str(rounds), str(every)]
    done = subprocess.run(command, check=True, capture_output=True, text=True)
    measured: dict[str, Any] = json.loads(done.stdout)
    print(f"    {name}, seed {seed}: {_line(measured)}", flush=True)
    return measured


def main(data: str, jobs: int = 2) -> bool:
    print(f"accuracy on {Path(data).name}, paper settings")
    with ThreadPoolExecutor(jobs) as pool:
        full = [pool.submit(measure, data, "hfedms-d", seed, 60, 1 if seed == SEEDS[0] else 10) for seed in SEEDS]
        without = [pool.submit(measure, data, "scc-off", seed, 30, 10) for seed in SEEDS]
        fedavg = [pool.submit(measure, data, "fedavg", SEEDS[0], 30, 10)]
        runs = [[future.result() for future in futures] for futures in (full, without, fedavg)]
    return all(_verdicts(*runs))


def _verdicts(full: list[dict[str, Any]], without: list[dict[str, Any]], fedavg: list[dict[str, Any]]) -> list[bool]:
    at_30 = np.array([run["accuracy"]["30"] for run in full]) - np.array([run["accuracy"]["30"] for run in without])
    every = [accuracy for _, accuracy in sorted((int(number), value) for number, value in full[0]["accuracy"].items())]
    steps = np.diff(every)
    calibration = np.arange(2, len(every) + 1) % 5 != 1
    loss_fell = min(run["loss"]["10"] - run["loss"]["30"] for run in fedavg)
    return [
        at_least("hfedms-d at round 60, mean", float(np.mean([run["accuracy"]["60"] for run in full])), REACHED_BAR),
        at_least("hfedms-d less scc: off at round 30, mean", float(at_30.mean()), 0.0),
        at_least("fedavg's loss at round 10 less that at round 30, least", loss_fell, 0.0),
        at_most("fedavg's accuracy at round 30, largest", max(run["accuracy"]["30"] for run in fedavg), FEDAVG_BAR),
        at_least("mean step of accuracy in calibration rounds", float(steps[calibration].mean()), 0.0),
        at_most("gigabytes, largest", max(run["gigabytes"] for run in full), GIGABYTES_BAR),
    ]


def _line(measured: dict[str, Any]) -> str:
    shown = [number for number in measured["accuracy"] if int(number) % 10 == 0]
    accuracies = ", ".join(f"{measured['accuracy'][number]:.4f} at {number}" for number in shown)
    return f"accuracy {accuracies}; {measured['seconds']:.0f} s, {measured['gigabytes']:.2f} GB"


if __name__ == "__main__":
    sys.exit(0 if main(sys.argv[1]) else 1)
