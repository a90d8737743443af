"""The table of a campaign: what each variant took to each target, mean over seeds, and how it differs from a reference.

A row is a variant (profile, strategy, values of the grid) and a target accuracy, or the end of the run. Means are over
the seeds that reached the target; `reached` says how many did. Differences are to the reference's row of the same
target, seed by seed: both saw the same streams and failures, so most of what seeds make differ cancels.

A radio that loses sensors serves fewer of them, and looks fast for it. So the reference is the first variant with all
sensors in coverage (the first of all if none has them), and a variant without is not compared. Trials that were refused
come last, a row for each variant, with the reason of its first seed: others mostly differ in a figure.

Nothing in it depends on wall time, or on where and in which order the trials were played.
"""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from math import floor
from statistics import fmean
from typing import NamedTuple

from hfedms_sim.campaign.campaign import Refusal, TrialResult
from hfedms_sim.campaign.curves import Point
from hfedms_sim.campaign.statistics import Estimate, estimate
from hfedms_sim.campaign.trials import Variant

END = "end"
MEASURES = (
    "accuracy", "round", "simulated_s", "bytes", "energy_j", "loss", "updated_parameters", "total_groups",
    "participants", "skipped",
)  # fmt: skip
COMPARED = ("simulated_s", "bytes", "energy_j")

Figures = Mapping[str, float | None]
_ByVariant = Mapping[Variant, Sequence[TrialResult]]


class Coverage(NamedTuple):
    """How many sensors there are, and how many of them are in coverage, mean over seeds."""

    sensors: int
    covered: float

    @property
    def is_whole(self) -> bool:
        """Return whether no seed has a sensor out of coverage."""
        return self.covered == self.sensors

    @property
    def covered_text(self) -> str:
        """Return the covered sensors, rounded down to a tenth, so that they never look whole if they are not."""
        return f"{floor(10 * self.covered) / 10:.1f}".removesuffix(".0")


class Row(NamedTuple):
    variant: Variant
    target: str
    """An accuracy, or `end`."""
    seeds: int
    reached: int
    measures: dict[str, Estimate | None]
    differences: dict[str, Estimate | None]
    """How far measures are from the reference's; None there, where no seed has both, and without full coverage."""
    coverage: Coverage | None = None
    """None where nothing was played, and in records of older versions."""
    is_reference: bool = False
    reason: str | None = None
    """Why the first of these seeds was refused; None if they were played."""
    limited_by: str | None = None
    """What limited most seeds, of equally many the first; None where nothing was played, and in older records."""
    extrapolated: tuple[str, ...] = ()
    """The figures behind its joules that were not measured on its radio, as `PROFILE: KEY`."""
    energy_missing: tuple[str, ...] = ()
    """Why its joules are not modelled, as `PROFILE: WHY`."""

    @property
    def is_comparable(self) -> bool:
        """Return whether all sensors are in coverage, as far as is known, of a variant that was played."""
        return self.reason is None and (self.coverage is None or self.coverage.is_whole)


def comparison(results: Sequence[TrialResult], refusals: Sequence[Refusal] = ()) -> list[Row]:
    """Return the rows in the order of the trials, of each variant the targets, then the end; then what was refused."""
    by_variant: dict[Variant, list[TrialResult]] = {}
    for result in results:
        by_variant.setdefault(result.trial.variant, []).append(result)
    reference = _reference(by_variant)
    played = [row for variant in by_variant for row in _rows(variant, by_variant, reference)]
    return played + _refused_rows(refusals)


def _reference(by_variant: _ByVariant) -> Variant | None:
    """Return the first variant that has all sensors in coverage, as far as is known; the first of all if none has."""
    coverages = {variant: _coverage(own) for variant, own in by_variant.items()}
    whole = [variant for variant, coverage in coverages.items() if coverage is None or coverage.is_whole]
    return next(iter([*whole, *by_variant]), None)


def _coverage(results: Sequence[TrialResult]) -> Coverage | None:
    """Return the coverage of a variant's trials; None if one of them was recorded before there was any."""
    known = [each for result in results if (each := result.summary.get("coverage")) is not None]
    if len(known) < len(results):
        return None
    return Coverage(known[0]["sensors"], fmean(each["covered"] for each in known))


def _limited_by(results: Sequence[TrialResult]) -> str | None:
    """Return the cause that most of these trials have, of equally frequent ones the first."""
    known = Counter(cause for result in results if (cause := cause_of(result)) is not None)
    return known.most_common(1)[0][0] if known else None


