"""The clock: what a transfer costs, bare and on a full radio, and what a round costs as the factory grows.

(a) A timing-only FedAvg run of `paper-stream`, run directory included: seconds per transfer, in units of one iteration
    of a single process that loops over `yield env.timeout(1)`. Both are measured in turn, three times; the best of
    each counts.
(b) One FedAvg round with 30 % of 10,000, 100,000 and 1,000,000 sensors in 50 cells, three processes each: seconds of
    playing and writing (start-up excluded) and peak memory; the best counts. A process repeats a short round.
(c) The same run with the set-up, block errors and energy of lte-cat-m2 added to the paper's profile, against the
    paper's profile alone, in turn; the best of each.
"""

import json
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from time import perf_counter
from typing import Any

import simpy

from benchmarks.bars import at_most
from hfedms_sim.scenario import Scenario, load_profile, load_scenario
from hfedms_sim.simulation import run

REPEATS = 3
TIMEOUTS = 300_000
TRANSFER_BAR = 25.0
FULL_RADIO_ROUNDS, FULL_RADIO_REPEATS, FULL_RADIO_BAR = 200, 21, 1.3
SCALES = (10_000, 100_000, 1_000_000)
LARGEST_SECONDS_BAR, LARGEST_GIGABYTES_BAR, PER_SENSOR_BAR = 180.0, 6.0, 1.5


def benchmark_transfers() -> bool:
    scenario = load_scenario("paper-stream", strategy="fedavg")
    timeout_s, transfer_s = [], []
    for _ in range(REPEATS):
        timeout_s.append(_bare_timeout_s())
        transfer_s.append(_transfer_s(scenario))
    ratio = min(transfer_s) / min(timeout_s)
    print(
        "(a) a transfer of a timing-only FedAvg run of paper-stream, with its trace row, against a bare SimPy timeout"
    )
    print(f"    timeout {min(timeout_s) * 1e6:.2f} us, transfer {min(transfer_s) * 1e6:.2f} us")
    return at_most("ratio", ratio, TRANSFER_BAR)


def benchmark_full_radio() -> bool:
    full = load_profile("lte-cat-m2")
    features = {"setup_s": full.setup_s, "blocks": full.blocks, "energy": full.energy}
    bare = load_scenario("paper-stream", strategy="fedavg", rounds=FULL_RADIO_ROUNDS)
    (cell,) = bare.cells
    radio = bare.model_copy(
        update={"cells": (cell.model_copy(update={"profile": cell.profile.model_copy(update=features)}),)}
    )
    bare_s, radio_s = [], []
    for _ in range(FULL_RADIO_REPEATS):
        bare_s.append(_transfer_s(bare))
        radio_s.append(_transfer_s(radio))
    print("(c) a transfer with set-up, block errors and energy, against one on the paper's profile")
    print(f"    paper {min(bare_s) * 1e6:.2f} us, with radio {min(radio_s) * 1e6:.2f} us")
    return at_most("ratio", min(radio_s) / min(bare_s), FULL_RADIO_BAR)


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


def _transfer_s(scenario: Scenario) -> float:
    with tempfile.TemporaryDirectory() as directory:
        start = perf_counter()
        result = run(scenario, timing_only=True, out=Path(directory) / "run")
        elapsed_s = perf_counter() - start
        return elapsed_s / len(result.transfers)


def _rounds_of(count: int) -> list[dict[str, Any]]:
    """In processes of their own, so that peak memory is this round's."""
    command = [sys.executable, "-m", "benchmarks.one_round", str(count)]
    return [json.loads(subprocess.run(command, check=True, capture_output=True).stdout) for _ in range(REPEATS)]
