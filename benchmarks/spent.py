"""What a piece of work took, by the processor's time and by the wall clock."""

from collections.abc import Callable
from time import perf_counter, process_time
from typing import NamedTuple


class Spent(NamedTuple):
    cpu_s: float
    wall_s: float


def timed(work: Callable[[], object]) -> Spent:
    cpu, wall = process_time(), perf_counter()
    work()
    return Spent(process_time() - cpu, perf_counter() - wall)
