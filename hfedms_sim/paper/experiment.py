"""What an experiment is: the trials it needs, and what it shows and claims once they are there."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from math import log
from statistics import fmean

from hfedms_sim.campaign import Trial, TrialResult, Variant
from hfedms_sim.campaign.curves import Point
from hfedms_sim.campaign.statistics import estimate
from hfedms_sim.exhibits import Figure, Line, LineStyle, Table
from hfedms_sim.paper.claims import Claim
from hfedms_sim.paper.study import Changes, Study, variant_of
from hfedms_sim.stopping import has_diverged


@dataclass(frozen=True)
class ExperimentOutcome:
    """What an experiment shows and claims once its trials are there."""

    tables: tuple[Table, ...]
    figures: tuple[Figure, ...] = ()
    claims: tuple[Claim, ...] = ()


@dataclass(frozen=True)
class Experiment:
    name: str
    title: str
    """Which table or figure of the paper it is."""
    trials: Callable[[Study], list[Trial]]
    outcome: Callable[[Study, "Results"], ExperimentOutcome]
    claims: tuple[str, ...] = ()


@dataclass(frozen=True)
class Results:
    """What the trials of an experiment came to, found by what tells them apart."""

    results: Sequence[TrialResult]
    _by_variant: dict[Variant, dict[int, TrialResult]] = field(default_factory=dict)

    def __post_init__(self) -> None:
        for result in self.results:
            of_seeds = self._by_variant.setdefault(result.trial.variant, {})
            of_seeds[result.trial.scenario.seed] = result

    def of(self, strategy: str, kind: str, changes: Changes | None = None, *, column: str = "defaults") -> "Seeds":
        """Return the results of the trials that `Study.trials` makes of the same; none if there are none."""
        return Seeds(self._by_variant.get(variant_of(strategy, kind, column, changes or {}), {}))


@dataclass(frozen=True)
class Seeds:
    """One variant's results, by seed."""

    by_seed: Mapping[int, TrialResult]

    def __bool__(self) -> bool:
        return bool(self.by_seed)

    @property
    def sound(self) -> "Seeds":
        """Return the results without those that diverged, which have no end and count neither way."""
        diverged = self.diverged
        return Seeds({seed: result for seed, result in self.by_seed.items() if seed not in diverged})

    @property
    def diverged(self) -> tuple[int, ...]:
        """Return the seeds with which training broke down."""
        return tuple(seed for seed, result in self.by_seed.items() if has_diverged(result.summary))

    def final(self, measure: str) -> dict[int, float]:
        """Return by seed what a measure was at the end, where it was taken: in the last round of a whole cycle.

        HFedMS-D is at its best when it has calibrated; a last round right after a full synchronisation would judge
        one T by its best phase and another by its worst. What has diverged has no end.
        """
        lasts = {seed: _pairs(whole_cycles(result), measure) for seed, result in self.sound.by_seed.items()}
        return {seed: pairs[-1][1] for seed, pairs in lasts.items() if pairs}

    def mean(self, measure: str) -> float | None:
        return mean_of(self.final(measure))

    def at(self, number: int, measure: str) -> dict[int, float]:
        """Return by seed what a measure was in a round, where it was taken and training did not break down later."""
        sound = self.sound.by_seed.items()
        rows = {seed: [row for row in each.curve.rows if row.round == number] for seed, each in sound}
        values = {seed: _value(found[0], measure) for seed, found in rows.items() if found}
        return {seed: value for seed, value in values.items() if value is not None}

    def shown(self, measure: str) -> str:
        """Return mean and 95 % interval of the final values as text; nothing if there are none."""
        return shown(list(self.final(measure).values()))

    def spent(self, measure: str, accuracy: Mapping[int, float] | float, every: int = 1) -> dict[int, float]:
        """Return by seed what a measure had come to when an accuracy was first reached, looking every n-th round only.

        `accuracy` is one for all seeds, or one for each. Strategies that are evaluated more often than others would
        otherwise be the first to be seen at a target. What has diverged got nowhere, also if it was there before.
        """
        found = {}
        for seed, result in self.sound.by_seed.items():
            target = accuracy if isinstance(accuracy, float) else accuracy.get(seed)
            rows = [row for row in result.curve.rows if row.round % every == 0 and row.accuracy is not None]
            first = next((row for row in rows if target is not None and (row.accuracy or 0.0) >= target), None)
            if first is not None and (value := _value(first, measure)) is not None:
                found[seed] = value
        return found

    def line(self, label: str, x: str, y: str, unit: float = 1.0, style: LineStyle = "solid") -> Line:
        """Return the mean over seeds with the band from the least to the largest, at the rounds that all seeds have.

        What is on the x axis hardly differs between seeds at the same round; it is the mean too.
        """
        curves = [{row.round: row for row in result.curve.rows} for result in self.by_seed.values()]
        points = []
        for number in sorted(set.intersection(*({*curve} for curve in curves)) if curves else ()):
            at = [(_value(curve[number], x), _value(curve[number], y)) for curve in curves]
            if all(pair[0] is not None and pair[1] is not None for pair in at):
                xs, ys = zip(*at, strict=True)
                points.append((fmean(xs) / unit, fmean(ys), min(ys), max(ys)))
        columns: list[tuple[float, ...]] = list(zip(*points, strict=True)) or [(), (), (), ()]
        low, high = columns[2:] if len(curves) > 1 else ((), ())
        return Line(label, columns[0], columns[1], low, high, style)


