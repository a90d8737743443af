"""Runs every benchmark and says which bars are met; exit code 1 if one is not."""

import sys

from benchmarks.clock import benchmark_full_radio, benchmark_scale, benchmark_transfers
from benchmarks.grouping import benchmark_grouping

if __name__ == "__main__":
    met = [benchmark_transfers(), benchmark_scale(), benchmark_full_radio(), benchmark_grouping()]
    sys.exit(0 if all(met) else 1)
