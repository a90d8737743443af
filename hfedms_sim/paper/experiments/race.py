"""A race: how many rounds until a target accuracy, and what these rounds cost, for FedAvg and variants of HFedMS.

The target is 0.70, the paper's, if FedAvg gets there with every seed; otherwise what FedAvg has at its end, each seed
by itself. A round counts when it was first measured to be good enough: in every fifth round against FedAvg, which is
evaluated no more often, in every round among variants of HFedMS, whose cycles have other lengths than five. What has
diverged takes no part, whatever it had reached before.

Bytes and hours are those that as many rounds take with the paper's network, by the closed form: at a scale with a
smaller network the classifier is 7 % of it instead of 0.1 %, and calibration would look dear.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import log
from typing import Literal

from hfedms_sim.closed_form import exact_seconds, exact_traffic
from hfedms_sim.models import spec_of
from hfedms_sim.paper import published
from hfedms_sim.paper.claims import Claim, ClaimPart
from hfedms_sim.paper.experiment import Seeds, divergences, half_a_step, log_ratio
from hfedms_sim.paper.tuned import Column
from hfedms_sim.scenario import Scenario
from hfedms_sim.units import SECONDS_PER_HOUR

Measure = Literal["rounds", "bytes", "hours"]
LEAST_SAVING = 0.83  # of rounds, as the paper has it
_ALIKE = 1.5  # "similar rounds": within this factor


@dataclass(frozen=True)
class Racer:
    label: str
    seeds: Seeds

    def spent(self, measure: Measure, target: Mapping[int, float], every: int) -> dict[int, float]:
        """Return by seed what it took to the target, where it got there."""
        return self._priced(measure, self.seeds.spent("round", target, every))

    def end(self, measure: Measure) -> dict[int, float]:
        """Return by seed what the whole run took."""
        rounds = {seed: float(result.trial.scenario.rounds) for seed, result in self.seeds.sound.by_seed.items()}
        return self._priced(measure, rounds)

    def _priced(self, measure: Measure, rounds: Mapping[int, float]) -> dict[int, float]:
        if measure == "rounds":
            return dict(rounds)
        scenarios = {seed: self.seeds.by_seed[seed].trial.scenario for seed in rounds}
        return {seed: _price(scenarios[seed], int(number))[measure == "hours"] for seed, number in rounds.items()}


@dataclass(frozen=True)
class Race:
    fedavg: Racer
    hfedms: Sequence[Racer]
    every: int

    @property
    def target(self) -> dict[int, float]:
        """Return by seed the accuracy to get to."""
        seeds = self.fedavg.seeds.sound
        if len(seeds.spent("round", published.TARGET_ACCURACY)) == len(seeds.by_seed):
            return dict.fromkeys(seeds.by_seed, published.TARGET_ACCURACY)
        return seeds.final("accuracy")

    @property
    def target_words(self) -> str:
        """Return the accuracies to get to, each once."""
        return ", ".join(dict.fromkeys(f"{value:.3f}" for value in self.target.values())) or "not known yet"

    def spent(self, racer: Racer, measure: Measure) -> dict[int, float]:
        """Return what a racer took, looking as often as FedAvg was looked at."""
        return racer.spent(measure, self.target, self.every)

    def less(self, text: str, ours: Racer, theirs: Racer, measure: Measure, saving: float = 0.0) -> ClaimPart:
        """Return the part that ours takes less than theirs, or less by more than a share `saving` of it."""
        every = self.every if self.fedavg in (ours, theirs) else 1
        mine, other = (racer.spent(measure, self.target, every) for racer in (ours, theirs))
        values = log_ratio(mine, other, ours.end(measure), theirs.end(measure))
        resolution = half_a_step(every, *(racer.spent("rounds", self.target, every) for racer in (ours, theirs)))
        return ClaimPart(f"{text} (ln of the ratio)", tuple(each + log(1 - saving) for each in values), "", resolution)

    def fewer_rounds(self, column: Column) -> Claim:
        """Return Q4."""
        parts = []
        for racer in self.hfedms:
            parts.append(self.less(f"{racer.label}: fewer rounds than FedAvg", racer, self.fedavg, "rounds"))
            text = f"{racer.label}: at least {LEAST_SAVING:.0%} fewer"
            parts.append(self.less(text, racer, self.fedavg, "rounds", LEAST_SAVING))
        return self._claim("Q4", column, parts)

    def less_traffic(self, column: Column, static: Racer, best: Racer | None = None) -> Claim:
        """Return Q5; `best` is the racer that the paper has as the least of HFedMS-D, where there are several."""
        dynamic = [racer for racer in self.hfedms if racer is not static]
        measures: tuple[Measure, ...] = ("bytes", "hours")
        parts = []
        for measure in measures:
            parts.append(self.less(f"{static.label}: less {measure} than FedAvg", static, self.fedavg, measure))
            for racer in dynamic:
                parts.append(self.less(f"{racer.label}: less {measure} than {static.label}", racer, static, measure))
            if best is not None:
                others = [racer for racer in dynamic if racer is not best]
                parts += [
                    self.less(f"{best.label}: less {measure} than {each.label}", best, each, measure) for each in others
                ]
        if best is not None:
            parts.append(self._alike(best, static))
        return self._claim("Q5", column, parts)

    def _alike(self, one: Racer, other: Racer) -> ClaimPart:
        part = self.less("", one, other, "rounds")
        text = f"{one.label} needs about as many rounds as {other.label} (within a factor of {_ALIKE})"
        return ClaimPart(text, tuple(log(_ALIKE) - abs(each) for each in part.values), "", part.resolution)

    def _claim(self, name: str, column: Column, parts: Sequence[ClaimPart]) -> Claim:
        has_run = self.fedavg.seeds and any(racer.seeds for racer in self.hfedms)
        missing = "" if has_run else "no runs with these settings"
        return Claim(name, column, tuple(parts), missing, divergences({each.label: each.seeds for each in self.hfedms}))


def _price(scenario: Scenario, rounds: int) -> tuple[float, float]:
    """Return bytes and hours of this many rounds with the paper's network."""
    priced = scenario.model_copy(update={"model": "cnn", "rounds": rounds})
    model = spec_of(priced.model)
    sent, seconds = exact_traffic(priced, model), exact_seconds(priced, model)
    assert sent is not None
    assert seconds is not None
    return sent.total_bytes, seconds / SECONDS_PER_HOUR
