"""Candidates played as campaigns below a directory, one for each step of the search.

    DIR/search/timing-seed1/    every candidate, the clock alone
    DIR/search/rung-1/ ...      one trial for each learner, as far as the rung goes; it goes on from the rung before
    DIR/search/race-seed2/ ...  the finalists with further seeds
    DIR/                        the finalists with all seeds, as an ordinary campaign: nothing of it is trained again

A step that is finished is read, one that was interrupted goes on.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import accumulate
from pathlib import Path
from typing import Literal

from hfedms_sim.campaign import Campaign, Options, Standing, Trial, TrialResult, Workers
from hfedms_sim.campaign.finished import FinishedTrials
from hfedms_sim.errors import OneLineError
from hfedms_sim.recommendation.candidates import Candidate, Question
from hfedms_sim.recommendation.found import Found, Timed
from hfedms_sim.recommendation.prospects import Learnt, Prospect
from hfedms_sim.run_directory import RunDirectory
from hfedms_sim.simulation import open_run
from hfedms_sim.units import BYTES_PER_MEGABYTE, SECONDS_PER_DAY

SEARCH = "search"
Cost = Literal["price", "joules", "bytes"]


@dataclass
class CampaignPlayer:
    """Plays candidates of a question. What is learnt in one step is not trained again in a later one."""

    question: Question
    directory: Path
    make_workers: Callable[[Options], Workers]
    options: Options = field(default_factory=Options)
    on_standing: Callable[[Standing], None] = lambda standing: None
    on_notice: Callable[[str], None] = lambda line: None
    said: Callable[[OneLineError], str] = str
    cost: Cost = "joules"
    """What stands for cost: the price, where the question has prices; bytes, where a radio's joules are not known."""
    extrapolated: dict[str, None] = field(default_factory=dict)
    """The figures behind joules that nobody has measured on their radio, in order."""
    prospects: dict[tuple[Candidate, int], Prospect] = field(default_factory=dict)
    """All that were timed, by their seeds."""
    _runs: dict[str, Path] = field(default_factory=dict)
    """The run that ends with a lineage."""

    def time(self, candidates: Sequence[Candidate], seed: int) -> Timed:
        place = self.directory / SEARCH / f"timing-seed{seed}"
        trials = {each: self.question.trial(each, seed) for each in candidates}
        options = replace(self.options, timing_only=True)
        campaign = self._campaign(place, list(trials.values()), options, lineages={})
        played = {each.trial.name: each for each in campaign.run(self.make_workers(options))}
        campaign.require_played()  # who is left out must not depend on what failed
        runs = {each: played[trial.name] for each, trial in trials.items() if trial.name in played}
        if not self.prospects:
            self.cost = self._cost_known(runs.values())
        figures = (key for each in runs.values() for key in each.summary.get("energy_extrapolated") or ())
        self.extrapolated |= dict.fromkeys(figures)
        timed = [self._prospect(each, place / "trials" / run.trial.name, run) for each, run in runs.items()]
        self.prospects |= {(each.candidate, seed): each for each in timed}
        refused = {
            each: campaign.refused[trial.name] for each, trial in trials.items() if trial.name in campaign.refused
        }
        return Timed([each for each in timed if each.rounds], refused)

    def train(self, step: str, prospects: Sequence[Prospect], rounds: int, seed: int) -> Learnt:
        most = {each: count for each in prospects if (count := self._looked_at(min(rounds, each.rounds)))}
        taught = [
            self._taught(self.question.trial(each.candidate, seed, count), each, count) for each, count in most.items()
        ]
        campaign = self._trained(self.directory / SEARCH / step, taught)
        results = campaign.run(self.make_workers(self.options))
        campaign.require_played()  # who is left out must not depend on what failed
        learnt: dict[str, float] = {}
        for result in results:
            lineages = campaign.lineages[result.trial.name]
            points = result.curve.points("accuracy")
            learnt |= {lineages[at - 1]: accuracy for at, accuracy in points if at == self._looked_at(at)}
            self._runs[lineages[result.summary["rounds"] - 1]] = campaign.path_of(result.trial.name)
        return learnt

    def finish(self, found: Found) -> FinishedTrials:
        """Play the last few as one campaign at the top of the directory; all of it is learnt already.

        They end where they meet the goal, which tells how long batteries last until then; who falls short goes last.
        """
        taught = []
        for candidate in found.finalists:
            for seed in found.seeds:
                prospect, rounds = self.prospects[candidate, seed], None
                if found.goal.within_s is not None:  # what ends later was not trained
                    rounds = max(1, self._looked_at(prospect.cut(found.goal.within_s).rounds))
                trial = self.question.trial(candidate, seed, rounds)
                taught.append(self._taught(trial, prospect, rounds or prospect.rounds))
        campaign = self._trained(self.directory, taught)
        results = campaign.run(self.make_workers(self.options))
        campaign.require_played()  # who is left out must not depend on what failed
        for candidate in found.finalists:
            lives = [_battery_s(each.summary) for each in results if each.trial.variant == candidate.variant]
            known = [life for life in lives if life is not None]
            if known:
                found.lasting_s[candidate] = min(known)
        found.finalists.sort(key=found.falls_short)
        return FinishedTrials(results, campaign.refusals)

    def _looked_at(self, rounds: int) -> int:
        """Return the last of these rounds that a whole run measures; a shorter run also measures its own last one."""
        base = self.question.base
        return rounds if rounds == base.rounds else rounds - rounds % base.evaluate_every

    def _cost_known(self, runs: Iterable[TrialResult]) -> Cost:
        if self.question.prices:
            return "price"
        return "bytes" if any(each.summary["energy_j"] is None for each in runs) else "joules"

    def _campaign(
        self, place: Path, trials: Sequence[Trial], options: Options, lineages: Mapping[str, Sequence[str]]
    ) -> Campaign:
        place.mkdir(parents=True, exist_ok=True)
        directory = RunDirectory(place, is_new=False)
        return Campaign(directory, trials, options, self.on_standing, self.on_notice, self.said, lineages=lineages)

    def _trained(self, place: Path, taught: Sequence[tuple[Trial, Sequence[str]]]) -> Campaign:
        """Return the campaign that trains these; their clocks have been played."""
        lineages = {trial.name: each for trial, each in taught}
        return self._campaign(place, [trial for trial, _ in taught], self.options, lineages)

    def _taught(self, trial: Trial, prospect: Prospect, rounds: int) -> tuple[Trial, Sequence[str]]:
        """Return the trial with the run that has learnt most of what it will learn, and what that is round by round."""
        lineages = prospect.lineages[:rounds]
        known = (self._runs[lineage] for lineage in reversed(lineages) if lineage in self._runs)
        return replace(trial, teacher=next(known, None)), lineages

    def _prospect(self, candidate: Candidate, path: Path, result: TrialResult) -> Prospect:
        columns = ("end_s", "energy_j", "uplink_bytes", "downlink_bytes", "lineage")
        rounds = open_run(path).arrow("rounds")
        end_s, energy_j, uplink, downlink, lineages = (rounds[name].to_pylist() for name in columns)
        spent = energy_j
        if self.cost != "joules":
            each_byte = self.question.prices[candidate.radio] / BYTES_PER_MEGABYTE if self.cost == "price" else 1
            spent = [each_byte * sum(both) for both in zip(uplink, downlink, strict=True)]
        summary = result.summary
        coverage = summary.get("coverage")
        return Prospect(
            candidate,
            tuple(end_s),
            tuple(accumulate(spent)),
            tuple(lineages),
            _battery_s(summary),
            0 if coverage is None else coverage["sensors"] - coverage["covered"],
        )


def _battery_s(summary: Mapping[str, object]) -> float | None:
    lives = summary.get("battery_life")
    life = lives.get("continuous") if isinstance(lives, Mapping) else None
    days = life.get("worst_d") if isinstance(life, Mapping) else None
    return days * SECONDS_PER_DAY if isinstance(days, float) else None
