"""Inter-cluster grouping: the exact solver against the reference, two rivals, and itself as the factory grows.

One run is a whole grouping (sampling, start, ten k-means iterations, drawing) of 50-sample batches of sensors of ten
types into groups of L = 7; the factory is such that no solver settles before the tenth iteration. The rivals get the
sampled counts and the same start, and only their clustering is timed. Best of several runs, taken in turn.

- The package k-means-constrained is the reference of the paper's authors. It minimises *unsquared*, rounded distances:
  its objective (in squared ones) is printed beside ours.
- OR-tools' min-cost flow solves our assignment problem, in our k-means loop.

Into ten groups, however many sensors there are, is another matter: clusters are small then, and as many as a tenth of
the sensors. `nested` is compared with `exact` where that is still practical, by objective; benchmarks.grouping_blocks
does so for more sizes and data. Then it groups 100,000 sensors.
"""

import json
import subprocess
import sys
from importlib.util import find_spec
from math import log
from typing import Any

from benchmarks.bars import at_least, at_most
from benchmarks.grouping_runs import ITERATIONS, Size, best_s, factory, group, group_until_settled
from benchmarks.spent import timed

SMALL, MIDDLE, LARGE, LARGEST = Size(368, 52), Size(3_550, 507), Size(20_000, 2_857), Size(100_000, 14_285)
FEW_GROUPS, FEW_GROUPS_LARGEST = Size(3_550, 10), Size(100_000, 10)
NESTED_LOSS_BAR, NESTED_SECONDS_BAR = 1.03, 60.0
PULP_MS_BAR, INTEGER_PROGRAM_BAR, LARGEST_SECONDS_BAR, GROWTH_BAR = 100.0, 50.0, 1.5, 1.1
RIVAL_BARS = [
    ("k-means-constrained", SMALL, 1.5, 20),
    ("k-means-constrained", MIDDLE, 4.0, 5),
    ("k-means-constrained", LARGE, 8.0, 3),
    ("min-cost-flow", LARGE, 4.0, 3),
]  # rival, size, bar, runs
PACKAGE_OF = {"k-means-constrained": "k_means_constrained", "min-cost-flow": "ortools"}


def benchmark_grouping() -> bool:
    print(f"(d) inter-cluster grouping, {ITERATIONS} iterations, groups of 7; best of several runs")
    met = [_solvers(), _growth(), _blocks()]
    met += [_rival(rival, size, bar, runs) for rival, size, bar, runs in RIVAL_BARS]
    return all(met)


def _solvers() -> bool:
    counts = factory(SMALL.sensors)
    works = [lambda: group(counts, SMALL, "exact"), lambda: group(counts, SMALL, "pulp")]
    exact_s, pulp_s = best_s(works, runs=20)
    (integer_s,) = best_s([lambda: group(counts, SMALL, "pulp-ilp")], runs=3)
    print(f"    K = 368: exact {exact_s * 1e3:.1f} ms, pulp {pulp_s * 1e3:.0f} ms, pulp-ilp {integer_s * 1e3:.0f} ms")
    quick = at_most("milliseconds of pulp", pulp_s * 1e3, PULP_MS_BAR)
    return at_least("exact against pulp-ilp", integer_s / exact_s, INTEGER_PROGRAM_BAR) and quick


def _growth() -> bool:
    middle, largest = factory(MIDDLE.sensors), factory(LARGEST.sensors)
    works = [lambda: group(middle, MIDDLE, "exact"), lambda: group(largest, LARGEST, "exact")]
    middle_s, largest_s = best_s(works, runs=7)
    print(f"    exact: K = 3,550 {middle_s * 1e3:.1f} ms, K = 100,000 {largest_s * 1e3:.0f} ms")
    growth = log(largest_s / middle_s) / log(LARGEST.sensors / MIDDLE.sensors)
    short = at_most("seconds of exact, K = 100,000", largest_s, LARGEST_SECONDS_BAR)
    return at_most("growth exponent of exact", growth, GROWTH_BAR) and short


def _blocks() -> bool:
    counts, many = factory(FEW_GROUPS.sensors), factory(FEW_GROUPS_LARGEST.sensors)
    nested, exact = (group_until_settled(counts, FEW_GROUPS, solver).objective for solver in ("nested", "exact"))
    print(f"    K = 3,550 in 10 groups: objective of nested {nested:.0f}, of exact {exact:.0f}")
    spent = timed(lambda: group_until_settled(many, FEW_GROUPS_LARGEST, "nested"))
    near = at_most("objective of nested against exact", nested / exact, NESTED_LOSS_BAR)
    return at_most("processor seconds of nested, K = 100,000 in 10 groups", spent.cpu_s, NESTED_SECONDS_BAR) and near


def _rival(rival: str, size: Size, bar: float, runs: int) -> bool:
    if find_spec(PACKAGE_OF[rival]) is None:
        print(f"    {rival}, K = {size.sensors:,}: skipped, the package {PACKAGE_OF[rival]} is not installed")
        return True
    command = [sys.executable, "-m", "benchmarks.grouping_rivals", rival, *map(str, (*size, runs))]
    measured: dict[str, Any] = json.loads(subprocess.run(command, check=True, capture_output=True).stdout)
    ours, theirs = (
        f"{who} {measured[key + '_s'] * 1e3:.1f} ms, objective {measured[key + '_objective']:.0f}"
        for who, key in (("exact", "exact"), (rival, "rival"))
    )
    print(f"    K = {size.sensors:,}: {ours}; {theirs} after {measured['rival_iterations']} iterations")
    return at_least(f"exact against {rival}", measured["rival_s"] / measured["exact_s"], bar)
