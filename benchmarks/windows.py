"""What it costs that there is no barrier.

(a) Learning: a window of FedBuff with 110 arrivals that started from one, two or three versions of the paper's model,
    and 110 windows of FedAsync, against a round of FedAvg with as many trainings. On one core, by the generic engine
    (a ninth of the arrivals) and by the one that `auto` takes; the median of interleaved ratios.
(b) The clock: three windows of FedBuff of a million sensors in 50 cells, 300,000 under way, against one FedAvg round of
    as many: processor seconds per transfer that has begun. Three processes each, in turn; the best of each counts. In
    the round all transfers of a cell end together and share an event; in windows each ends on its own.
"""

from collections.abc import Sequence
from statistics import median

import numpy as np
import torch
from numpy.typing import NDArray

from benchmarks.bars import at_most
from benchmarks.clock import measured
from benchmarks.engine_rounds import BATCH, LEARNING_RATE, MODEL, SAMPLES
from benchmarks.spent import timed
from hfedms_sim.learning import ChainLearner
from hfedms_sim.learning.engine import ENGINES
from hfedms_sim.learning.learner import LearnerContext
from hfedms_sim.learning.networks import StackNetwork, initial_weights
from hfedms_sim.learning.process import keep_freed_memory
from hfedms_sim.learning.samples import Shuffles
from hfedms_sim.loading import load_scenario
from hfedms_sim.rounds import Participation, RoundRecord, Samples
from hfedms_sim.seeds import Draws
from hfedms_sim.simulation.engines import engine_of
from hfedms_sim.strategies.fedasync import FedAsyncSettings
from hfedms_sim.strategies.fedavg import FedAvgSettings
from hfedms_sim.strategies.fedbuff import FedBuffSettings
from hfedms_sim.strategies.learners.fedasync import MixingLearner
from hfedms_sim.strategies.learners.fedbuff import BufferedLearner

REPEATS = 5
ARRIVALS = {"generic": 12, "fast": 110}
BARS = {"generic": 1.3, "fast": 2.0}
SENSORS, PROCESSES = 1_000_000, 3
CLOCK_BAR = 1.3


class RandomImages:
    """The same images for everybody: what they show does not matter here."""

    def __init__(self) -> None:
        random = np.random.default_rng(1)
        self._inputs = random.random((SAMPLES, 1, 28, 28), dtype=np.float32)
        self._labels = random.integers(0, MODEL.classes, SAMPLES)

    def inputs(self, sensor: int, samples: Samples) -> NDArray[np.float32]:
        return self._inputs

    def labels(self, sensor: int, samples: Samples) -> NDArray[np.int64]:
        return self._labels

    def local_size(self, sensor: int) -> int:
        return SAMPLES

    def local_set(self, sensor: int) -> tuple[NDArray[np.float32], NDArray[np.int64]]:
        return self._inputs, self._labels


def benchmark_versions() -> bool:
    torch.set_num_threads(1)
    keep_freed_memory()  # as runs do, and for everybody
    fastest = engine_of(load_scenario("paper-stream", strategy="fedbuff"), MODEL)
    met = []
    for engine, kind in (("generic", "generic"), (fastest, "fast")):
        count = ARRIVALS[kind]
        print(f"(a) {count} arrivals by {engine}, against a FedAvg round of {count}; {REPEATS} repeats")
        for versions in (1, 2, 3):
            ratio = median(_buffered_ratio(engine, count, versions) for _ in range(REPEATS))
            met.append(at_most(f"FedBuff, {versions} version{'s' * (versions > 1)}", ratio, BARS[kind]))
        print(f"    FedAsync, each from a version of its own: {_mixing_ratio(engine, count):.4g} (no bar)")
    return all(met)


def benchmark_asynchronous_clock() -> bool:
    print(f"(b) three windows of FedBuff of {SENSORS:,} sensors, against a round of FedAvg, by transfer")
    rounds, windows = [], []
    for _ in range(PROCESSES):
        rounds.append(measured("benchmarks.one_round", str(SENSORS)))
        windows.append(measured("benchmarks.one_round", str(SENSORS), "async"))
    best = [min(each["cpu_s"] / each["transfers"] for each in runs) for runs in (rounds, windows)]
    figures = " and ".join(f"{1e6 * each:.1f} us" for each in best)
    print(f"    {figures} a transfer; peak memory {windows[0]['gigabytes']:.2f} GB")
    return at_most("asynchronous, to a round", best[1] / best[0], CLOCK_BAR)


def _buffered_ratio(engine: str, count: int, versions: int) -> float:
    """Return the seconds of a window whose arrivals started from so many versions, in those of a FedAvg round."""
    buffered = BufferedLearner(FedBuffSettings(learning_rate=LEARNING_RATE, batch_size=BATCH), _context(engine))
    for number in range(1, versions):
        buffered.learn(_record(number, (), under_way=range(1, number + 1)))
    started = [1 + place % versions for place in range(count)]
    record = _record(versions, started)
    window_s = timed(lambda: buffered.learn(record)).cpu_s
    return window_s / _averaging_s(engine, count)


def _mixing_ratio(engine: str, count: int) -> float:
    """Return the seconds of windows of one arrival each, in those of a FedAvg round of as many."""
    mixing = MixingLearner(FedAsyncSettings(learning_rate=LEARNING_RATE, batch_size=BATCH), _context(engine))
    records = [_record(number, [number]) for number in range(1, count + 1)]
    return timed(lambda: [mixing.learn(each) for each in records]).cpu_s / _averaging_s(engine, count)


def _averaging_s(engine: str, count: int) -> float:
    averaging = ChainLearner(FedAvgSettings(learning_rate=LEARNING_RATE, batch_size=BATCH), _context(engine))
    record = _record(1, [1] * count)
    return timed(lambda: averaging.learn(record)).cpu_s


def _context(engine: str) -> LearnerContext:
    draws, network = Draws(1), StackNetwork(MODEL)
    return LearnerContext(
        MODEL, initial_weights(MODEL, draws), ENGINES[engine](network, 1), RandomImages(), Shuffles(draws)
    )


def _record(number: int, started: Sequence[int], under_way: Sequence[int] = ()) -> RoundRecord:
    """Return a window in which sensors arrive that started in these rounds."""
    samples = ((0, SAMPLES),)
    return RoundRecord(
        round=number,
        cycle=number,
        phase="full",
        chains=tuple((Participation(sensor, samples, True, False),) for sensor in range(len(started))),
        arrived=(True,) * len(started),
        start_s=0.0,
        end_s=1.0,
        started=tuple(started),
        under_way=tuple(under_way),
    )
