"""What a search knows so far, who plays candidates for it, and the one way to train them."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple, Protocol

from hfedms_sim.campaign.statistics import Ratio
from hfedms_sim.recommendation.candidates import Candidate
from hfedms_sim.recommendation.front import Point
from hfedms_sim.recommendation.goal import Goal
from hfedms_sim.recommendation.prospects import Learnt, Prospect


class Timed(NamedTuple):
    """`refused`: why a candidate cannot be played, in one line."""

    prospects: list[Prospect]
    refused: dict[Candidate, str]


class Player(Protocol):
    """Who plays candidates."""

    def time(self, candidates: Sequence[Candidate], seed: int) -> Timed:
        """Play the clock of these candidates."""

    def train(self, step: str, prospects: Sequence[Prospect], rounds: int, seed: int) -> Learnt:
        """Train each of these up to a round, or until it is as accurate as is asked for."""


class Ended(NamedTuple):
    """Where a candidate was left out, and why."""

    step: str
    why: str


class SeedTimes(NamedTuple):
    """How a finalist did with one seed."""

    seed: int
    reached: Point | None
    """Where it met the goal's accuracy."""
    best: Point | None
    """Where it was at its best; None if nothing was measured."""
    resolution: float = 0.0
    """Half the time since it was looked at before, as a share of the time at which it met the goal."""

    @property
    def point(self) -> Point | None:
        """Return where it met the goal, or else was at its best."""
        return self.reached or self.best


@dataclass
class Found:
    """What a search has come to."""

    goal: Goal
    """What can be asked for: the goal, without what no candidate can meet."""
    seeds: tuple[int, ...]
    every: int = 1
    """A model is looked at after every this many rounds."""
    chance: float = 0.0
    """How accurate it is to name the most frequent class always."""
    prospects: list[Prospect] = field(default_factory=list)
    """All that were timed with the first seed, with the rounds that count."""
    learnt: dict[str, float] = field(default_factory=dict)
    ended: dict[Candidate, Ended] = field(default_factory=dict)
    finalists: list[Candidate] = field(default_factory=list)
    """Those that no other beats for certain, the recommended one first."""
    by_seed: dict[Candidate, list[SeedTimes]] = field(default_factory=dict)
    outrun: dict[Candidate, Ratio] = field(default_factory=dict)
    """Those that the race has left out, and how many times as long as the best they took."""
    lasting_s: dict[Candidate, float] = field(default_factory=dict)
    """How long a finalist's first battery to be empty lasts, up to where it met the goal, with its worst seed."""
    relaxed: list[str] = field(default_factory=list)
    """What of the goal no candidate can meet, and what is asked for instead."""
    notes: list[str] = field(default_factory=list)
    """What else one should know of all that are left."""
    trained: set[str] = field(default_factory=set)
    """The lineages that were trained."""

    @property
    def nothing_learnt(self) -> bool:
        """Return whether all that was measured so far is no more accurate than the most frequent class alone."""
        return bool(self.learnt) and max(self.learnt.values()) <= self.chance

    def falls_short(self, candidate: Candidate) -> bool:
        """Return whether a finalist's battery is known to last less than can be asked for."""
        asked_s, lasts_s = self.goal.battery_s, self.lasting_s.get(candidate)
        return asked_s is not None and lasts_s is not None and lasts_s < asked_s


def learners_of(prospects: Iterable[Prospect], rounds: int) -> list[Prospect]:
    """Return as few as learn all that these do up to a round."""
    chosen: list[Prospect] = []
    covered: set[str] = set()
    able = [each for each in prospects if each.rounds]
    for each in sorted(able, key=lambda prospect: -min(rounds, prospect.rounds)):
        if each.leads_to(rounds) not in covered:
            chosen.append(each)
            covered.update(each.lineages[:rounds])
    return chosen


def by_learner(prospects: Iterable[Prospect]) -> dict[str, list[Prospect]]:
    """Return together, by the last lineage of the longest, those of which one learns all that the others do."""
    found: dict[str, list[Prospect]] = {}
    for each in sorted(prospects, key=lambda prospect: -prospect.rounds):
        last = each.lineages[-1]
        leads = (key for key, group in found.items() if last in group[0].lineages)
        found.setdefault(next(leads, last), []).append(each)
    return found


def train(player: Player, step: str, learners: Sequence[Prospect], rounds: int, seed: int, found: Found) -> None:
    """Train these up to a round, and note what was measured and trained."""
    found.learnt |= player.train(step, learners, rounds, seed)
    for each in learners:
        ends = (number for number, accuracy in each.measured(found.learnt) if accuracy >= found.goal.accuracy)
        found.trained.update(each.lineages[: min(rounds, next(ends, rounds))])


def worth_of(point: Point) -> tuple[float, float, float]:
    """More accurate first (up to the goal), then sooner, then cheaper."""
    return -point.accuracy, point.time_s, point.cost
