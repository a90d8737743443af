"""hfedms-plus against tuned rivals in a scenario of your own: `python -m benchmarks.contest SCENARIO --out DIR`.

The protocol of `paper tune` and `paper lead` (docs/paper.md), for any scenario instead of the paper's factory:

    DIR/tune     every strategy's six points, 100 rounds, seed 0; the most accurate at the end of its last whole cycle
                 is chosen, the first of equals
    DIR/judged   the choices and hfedms-plus by its own rule, at its own rate, 100 rounds, seeds 1, 2, 3, looked at in
                 every second round; hfedms-plus, the two best baselines and HFedMS-S also with int8

Everybody else sends plain numbers. Whom the scenario or a radio refuses is left out, and a line says so. Both are
campaigns, so the command goes on with what is in DIR. It prints two tables, which are also DIR/choices.csv and
DIR/contest.csv.
"""

import argparse
import csv
import sys
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from statistics import fmean
from typing import NamedTuple

from hfedms_sim.campaign import Campaign, Options, Trial, TrialResult, campaign_directory, workers_for
from hfedms_sim.errors import InputError
from hfedms_sim.loading import load_scenario
from hfedms_sim.paper.experiment import Seeds, mean_of
from hfedms_sim.paper.experiments.beyond.contender import Hours, hours_to
from hfedms_sim.paper.experiments.tuning import POINTS, ROUNDS, SEED, points_of, strategies_on
from hfedms_sim.paper.published import BASELINES
from hfedms_sim.strategies import STRATEGIES

SEEDS = (1, 2, 3)
PLUS = "hfedms-plus"

Changes = tuple[tuple[str, str], ...]
"""Keys of a scenario and what they are set to, as text to be read as YAML."""

_OWN_RATE: Changes = (("strategy.learning_rate", "0.05"),)


class Case(NamedTuple):
    """A strategy with settings, over a radio or the scenario's own."""

    strategy: str
    changes: Changes
    numbers: str = "plain"
    profile: str | None = None

    def trial(self, scenario: str, overrides: Sequence[str], seed: int, every: int) -> Trial:
        changed = [*overrides, *(f"{key}={value}" for key, value in self.changes)]
        fixed = [f"strategy.compression={self._legs}", f"evaluate_every={every}", "stop_at=null", f"rounds={ROUNDS}"]
        loaded = load_scenario(
            scenario, profile=self.profile, strategy=self.strategy, seed=seed, overrides=[*changed, *fixed]
        )
        over = [loaded.profile_names] if self.profile else []
        words = [self.strategy, self.numbers, *over, *(value for _, value in self.changes)]
        variant = (("profile", loaded.profile_names), ("strategy", self.strategy), ("numbers", self.numbers))
        return Trial(f"{'-'.join(words)}-seed{seed}", (*variant, *self.changes), loaded)

    @property
    def words(self) -> str:
        return f"{self.strategy}{', int8' if self.numbers == 'int8' else ''}"

    @property
    def _legs(self) -> str:
        if self.numbers == "plain":
            return "{}"
        has_relays = STRATEGIES[self.strategy].Settings.relays
        return "{downlink: int8, relay: int8, uplink: int8}" if has_relays else "{downlink: int8, uplink: int8}"


class Arguments(argparse.Namespace):
    scenario: str
    overrides: list[str]
    profiles: list[str]
    accuracy: float
    jobs: int
    out: Path

    @property
    def radios(self) -> list[str | None]:
        """Return the profiles that were asked for, or that there is only the scenario's own radio."""
        return [*self.profiles] or [None]


class Played(NamedTuple):
    results: list[TrialResult]
    refused: Mapping[str, str]
    """Why, by trial."""


def _played(arguments: Arguments, name: str, trials: Sequence[Trial]) -> Played:
    place = arguments.out / name
    directory = campaign_directory(name, place, resume=place.exists())
    campaign = Campaign(directory, trials, Options(), on_notice=print)
    results = campaign.run(workers_for(arguments.jobs, None, campaign.options))
    campaign.require_played()
    return Played(results, campaign.refused)


def _tuned(arguments: Arguments) -> dict[str, Changes]:
    """Return the settings of every strategy that the scenario takes, the most accurate on the tuning seed first."""
    points: dict[str, list[tuple[Changes, Trial]]] = {}
    for strategy in strategies_on("stream"):
        every = 1 if strategy == "hfedms-d" else ROUNDS
        try:
            points[strategy] = [
                (point, Case(strategy, point).trial(arguments.scenario, arguments.overrides, SEED, every))
                for point in (tuple(each.items()) for each in points_of(strategy))
            ]
        except InputError as error:
            print(f"{strategy} is left out: {error}")
    if not any(name in points for name in BASELINES):
        raise InputError(f"{arguments.scenario}: takes none of {', '.join(BASELINES)}, so there is nobody to beat")
    for profile in arguments.radios:
        Case(PLUS, _OWN_RATE, profile=profile).trial(arguments.scenario, arguments.overrides, SEED, ROUNDS)
    results, refused = _played(arguments, "tune", [trial for each in points.values() for _, trial in each])
    accuracies = {each.trial.name: Seeds({SEED: each}).final("accuracy").get(SEED, 0.0) for each in results}
    for strategy, tried in list(points.items()):
        why = next((refused[trial.name] for _, trial in tried if trial.name in refused), None)
        if why is not None:
            print(f"{strategy} is left out: {why}")
            del points[strategy]
    best = {strategy: max(tried, key=lambda each: accuracies[each[1].name]) for strategy, tried in points.items()}
    reached = {strategy: accuracies[trial.name] for strategy, (_, trial) in best.items()}
    header = ("strategy", f"chosen of {POINTS}", f"accuracy, seed {SEED}, round {ROUNDS}")
    rows = [(strategy, _words(point), f"{reached[strategy]:.3f}") for strategy, (point, _) in best.items()]
    _write(arguments.out / "choices.csv", header, rows)
    return {strategy: best[strategy][0] for strategy in sorted(best, key=lambda name: -reached[name])}