def cause_of(result: TrialResult) -> str | None:
    """Return what limited a trial; None in records of older versions."""
    found = result.summary.get("limited_by") or {}
    return found.get("cause")


def _rows(variant: Variant, by_variant: _ByVariant, reference: Variant | None) -> Iterator[Row]:
    own = by_variant[variant]
    coverage, is_reference = _coverage(own), variant == reference
    is_compared = not is_reference and (coverage is None or coverage.is_whole)
    for target in targets_of(own):
        others = _of_seeds(by_variant[reference or ()], target) if is_compared else {}
        row = _row(variant, target, _of_seeds(own, target), others)
        yield row._replace(
            coverage=coverage,
            is_reference=is_reference,
            limited_by=_limited_by(own),
            extrapolated=_listed(own, "energy_extrapolated"),
            energy_missing=_listed(own, "energy_missing"),
        )


def _listed(results: Sequence[TrialResult], key: str) -> tuple[str, ...]:
    """Return what the summaries of a variant's trials list under a key; records of older versions list nothing."""
    listed = (entry for result in results for entry in result.summary.get(key) or ())
    return tuple(dict.fromkeys(listed))


def _refused_rows(refusals: Sequence[Refusal]) -> list[Row]:
    reasons: dict[Variant, list[str]] = {}
    for trial, reason in refusals:
        reasons.setdefault(trial.variant, []).append(reason)
    return [
        Row(variant, END, len(own), 0, dict.fromkeys(MEASURES), dict.fromkeys(COMPARED), reason=own[0])
        for variant, own in reasons.items()
    ]


def _row(
    variant: Variant, target: str, figures: Mapping[int, Figures | None], reference: Mapping[int, Figures | None]
) -> Row:
    reached = [each for each in figures.values() if each is not None]
    pairs = [(figures[seed], reference.get(seed)) for seed in figures]
    both = [(mine, theirs) for mine, theirs in pairs if mine is not None and theirs is not None]
    return Row(
        variant,
        target,
        len(figures),
        len(reached),
        {name: estimate([value for each in reached if (value := each[name]) is not None]) for name in MEASURES},
        {name: estimate(_less(both, name)) for name in COMPARED},
    )


def _less(pairs: Sequence[tuple[Figures, Figures]], name: str) -> list[float]:
    values = [(mine[name], theirs[name]) for mine, theirs in pairs]
    return [mine - theirs for mine, theirs in values if mine is not None and theirs is not None]


def _of_seeds(results: Sequence[TrialResult], target: str) -> dict[int, Figures | None]:
    return {result.summary["seed"]: figures_of(result, target) for result in results}


def targets_of(results: Sequence[TrialResult]) -> list[str]:
    """Return the targets of a variant's trials, and their end; that alone if nothing was trained."""
    trained = not results[0].provenance["timing_only"]
    targets = [f"{target['accuracy']:g}" for target in results[0].summary["targets"]] if trained else []
    return [*targets, END]


def figures_of(result: TrialResult, target: str) -> Figures | None:
    """Return what a trial took to a target, or to its end; None if it did not get there."""
    summary = result.summary
    if target == END:
        return {
            "accuracy": summary["final_accuracy"],
            "round": summary["rounds"],
            "simulated_s": summary["simulated_s"],
            "bytes": summary["bytes"]["total"],
            "energy_j": summary["energy_j"],
            "loss": summary["final_loss"],
            "updated_parameters": result.curve.final("updated_parameters"),
            "total_groups": result.curve.final("total_groups"),
            **_taking_part(result.curve.rows[-1] if result.curve.rows else None),
        }
    spent = next((each for each in summary["targets"] if f"{each['accuracy']:g}" == target), None)
    if spent is None or spent["round"] is None:
        return None
    there = next((row for row in result.curve.rows if row.round == spent["round"]), None)
    groups = None if there is None else there.total_groups
    known = {**spent, "accuracy": None, "loss": None, "total_groups": groups, **_taking_part(there)}
    return {name: known[name] for name in MEASURES}


def _taking_part(point: Point | None) -> dict[str, float | None]:
    """Return the participants a round, mean over the rounds up to a point, and the captures skipped in them."""
    if point is None or point.participants is None:
        return {"participants": None, "skipped": None}
    return {"participants": point.participants / point.round, "skipped": point.skipped}
