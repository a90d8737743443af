"""When the model was good enough: for each target accuracy the first round that reached it, and what it had cost."""

from collections.abc import Sequence
from typing import Any, NamedTuple


class CostSoFar(NamedTuple):
    """What a run has spent up to the end of a round."""

    round: int
    simulated_s: float
    bytes: int
    energy_j: float | None
    updated_parameters: int


class Milestones:
    def __init__(self, targets: Sequence[float]) -> None:
        self._reached: dict[float, CostSoFar | None] = dict.fromkeys(targets)
        self.final_accuracy: float | None = None
        self.best_accuracy: float | None = None
        self.final_loss: float | None = None

    def note(self, accuracy: float, loss: float | None, spent: CostSoFar) -> None:
        """A round was evaluated. No smoothing: the first round at or above a target counts."""
        self.final_accuracy, self.final_loss = accuracy, loss
        self.best_accuracy = max(accuracy, self.best_accuracy or 0.0)
        for target, reached in self._reached.items():
            if reached is None and accuracy >= target:
                self._reached[target] = spent

    def summary(self) -> list[dict[str, Any]]:
        nothing = dict.fromkeys(CostSoFar._fields)
        return [
            {"accuracy": target} | (nothing if reached is None else reached._asdict())
            for target, reached in self._reached.items()
        ]
