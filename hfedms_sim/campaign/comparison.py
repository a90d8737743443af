"""The table of a campaign: what each variant took to each target, mean over seeds, and how it differs from the first.

A row is a variant (profile, strategy, values of the grid) and a target accuracy, or the end of the run. Means are over
the seeds that reached the target; `reached` says how many did. Differences are to the first variant's row of the same
target, seed by seed: both saw the same streams and failures, so most of what seeds make differ cancels.

Nothing in it depends on wall time, or on where and in which order the trials were played.
"""

import csv
import io
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from hfedms_sim.campaign.campaign import TrialResult
from hfedms_sim.campaign.curves import COLUMNS
from hfedms_sim.campaign.statistics import Estimate, estimate
from hfedms_sim.campaign.trials import Variant
from hfedms_sim.files import write_atomically

END = "end"
MEASURES = ("accuracy", "round", "simulated_s", "bytes", "energy_j", "loss", "updated_parameters", "total_groups")
COMPARED = ("simulated_s", "bytes", "energy_j")

Figures = Mapping[str, float | None]


class Row(NamedTuple):
    variant: Variant
    target: str
    """An accuracy, or `end`."""
    seeds: int
    reached: int
    measures: dict[str, Estimate | None]
    differences: dict[str, Estimate | None]
    """To the first variant; None there, and where no seed has both."""


def comparison(results: Sequence[TrialResult]) -> list[Row]:
    """In the order of the trials; of each variant the targets, then the end."""
    by_variant: dict[Variant, list[TrialResult]] = {}
    for result in results:
        by_variant.setdefault(result.trial.variant, []).append(result)
    first = next(iter(by_variant), None)
    rows = []
    for variant, own in by_variant.items():
        for target in _targets(own):
            figures = {result.summary["seed"]: _figures(result, target) for result in own}
            reference = {} if variant == first else _of_seeds(by_variant[first or ()], target)
            rows.append(_row(variant, target, figures, reference))
    return rows


def write_tables(results: Sequence[TrialResult], directory: Path) -> None:
    """Write comparison.csv, the rows; trials.csv, what they are made of; and curves.csv, every trial's curve."""
    write_atomically(directory / "comparison.csv", _csv(_comparison_lines(comparison(results))))
    write_atomically(directory / "trials.csv", _csv(_trial_lines(results)))
    write_atomically(directory / "curves.csv", _csv(_curve_lines(results)))


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
    return {result.summary["seed"]: _figures(result, target) for result in results}


def _targets(results: Sequence[TrialResult]) -> list[str]:
    """Those of the variant's trials; none if nothing was trained."""
    trained = not results[0].provenance["timing_only"]
    targets = [f"{target['accuracy']:g}" for target in results[0].summary["targets"]] if trained else []
    return [*targets, END]


def _figures(result: TrialResult, target: str) -> Figures | None:
    """What a trial took to get there; None if it did not."""
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
        }
    spent = next((each for each in summary["targets"] if f"{each['accuracy']:g}" == target), None)
    if spent is None or spent["round"] is None:
        return None
    groups = next((row.total_groups for row in result.curve.rows if row.round == spent["round"]), None)
    known = {**spent, "accuracy": None, "loss": None, "total_groups": groups}
    return {name: known[name] for name in MEASURES}


def _comparison_lines(rows: Sequence[Row]) -> Iterator[list[Any]]:
    keys = _keys([row.variant for row in rows])
    columns = [*MEASURES, *(f"{name}_difference" for name in COMPARED)]
    yield [*keys, "target", "seeds", "reached", *(part for name in columns for part in (name, f"{name}_ci95"))]
    for row in rows:
        estimates = [*row.measures.values(), *row.differences.values()]
        yield [
            *_values(row.variant, keys),
            row.target,
            row.seeds,
            row.reached,
            *(part for each in estimates for part in ((None, None) if each is None else each)),
        ]


def _trial_lines(results: Sequence[TrialResult]) -> Iterator[list[Any]]:
    keys = _keys([result.trial.variant for result in results])
    yield ["trial", *keys, "seed", "target", *MEASURES, "stopped", "lineage"]
    for result in results:
        for target in _targets([result]):
            figures = _figures(result, target) or dict.fromkeys(MEASURES)
            ends = (result.summary["stopped"], result.summary["lineage"]) if target == END else (None, None)
            yield [
                result.trial.name,
                *_values(result.trial.variant, keys),
                result.summary["seed"],
                target,
                *figures.values(),
                *ends,
            ]


def _curve_lines(results: Sequence[TrialResult]) -> Iterator[list[Any]]:
    keys = _keys([result.trial.variant for result in results])
    yield ["trial", *keys, "seed", *COLUMNS]
    for trial, summary, _, curve in results:
        for row in curve.rows:
            yield [trial.name, *_values(trial.variant, keys), summary["seed"], *row]


def _keys(variants: Sequence[Variant]) -> list[str]:
    """Return what at least one of the variants names."""
    return list(dict.fromkeys(key for variant in variants for key, _ in variant))


def _values(variant: Variant, keys: Sequence[str]) -> list[str | None]:
    """Return what the variant has for each key."""
    return [dict(variant).get(key) for key in keys]


def _csv(lines: Iterator[list[Any]]) -> str:
    """Numbers with all their digits; nothing where there is none."""
    text = io.StringIO()
    csv.writer(text, lineterminator="\n").writerows(lines)
    return text.getvalue()
