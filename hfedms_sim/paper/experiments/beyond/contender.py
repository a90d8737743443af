"""Who is compared beyond the paper's tables: strategies with settings of their own, and what they take to a target."""

from collections.abc import Iterable, Mapping
from math import log
from statistics import fmean
from typing import NamedTuple

from hfedms_sim.campaign import Trial
from hfedms_sim.campaign.statistics import ratio
from hfedms_sim.paper.experiment import Results, Seeds
from hfedms_sim.paper.published import DataKind
from hfedms_sim.paper.study import Changes, Study
from hfedms_sim.paper.tuned import Column
from hfedms_sim.units import SECONDS_PER_HOUR

_UNTUNED = ("fedadam", (("strategy.server_learning_rate", "0.01"),))


class Contender(NamedTuple):
    label: str
    strategy: str
    column: Column = "defaults"
    settings: tuple[tuple[str, str], ...] = ()

    def trials(
        self, study: Study, kind: DataKind, changes: Changes, rounds: int, seeds: tuple[int, ...] | None = None
    ) -> list[Trial]:
        """Return one trial for each seed; the changes are all there are, its settings among them."""
        return study.trials(self.strategy, kind, changes, column=self.column, seeds=seeds, rounds=rounds)

    def found(self, results: Results, kind: DataKind, changes: Changes) -> Seeds:
        """Return what these trials came to."""
        return results.of(self.strategy, kind, changes, column=self.column)


def best_rival(study: Study, kind: DataKind) -> Contender:
    """Return the best baseline of the tuning or, where nothing was tuned, FedAdam at a rate known to be good."""
    name = study.tuned.best_rival(kind)
    if "tuned" in study.columns and study.tuned.has(name, kind):
        return Contender(f"{name}, tuned", name, "tuned")
    name, settings = _UNTUNED
    return Contender(name, name, settings=settings)


class Arrival(NamedTuple):
    """When a run was first measured to be accurate enough."""

    hours: float
    resolution: float = 0.0
    """Half the time since it was looked at before, as a share of these hours."""


def arrivals(seeds: Seeds, accuracy: Mapping[int, float] | float) -> dict[int, Arrival]:
    """Return by seed when an accuracy was first measured, where it was; `accuracy` is one for all, or one for each.

    What has diverged got nowhere, also if it was there before.
    """
    found = {}
    for seed, result in seeds.sound.by_seed.items():
        target = accuracy if isinstance(accuracy, float) else accuracy.get(seed)
        before_s = 0.0
        for row in result.curve.rows:
            if row.accuracy is None or target is None:
                continue
            if row.accuracy >= target:
                found[seed] = Arrival(row.simulated_s / SECONDS_PER_HOUR, (1 - before_s / row.simulated_s) / 2)
                break
            before_s = row.simulated_s
    return found


def hours_to(seeds: Seeds, accuracy: Mapping[int, float] | float) -> dict[int, float]:
    """Return by seed the simulated hours until an accuracy was first measured, where it was."""
    return {seed: arrival.hours for seed, arrival in arrivals(seeds, accuracy).items()}


def hours_of(seeds: Seeds) -> dict[int, float]:
    """Return by seed the simulated hours of the whole run."""
    rows = {seed: result.curve.rows for seed, result in seeds.by_seed.items()}
    return {seed: each[-1].simulated_s / SECONDS_PER_HOUR for seed, each in rows.items() if each}


class Hours(NamedTuple):
    """When a target was reached, where it was, and how long the whole run was, by seed."""

    reached: Mapping[int, Arrival]
    end: Mapping[int, float]

    @classmethod
    def of(cls, seeds: Seeds, accuracy: Mapping[int, float] | float) -> "Hours":
        return cls(arrivals(seeds, accuracy), hours_of(seeds))

    @classmethod
    def least(cls, everybody: Iterable["Hours"]) -> "Hours":
        """Return seed by seed those of whoever is there first."""
        reached: dict[int, Arrival] = {}
        end: dict[int, float] = {}
        for each in everybody:
            for seed, arrival in each.reached.items():
                reached[seed] = min(arrival, reached.get(seed, arrival))
            for seed, hours in each.end.items():
                end[seed] = min(hours, end.get(seed, hours))
        return cls(reached, end)

    def relative_to(self, other: "Hours") -> str:
        """Return the ratio to another's hours with its 95 % interval, in words; nothing if nobody ever got there.

        The mean is the geometric one; the interval is that of the logarithms, and no narrower than what lies between
        two looks. Who never got there took at least its whole run, so that with such a seed the ratio is a bound, or,
        where seeds bound it both ways, undecided. Seeds with which neither got there are left out and counted.
        """
        ours, theirs = self.reached, other.reached
        common = self.end.keys() & other.end.keys()
        decided = sorted(common & (ours.keys() | theirs.keys()))
        logarithms = [log(_hours(ours, self.end, seed) / _hours(theirs, other.end, seed)) for seed in decided]
        left_out = "" if len(decided) == len(common) else f", {len(decided)} of {len(common)} seeds"
        is_above, is_below = (any(seed not in those for seed in decided) for those in (ours, theirs))
        if is_above and is_below:
            return f"undecided{left_out}"
        both = [(ours[seed].resolution, theirs[seed].resolution) for seed in decided if seed in ours and seed in theirs]
        resolution = max((fmean(each) for each in zip(*both, strict=True)), default=0.0)
        found = ratio(logarithms, resolution)
        if found is None:
            return ""
        if is_above or is_below:
            return f"{'at least' if is_above else 'at most'} {found.mean:.2f}{left_out}"
        return f"{found.words}{left_out}"


def _hours(reached: Mapping[int, Arrival], end: Mapping[int, float], seed: int) -> float:
    """Return when a target was reached, or how long the run was without."""
    return reached[seed].hours if seed in reached else end[seed]
