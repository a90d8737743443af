"""Who is compared beyond the paper's tables: strategies with settings of their own, and what they take to a target."""

from collections.abc import Mapping
from typing import NamedTuple

from hfedms_sim.campaign import Trial
from hfedms_sim.campaign.statistics import ratio
from hfedms_sim.paper.experiment import Results, Seeds, log_ratio
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


def hours_to(seeds: Seeds, accuracy: Mapping[int, float] | float) -> dict[int, float]:
    """Return by seed the simulated hours until an accuracy was first measured, where it was."""
    return {seed: value / SECONDS_PER_HOUR for seed, value in seeds.spent("simulated_s", accuracy).items()}


def hours_of(seeds: Seeds) -> dict[int, float]:
    """Return by seed the simulated hours of the whole run."""
    rows = {seed: result.curve.rows for seed, result in seeds.by_seed.items()}
    return {seed: each[-1].simulated_s / SECONDS_PER_HOUR for seed, each in rows.items() if each}


class Hours(NamedTuple):
    """Hours to a target where it was reached, and those of the whole run, by seed."""

    reached: Mapping[int, float]
    end: Mapping[int, float]

    def relative_to(self, other: "Hours") -> str:
        """Return the ratio to another's hours with its 95 % interval, over the seeds that decide; nothing if none does.

        The mean is the geometric one; the interval is that of the logarithms.
        """
        common = self.end.keys() & other.end.keys()
        ours, theirs, our_end, their_end = (
            {seed: value for seed, value in hours.items() if seed in common}
            for hours in (self.reached, other.reached, self.end, other.end)
        )
        logs = log_ratio(ours, theirs, our_end, their_end)
        found = ratio([-value for value in logs])
        if found is None:
            return ""
        bound = "" if ours.keys() == theirs.keys() else ("at most " if found.mean < 1 else "at least ")
        return f"{bound}{found.words}"
