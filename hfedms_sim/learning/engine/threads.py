"""The threads of an engine: each trains its share of the chains, or extracts its share of the samples."""

from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import TypeVar

import torch

Share = TypeVar("Share")
Result = TypeVar("Result")


class ChainThreads:
    """So many threads of one process: torch lets go of the interpreter while it computes, so they run side by side."""

    def __init__(self, count: int) -> None:
        self.count = count

    def map(self, work: Callable[[Share], Result], shares: Sequence[Share]) -> list[Result]:
        """Return what comes of each share, in their order. A single share has all threads to itself."""
        if len(shares) < 2 or self.count < 2:
            return [work(share) for share in shares]
        with ThreadPoolExecutor(self.count, initializer=torch.set_num_threads, initargs=(1,)) as pool:
            return list(pool.map(work, shares))
