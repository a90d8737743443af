"""Work cut into parts, one thread each."""

from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import TypeVar

import torch

Part = TypeVar("Part")
Result = TypeVar("Result")


class Workers:
    """Threads that share work between them: torch lets go of the interpreter while it computes."""

    def __init__(self, threads: int) -> None:
        self.threads = threads

    def map(self, work: Callable[[Part], Result], parts: Sequence[Part]) -> list[Result]:
        """Return what comes of each part, in their order. A single part has all threads to itself."""
        if len(parts) < 2 or self.threads < 2:
            return [work(part) for part in parts]
        with ThreadPoolExecutor(self.threads, initializer=torch.set_num_threads, initargs=(1,)) as pool:
            return list(pool.map(work, parts))
