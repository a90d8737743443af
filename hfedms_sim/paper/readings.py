"""Two readings of the paper: what its text says, and what its authors' published program does.

They differ in many places (docs/learning.md, "Two readings of the paper"). Those that change what is learnt are keys of
a scenario; the defaults are the text's. `program` sets all of them at once, and each can be switched alone, which tells
what a difference is worth. What the program does by a slip of the pen and no key offers is left out; the docs list it.
"""

from collections.abc import Iterator
from typing import Literal, NamedTuple

from hfedms_sim.scenario import keys_of
from hfedms_sim.strategies import SHIPPED

Reading = Literal["text", "program"]


class Difference(NamedTuple):
    """One place where program and text differ: the key, what the program has, and which strategies it concerns."""

    name: str
    key: str
    value: str
    strategies: frozenset[str] | None = None
    """None: all that have the key."""

    def concerns(self, strategy: str) -> bool:
        if self.strategies is not None:
            return strategy in self.strategies
        section, _, key = self.key.partition(".")
        return section != "strategy" or key in keys_of(SHIPPED[strategy].Settings)


_HFEDMS = frozenset({"hfedms-s", "hfedms-d"})
_OTHERS = frozenset(SHIPPED) - _HFEDMS

DIFFERENCES = (
    Difference("batches of 49", "stream", "{batch: 49}"),
    Difference("one batch for the whole run", "stream.redraw", "once", _OTHERS),
    Difference("one batch for a cycle", "stream.redraw", "cycle", _HFEDMS),
    Difference("mean by the sizes of local sets", "strategy.weights", "local-set"),
    Difference("groups from the first counts for ever", "strategy.class_counts", "once"),
    Difference("chains shuffled in every round", "strategy.order", "round"),
    Difference("three epochs of calibration", "strategy.calibration_epochs", "3"),
    Difference("distillation in full rounds", "strategy.distillation", "0.1"),
    Difference("newcomers do not calibrate", "strategy.first_time", "skip"),
    Difference("the memory begins with the local set", "strategy.initial_memory", "local-set"),
    Difference("no drift for absent classes", "strategy.absent_class", "zero"),
)


def differences_of(strategy: str, kind: str) -> Iterator[Difference]:
    """Yield the differences that change what a strategy does on a kind of data."""
    for difference in DIFFERENCES:
        of_stream = difference.key.startswith("stream")
        without_effect = strategy == "hfedms-s" and difference.key in ("stream.redraw", "strategy.order")  # T = 1
        if difference.concerns(strategy) and not (of_stream and kind == "static") and not without_effect:
            yield difference


DARK_INK = Difference("dark ink on a bright page", "data.ink", "dark")
"""No difference between the two readings: both use LEAF's images, which have it. Our default is bright ink."""


def overrides_of(reading: Reading, strategy: str, kind: str) -> list[str]:
    if reading == "text":
        return []
    return [f"{each.key}={each.value}" for each in differences_of(strategy, kind)]
