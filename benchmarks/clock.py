"""The clock: what a transfer costs on radios as they are shipped, and what a round costs as the factory grows.

(a) A timing-only FedAvg run of `paper-stream`, run directory included, on the paper's profile and on `lte-cat-m2` with
    all it has (set-up, block errors, latency, energy): processor seconds per transfer, in units of one iteration of a
    single process that loops over `yield env.timeout(1)`. One process for each radio; both are measured in turn, five
    times, and the best of each counts.
(b) One FedAvg round with 30 % of 10,000, 100,000 and 1,000,000 sensors in 50 cells, three processes each: seconds of
    playing and writing (start-up excluded) and peak memory; the best counts. A process repeats a short round.

The bars of (a) and of the largest round are 1.5 times the first reading of the same workload before transfers became
SimPy events that can fail (commit c1a41af); they are missed, and docs/design.md says what for.
"""

import json
import subprocess
import sys
from typing import Any

from benchmarks.bars import at_most

REPEATS = 3
BEFORE = {"lte-cat-m2-paper": 11.9, "lte-cat-m2": 20.4}  # bare timeouts a transfer
SCALES = (10_000, 100_000, 1_000_000)
BEFORE_SECONDS, BEFORE_GIGABYTES = 11.2, 0.73  # of the largest
ALLOWED = 1.5
PER_SENSOR_BAR = 1.5


def benchmark_transfers() -> bool:
    print("(a) a transfer of a timing-only FedAvg run of paper-stream, with its trace row, in bare SimPy timeouts")
    met = []
    for profile, before in BEFORE.items():
        figures = measured("benchmarks.one_transfer", profile)
        timeout_s, transfer_s = figures["timeout_s"], figures["transfer_s"]
        print(f"    {profile}: timeout {timeout_s * 1e6:.2f} us, transfer {transfer_s * 1e6:.2f} us")
        met.append(at_most(f"ratio on {profile}", transfer_s / timeout_s, ALLOWED * before))
    return all(met)


def benchmark_scale() -> bool:
    print("(b) one FedAvg round, 30 % of the sensors, 50 cells; best of three processes each")
    best = {count: min(_rounds_of(count), key=lambda each: float(each["seconds"])) for count in SCALES}
    for count, each in best.items():
        per_sensor_us = each["seconds"] / count * 1e6
        memory = f"peak memory {each['gigabytes']:.2f} GB"
        print(f"    {count:>9,} sensors: {each['seconds']:7.2f} s, {per_sensor_us:5.2f} us a sensor, {memory}")
    largest, smallest = best[SCALES[-1]], best[SCALES[0]]
    growth = (largest["seconds"] / SCALES[-1]) / (smallest["seconds"] / SCALES[0])
    met = [
        at_most("processor seconds of the largest", largest["cpu_s"], ALLOWED * BEFORE_SECONDS),
        at_most("gigabytes of the largest", largest["gigabytes"], ALLOWED * BEFORE_GIGABYTES),
        at_most("time per sensor, largest to smallest", growth, PER_SENSOR_BAR),
    ]
    return all(met)


def _rounds_of(count: int) -> list[dict[str, Any]]:
    return [measured("benchmarks.one_round", str(count)) for _ in range(REPEATS)]


def measured(module: str, *arguments: str) -> dict[str, Any]:
    """In a process of its own: its memory, and where that lies, are this measurement's alone."""
    command = [sys.executable, "-m", module, *arguments]
    return dict(json.loads(subprocess.run(command, check=True, capture_output=True).stdout))
