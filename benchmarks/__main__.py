"""Runs the benchmarks, all or those named, and says which bars are met; exit code 1 if one is not."""

import sys

from benchmarks.campaign import benchmark_campaigns
from benchmarks.clock import benchmark_scale, benchmark_transfers
from benchmarks.engine import benchmark_engines
from benchmarks.engine_modules import benchmark_modules
from benchmarks.engine_rivals import benchmark_rivals
from benchmarks.estimate import benchmark_estimate
from benchmarks.faults import benchmark_churn, benchmark_invariants
from benchmarks.grouping import benchmark_grouping
from benchmarks.windows import benchmark_asynchronous_clock, benchmark_versions

BENCHMARKS = {
    "transfers": benchmark_transfers,
    "scale": benchmark_scale,
    "invariants": benchmark_invariants,
    "churn": benchmark_churn,
    "grouping": benchmark_grouping,
    "engine": benchmark_engines,
    "engine-rivals": benchmark_rivals,
    "engine-modules": benchmark_modules,
    "versions": benchmark_versions,
    "async": benchmark_asynchronous_clock,
    "campaign": benchmark_campaigns,
    "estimate": benchmark_estimate,
}

if __name__ == "__main__":
    chosen = sys.argv[1:] or list(BENCHMARKS)
    if unknown := sorted(set(chosen) - set(BENCHMARKS)):
        sys.exit(f"Unknown benchmark {', '.join(unknown)}. Known: {', '.join(BENCHMARKS)}")
    met = [BENCHMARKS[name]() for name in chosen]
    sys.exit(0 if all(met) else 1)
