"""What it costs that things may go wrong.

(a) The invariants that are watched in every run: processor seconds of a timing-only FedAvg run of `paper-stream`, with
    them and with checks that do nothing in their place. Both in one process, nine times in turn; the median ratio.
(b) Churn: one FedAvg round of a million sensors in 50 cells, in which every sensor is out of reach 5 % of the time,
    against the same round without faults. Three processes each, in turn; the best of each counts.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from statistics import median
from time import process_time
from typing import Any
from unittest import mock

from benchmarks.bars import at_most
from benchmarks.clock import measured
from hfedms_sim.loading import load_scenario
from hfedms_sim.scenario import Scenario
from hfedms_sim.simulation import run
from hfedms_sim.world.invariants import Invariants

ROUNDS, REPEATS = 200, 9
WATCHED_BAR = 1.05
SENSORS, PROCESSES = 1_000_000, 3
CHURN_BAR = 1.5


class Blind(Invariants):
    """Invariants that are not looked at."""

    def accept(self, *_: Any) -> None: ...

    def end(self, *_: Any) -> None: ...

    def end_round(self, *_: Any) -> None: ...

    def check_airtime(self, *_: Any) -> None: ...

    def check_energy(self, *_: Any) -> None: ...

    def check_idle(self, *_: Any) -> None: ...


def benchmark_invariants() -> bool:
    print(f"(a) invariants: a timing-only FedAvg run of paper-stream, {ROUNDS} rounds; median of {REPEATS} in turn")
    scenario = load_scenario("paper-stream", strategy="fedavg", profile="lte-cat-m2", rounds=ROUNDS)
    _spent_s(scenario)
    ratios = []
    for _ in range(REPEATS):
        with _blind():
            blind_s = _spent_s(scenario)
        ratios.append(_spent_s(scenario) / blind_s)
    print(f"    ratios: {', '.join(f'{ratio:.3f}' for ratio in sorted(ratios))}")
    return at_most("with invariants, to without", median(ratios), WATCHED_BAR)


def benchmark_churn() -> bool:
    print(f"(b) one FedAvg round of {SENSORS:,} sensors, 95 % of them within reach, against all")
    steady, churn = [], []
    for _ in range(PROCESSES):
        steady.append(measured("benchmarks.one_round", str(SENSORS)))
        churn.append(measured("benchmarks.one_round", str(SENSORS), "churn"))
    best = [min(each["cpu_s"] for each in runs) for runs in (steady, churn)]
    print(f"    processor seconds: {best[0]:.1f} and {best[1]:.1f}; peak memory {churn[0]['gigabytes']:.2f} GB")
    return at_most("with churn, to without", best[1] / best[0], CHURN_BAR)


@contextmanager
def _blind() -> Iterator[None]:
    with mock.patch("hfedms_sim.world.world.Invariants", Blind):
        yield


def _spent_s(scenario: Scenario) -> float:
    started = process_time()
    run(scenario, timing_only=True)
    return process_time() - started
