"""The engines against the plain loop, at the paper's size: one core, interleaved, medians of CPU time.

The plain loop is what one writes first: one nn.Module reloaded from the global state for each client, torch.optim.SGD,
zero_grad / backward / step, a running mean on the server. Its time is proportional to the samples, so that it is timed
on a ninth of them. Engines train the whole round. The GEMM peak is measured in between, too.
"""

from collections.abc import Callable
from functools import partial
from statistics import median

import torch

from benchmarks.bars import at_least, at_most
from benchmarks.engine_memory import peak_bytes
from benchmarks.engine_rounds import COLUMNS, PaperRound
from benchmarks.spent import Spent, timed
from hfedms_sim.learning.process import keep_freed_memory

REPEATS = 7
SAMPLE_FLOP = 102.5e6  # of the dense computation, forward and backward
RATIO_BARS = {
    "lowrank": {"G=3 x 36": 1.3, "G=10 x 11": 1.5, "G=30 x 4": 1.6, "FedAvg 110 x 1": 2.0, "calibration": 1.4},
    "native": {"G=3 x 36": 1.4, "G=10 x 11": 2.3, "G=30 x 4": 2.7, "FedAvg 110 x 1": 3.7, "calibration": 2.7},
}
PEAK_BARS = {"native": {"G=3 x 36": 0.38, "G=10 x 11": 0.50, "G=30 x 4": 0.62, "FedAvg 110 x 1": 0.80}}
TWO_CORE_BAR = 1.5
TWO_CORE_COLUMNS = ("G=10 x 11", "FedAvg 110 x 1")


def benchmark_engines() -> bool:
    torch.set_num_threads(1)
    keep_freed_memory()  # as runs do, and for everybody
    rounds = {name: PaperRound(column) for name, column in COLUMNS.items()}
    return all([*(_against_the_plain_loop(name, rounds[name]) for name in COLUMNS), *_on_two_cores(rounds)])


def _against_the_plain_loop(name: str, played: PaperRound) -> bool:
    contestants: dict[str, Callable[[], None]] = {"plain loop": played.plain_loop}
    contestants |= {engine: partial(played.by_engine, engine) for engine in RATIO_BARS}
    spent, peak_flops = _interleaved(contestants)
    plain_s = median(each.cpu_s for each in spent["plain loop"]) / played.plain_samples
    print(f"(e) {name}: plain loop {1 / plain_s:.0f} samples/s, GEMM peak {peak_flops / 1e9:.0f} GFLOP/s")
    met = []
    for engine, bars in RATIO_BARS.items():
        cpu_s, wall_s = (median(times) / played.samples for times in zip(*spent[engine], strict=True))
        share = SAMPLE_FLOP / cpu_s / peak_flops
        of_peak = "" if name == "calibration" else f", dense-equivalent {share:.0%} of the GEMM peak"
        print(f"    {engine}: {1 / cpu_s:.0f} samples/s ({1 / wall_s:.0f} by the wall clock){of_peak}")
        if (bar := PEAK_BARS.get(engine, {}).get(name)) is not None:
            met.append(at_least(f"{engine}'s dense-equivalent share of the GEMM peak", share, bar))
        met.append(at_least(f"{engine} against the plain loop", plain_s / cpu_s, bars[name]))
        met.append(at_most(f"{engine}'s memory beyond data and model, MB", peak_bytes(engine, name) / 1e6, 500))
    return all(met)


def _interleaved(contestants: dict[str, Callable[[], None]]) -> tuple[dict[str, list[Spent]], float]:
    spent: dict[str, list[Spent]] = {name: [] for name in contestants}
    peaks = []
    for repeat in range(REPEATS + 1):
        for name, work in contestants.items():
            taken = timed(work)
            if repeat:  # the first time warms up
                spent[name].append(taken)
        peaks.append(_gemm_flops())
    return spent, max(peaks)


def _on_two_cores(rounds: dict[str, PaperRound]) -> list[bool]:
    return [
        at_least(f"{engine}, {name}: two cores against one", _speed_up(rounds[name], engine), TWO_CORE_BAR)
        for engine in RATIO_BARS
        for name in TWO_CORE_COLUMNS
    ]


def _speed_up(played: PaperRound, engine: str) -> float:
    """By the wall clock."""
    walls_s: dict[int, list[float]] = {1: [], 2: []}
    for _ in range(REPEATS // 2):
        for threads, times_s in walls_s.items():
            torch.set_num_threads(threads)
            times_s.append(timed(partial(played.by_engine, engine, threads)).wall_s)
    torch.set_num_threads(1)
    return median(walls_s[1]) / median(walls_s[2])


def _gemm_flops(size: int = 2048) -> float:
    """A second of floating-point operations, the best of three."""
    one, other = torch.rand((size, size)), torch.rand((size, size))
    return 2 * size**3 / min(timed(lambda: one @ other).cpu_s for _ in range(3))