def divergences(named: Mapping[str, Seeds]) -> str:
    """Return who diverged, and with which seeds, in words; nothing if nobody did."""
    found = {name: " and ".join(map(str, seeds.diverged)) for name, seeds in named.items() if seeds.diverged}
    return "; ".join(f"{name} diverged with seed {numbers}" for name, numbers in found.items())


def mean_of(values: Mapping[int, float], unit: float = 1.0) -> float | None:
    """Return the mean over seeds, in a unit; None if no seed has a value."""
    return fmean(values.values()) / unit if values else None


def _value(row: Point, measure: str) -> float | None:
    """Return a column of the row, or one of two that are made of columns: `bytes` and `probe_excess`."""
    if measure == "bytes":
        return float(row.uplink_bytes + row.downlink_bytes)
    if measure == "probe_excess":
        known = row.probe_accuracy is not None and row.accuracy is not None
        return (row.probe_accuracy or 0.0) - (row.accuracy or 0.0) if known else None
    value = getattr(row, measure)
    return None if value is None else float(value)


def whole_cycles(result: TrialResult) -> list[Point]:
    """Return the rows up to the end of the last whole cycle of T rounds; all where T is 1, or where none is whole."""
    every, rows = result.trial.scenario.strategy.cycle_rounds, result.curve.rows
    last = rows[-1].round // every * every if rows else 0
    return [row for row in rows if row.round <= last] or [*rows]


def _pairs(rows: Sequence[Point], measure: str) -> list[tuple[int, float]]:
    """Return round and value, wherever the measure was taken."""
    values = ((row.round, _value(row, measure)) for row in rows)
    return [(number, value) for number, value in values if value is not None]


def shown(values: Sequence[float], digits: int = 3) -> str:
    found = estimate(values)
    if found is None:
        return ""
    spread = "" if found.half_width is None else f" ± {found.half_width:.{digits}f}"
    return f"{found.mean:.{digits}f}{spread}"


def log_ratio(
    ours: Mapping[int, float], theirs: Mapping[int, float], our_end: Mapping[int, float], their_end: Mapping[int, float]
) -> tuple[float, ...]:
    """Return ln(theirs / ours) for each seed that both have played to an end: positive where ours is less.

    Who never got there spent at least what it had spent at its end. Such a seed counts only where this bound already
    decides: in favour of ours if theirs is missing, against it if ours is.
    """
    values = []
    for seed in sorted((ours.keys() | theirs.keys()) & our_end.keys() & their_end.keys()):
        value = log(theirs.get(seed, their_end[seed]) / ours.get(seed, our_end[seed]))
        is_known = seed in ours and seed in theirs
        if is_known or (value > 0) == (seed in ours):
            values.append(value)
    return tuple(values)


def half_a_step(every: int, *rounds: Mapping[int, float]) -> float:
    """Return half of n rounds relative to the fewest of these: how finely the logarithm of their ratio is known."""
    return every / 2 / min((number for each in rounds for number in each.values()), default=1.0)


def distinct(trials: Iterable[Trial]) -> list[Trial]:
    """Return the trials without repetitions, in their order."""
    return list({trial.name: trial for trial in trials}.values())