def _cases(chosen: Mapping[str, Changes], profile: str | None) -> list[Case]:
    """Return everybody over a radio, hfedms-plus first."""
    compressed = [*[name for name in chosen if name in BASELINES][:2], *(name for name in chosen if name == "hfedms-s")]
    return [
        Case(PLUS, _OWN_RATE, "int8", profile),
        Case(PLUS, _OWN_RATE, "plain", profile),
        *(Case(strategy, chosen[strategy], "int8", profile) for strategy in compressed),
        *(Case(strategy, changes, "plain", profile) for strategy, changes in chosen.items()),
    ]


def _judged(arguments: Arguments, chosen: Mapping[str, Changes]) -> dict[str, list[tuple[Case, Seeds]]]:
    """Return by radio what everybody came to."""
    trials: list[tuple[Case, Trial]] = [
        (case, case.trial(arguments.scenario, arguments.overrides, seed, every=2))
        for profile in arguments.radios
        for case in _cases(chosen, profile)
        for seed in SEEDS
    ]
    results, refused = _played(arguments, "judged", [trial for _, trial in trials])
    by_name = {each.trial.name: each for each in results}
    contests: dict[str, list[tuple[Case, Seeds]]] = {}
    for case, trial in trials[:: len(SEEDS)]:
        radio = trial.scenario.profile_names
        names = {seed: trial.name.replace(f"-seed{SEEDS[0]}", f"-seed{seed}") for seed in SEEDS}
        why = next((refused[name] for name in names.values() if name in refused), None)
        if why is None:
            seeds = Seeds({seed: by_name[name] for seed, name in names.items()})
            contests.setdefault(radio, []).append((case, seeds))
        else:
            print(f"{case.words} is left out on {radio}: {why}")
    return contests


def rows_of(radio: str, target: float, everybody: Sequence[tuple[Case, Seeds]]) -> Iterable[tuple[str, ...]]:
    """Yield hfedms-plus against its rivals, with int8 and with plain numbers, as far as both sides were played."""
    rivals = [(case, seeds) for case, seeds in everybody if case.strategy != PLUS]
    for ours_case, ours in ((case, seeds) for case, seeds in everybody if case.strategy == PLUS):
        alike = [seeds for case, seeds in rivals if case.numbers == ours_case.numbers]
        if not alike:
            print(f"{ours_case.words} has nobody to beat on {radio}")
            continue
        sending = rivals if ours_case.numbers == "int8" else [each for each in rivals if each[0].numbers == "plain"]
        best = {seed: max(_measured(seeds, seed) for seeds in alike) for seed in SEEDS}
        row: list[str] = [radio, ours_case.numbers]
        for accuracy in (target, best):
            first = {case: hours_to(seeds, accuracy) for case, seeds in sending}
            soonest = min(first, key=lambda case: (len(SEEDS) - len(first[case]), mean_of(first[case]) or 0.0))
            lead = Hours.of(ours, accuracy).relative_to(Hours.least(Hours.of(each, accuracy) for _, each in sending))
            row += [_shown(hours_to(ours, accuracy)), f"{soonest.words}: {_shown(first[soonest])}", lead]
        yield (*row, f"{fmean(best.values()):.3f}", ours.shown("accuracy"))


def _measured(seeds: Seeds, seed: int) -> float:
    return max(row.accuracy or 0.0 for row in seeds.by_seed[seed].curve.rows)


def _shown(hours: Mapping[int, float]) -> str:
    mean = mean_of(hours)
    of_how_many = "" if len(hours) == len(SEEDS) else f" ({len(hours)} of {len(SEEDS)})"
    return "never" if mean is None else f"{mean:.4g}{of_how_many}"


def _words(changes: Changes) -> str:
    return ", ".join(f"{key.removeprefix('strategy.')} {value}" for key, value in changes)


def _write(path: Path, header: Sequence[str], rows: Sequence[Sequence[str]]) -> None:
    """Write a table as CSV, and print it as Markdown."""
    with path.open("w", newline="", encoding="utf-8") as file:
        csv.writer(file).writerows([header, *rows])
    for row in (header, ["---"] * len(header), *rows):
        print(f"| {' | '.join(row)} |")


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.contest")
    parser.add_argument("scenario")
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--set", dest="overrides", action="append", default=[], metavar="KEY=VALUE")
    parser.add_argument("--profile", dest="profiles", action="append", default=[], help="repeatable; the scenario's")
    parser.add_argument("--accuracy", type=float, default=0.7)
    parser.add_argument("--jobs", type=int, default=1)
    arguments = parser.parse_args(namespace=Arguments())
    arguments.out.mkdir(parents=True, exist_ok=True)
    try:
        contests = _judged(arguments, _tuned(arguments))
    except InputError as error:
        sys.exit(f"error: {error}")
    header = [
        "radio", "numbers", f"hours to {arguments.accuracy}", "the best rival", "ratio",
        "hours to the rivals' best", "the best rival", "ratio", "the rivals' best", "accuracy at the end",
    ]  # fmt: skip
    rows = [row for radio, each in contests.items() for row in rows_of(radio, arguments.accuracy, each)]
    _write(arguments.out / "contest.csv", header, rows)


if __name__ == "__main__":
    main()
