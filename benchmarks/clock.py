"""The clock: what a transfer costs, bare and on a full radio, and what a round costs as the factory grows.

(a) A timing-only FedAvg run of `paper-stream`, run directory included: seconds per transfer, in units of one iteration
    of a single process that loops over `yield env.timeout(1)`. Both are measured in turn, three times; the best of
    each counts.
(b) One FedAvg round with 30 % of 10,000, 100,000 and 1,000,000 sensors in 50 cells, three processes each: seconds of
    playing and writing (start-up excluded) and peak memory; the best counts. A process repeats a short round.
(c) The same run with the set-up, block errors and energy of lte-cat-m2 added to the paper's profile, against the
    paper's profile alone: in turn, in fifteen processes; the best of each. Where its memory happens to lie moves a
    whole process by several percent.
"""

import json
import subprocess
import sys
from collections.abc import Iterator
from time import perf_counter
from typing import Any

import simpy

from benchmarks import one_transfer
from benchmarks.bars import at_most
from hfedms_sim.scenario import load_scenario

REPEATS = 3
TIMEOUTS = 300_000
TRANSFER_BAR = 25.0
FULL_RADIO_PROCESSES, FULL_RADIO_BAR = 15, 1.3
SCALES = (10_000, 100_000, 1_000_000)
LARGEST_SECONDS_BAR, LARGEST_GIGABYTES_BAR, PER_SENSOR_BAR = 180.0, 6.0, 1.5


def benchmark_transfers() -> bool:
    scenario = load_scenario("paper-stream", strategy="fedavg")
    timeout_s, transfer_s = [], []
    for _ in range(REPEATS):
        timeout_s.append(_bare_timeout_s())
        transfer_s.append(one_transfer.transfer_s(scenario))
    ratio = min(transfer_s) / min(timeout_s)
    print(
        "(a) a transfer of a timing-only FedAvg run of paper-stream, with its trace row, against a bare SimPy timeout"
    )
    print(f"    timeout {min(timeout_s) * 1e6:.2f} us, transfer {min(transfer_s) * 1e6:.2f} us")
    return at_most("ratio", ratio, TRANSFER_BAR)


def benchmark_full_radio() -> bool:
    print("(c) a transfer with set-up, block errors and energy, against one on the paper's profile")
    measured = [_measured("benchmarks.one_transfer") for _ in range(FULL_RADIO_PROCESSES)]
    for each in measured:
        print(f"    paper {each['bare_s'] * 1e6:.2f} us, with radio {each['radio_s'] * 1e6:.2f} us")
    bare_s, radio_s = (min(each[key] for each in measured) for key in ("bare_s", "radio_s"))
    return at_most(f"ratio, best of {FULL_RADIO_PROCESSES} processes", radio_s / bare_s, FULL_RADIO_BAR)


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
        at_most("seconds of the largest", largest["wall_s"], LARGEST_SECONDS_BAR),
        at_most("gigabytes of the largest", largest["gigabytes"], LARGEST_GIGABYTES_BAR),
        at_most("time per sensor, largest to smallest", growth, PER_SENSOR_BAR),
    ]
    return all(met)


def _bare_timeout_s() -> float:
    env = simpy.Environment()

    def loop() -> Iterator[simpy.Event]:
        while True:
            yield env.timeout(1)

    env.process(loop())  # type: ignore[arg-type]
    start = perf_counter()
    env.run(until=TIMEOUTS)
    return (perf_counter() - start) / TIMEOUTS


def _rounds_of(count: int) -> list[dict[str, Any]]:
    return [_measured("benchmarks.one_round", str(count)) for _ in range(REPEATS)]


def _measured(module: str, *arguments: str) -> dict[str, Any]:
    """In a process of its own: its memory, and where that lies, are this measurement's alone."""
    command = [sys.executable, "-m", module, *arguments]
    return dict(json.loads(subprocess.run(command, check=True, capture_output=True).stdout))
