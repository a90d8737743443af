"""A contestant's side of the contest: it trains a round when told so, and says how long it took.

It reads commands from its standard input, a line each: `round` trains a round, `save PATH` writes the model and the
order in which the round before visited the samples, `end` or the end of the input ends it. It answers with one line of
JSON each. Whatever else it or its framework prints goes to its standard error.
"""

import json
import os
import sys
from collections.abc import Callable
from importlib.metadata import version
from pathlib import Path
from time import perf_counter

import torch

from benchmarks.peers.workload import Outcome, save_outcome


class Rounds:
    """`between` is called before the first round and after each."""

    def __init__(self, packages: tuple[str, ...] = ()) -> None:
        torch.set_num_threads(1)
        self._answers = os.fdopen(os.dup(1), "w")
        os.dup2(2, 1)  # what a framework prints is no answer
        self._versions = {package: version(package) for package in ("torch", *packages)}
        self._started_s: float | None = None

    def between(self, outcome: Callable[[], Outcome]) -> bool:
        """Waits for what is asked; False when there are to be no more rounds. `outcome` is of the round before."""
        if self._started_s is None:
            self._answer({"versions": self._versions})
        else:
            self._answer({"seconds": perf_counter() - self._started_s})
        for line in sys.stdin:
            command, _, argument = line.strip().partition(" ")
            if command == "round":
                self._started_s = perf_counter()
                return True
            if command != "save":
                break
            save_outcome(Path(argument), outcome())
            self._answer({"saved": argument})
        return False

    def _answer(self, answer: dict[str, object]) -> None:
        print(json.dumps(answer), file=self._answers, flush=True)
