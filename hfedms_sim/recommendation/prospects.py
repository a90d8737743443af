"""A candidate on the clock, and what it is known to learn.

Timing-only runs tell when each round of a candidate ends, what it has cost by then, and under which lineage it would
learn. How accurate a model is follows from its lineage alone. So what one candidate has measured holds for every other
with the same lineage, whatever its radio, and a round that is known to end too late need not be trained.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace

from hfedms_sim.recommendation.candidates import Candidate
from hfedms_sim.recommendation.front import Point

Learnt = Mapping[str, float]
"""How accurate a model is, by its lineage."""


@dataclass(frozen=True)
class Prospect:
    """`time_s`, `cost` and `lineages` have a value for each round, at its end."""

    candidate: Candidate
    time_s: tuple[float, ...]
    cost: tuple[float, ...]
    """What was spent since the start: joules of all sensors, bytes, or money."""
    lineages: tuple[str, ...]
    battery_s: float | None = None
    """How long the first battery to be empty lasts; None: nothing is known of it."""
    uncovered: int = 0
    """How many sensors its radio does not reach."""

    @property
    def rounds(self) -> int:
        return len(self.lineages)

    def cut(self, within_s: float) -> "Prospect":
        """Return the rounds that end in time."""
        count = sum(time_s <= within_s for time_s in self.time_s)
        kept = {name: getattr(self, name)[:count] for name in ("time_s", "cost", "lineages")}
        return replace(self, **kept)

    def leads_to(self, rounds: int) -> str:
        """Return the lineage after this many rounds, or after its last."""
        return self.lineages[min(rounds, self.rounds) - 1]

    def measured(self, learnt: Learnt) -> Iterator[tuple[int, float]]:
        """Yield the rounds whose accuracy is known, and that."""
        for number, lineage in enumerate(self.lineages, start=1):
            accuracy = learnt.get(lineage)
            if accuracy is not None:
                yield number, accuracy

    def points(self, learnt: Learnt, most: float) -> list[Point]:
        """Return where each better model than before was measured, up to the accuracy that is asked for."""
        return self.points_at(self.measured(learnt), most)

    def points_at(self, accuracies: Iterator[tuple[int, float]], most: float) -> list[Point]:
        best, found = 0.0, []
        for number, accuracy in accuracies:
            if accuracy > best:
                best = accuracy
                found.append(Point(self.time_s[number - 1], self.cost[number - 1], min(best, most)))
            if best >= most:
                break
        return found

    def reached(self, learnt: Learnt, accuracy: float) -> Point | None:
        """Return where it was first measured to be that accurate; None if it was not."""
        points = self.points(learnt, accuracy)
        return points[-1] if points and points[-1].accuracy >= accuracy else None

    def is_no_better(self, other: "Prospect") -> bool:
        """Return whether the other learns all that this does, and is never later or dearer."""
        rounds = self.rounds
        return (
            other.lineages[:rounds] == self.lineages
            and all(theirs <= own for theirs, own in zip(other.time_s, self.time_s, strict=False))
            and all(theirs <= own for theirs, own in zip(other.cost, self.cost, strict=False))
        )
