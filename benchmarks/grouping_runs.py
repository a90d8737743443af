"""What the grouping benchmark groups, and how a run is timed."""

from collections.abc import Callable
from time import perf_counter
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from hfedms_sim.grouping import ClusteringName, Grouping, SolverName, inter_cluster_grouping
from hfedms_sim.seeds import Draws

CLASSES, TYPES, SAMPLES, ITERATIONS = 62, 10, 50, 10
FACTORY_SEED = 7  # the first with which even 368 sensors keep every solver and rival busy for ten iterations
DRAWS, CYCLE = Draws(1), 1

Counts = NDArray[np.int64]


class Size(NamedTuple):
    sensors: int
    groups: int


def factory(sensors: int, seed: int = FACTORY_SEED) -> Counts:
    """Return batches of sensors of ten types, each with its own variation of its type's preferences."""
    rng = np.random.default_rng(seed)
    types = rng.dirichlet(np.full(CLASSES, 0.3), TYPES)
    weights = rng.gamma(30 * types[rng.integers(TYPES, size=sensors)] + 1e-3)
    return rng.multinomial(SAMPLES, weights / weights.sum(axis=1, keepdims=True)).astype(np.int64)


def group(counts: Counts, size: Size, solver: SolverName) -> Grouping:
    """A whole grouping. Every solver must use up its iterations, or the comparison would be unfair."""
    found = inter_cluster_grouping(
        np.arange(size.sensors), counts, size.groups, DRAWS, cycle=CYCLE, solver=solver, max_iterations=ITERATIONS
    )
    assert not found.settled, "choose a factory that takes longer to settle"
    return found


def group_until_settled(counts: Counts, size: Size, solver: ClusteringName, draws: Draws = DRAWS) -> Grouping:
    """A whole grouping with as many iterations as it takes, as a strategy has it."""
    return inter_cluster_grouping(np.arange(size.sensors), counts, size.groups, draws, cycle=CYCLE, solver=solver)


def best_s(works: list[Callable[[], Any]], runs: int) -> list[float]:
    """Seconds of each, the best of several runs. They take turns, so that a busy machine is busy for all of them."""
    elapsed_s = np.empty((runs, len(works)))
    for run in range(-1, runs):  # the first is for imports and caches
        for number, work in enumerate(works):
            start = perf_counter()
            work()
            elapsed_s[run, number] = perf_counter() - start
    best: list[float] = elapsed_s.min(axis=0).tolist()
    return best
