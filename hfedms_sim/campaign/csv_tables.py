"""The tables of a campaign as CSV: the comparison, the trials behind it, and their curves.

Numbers have all their digits; what there is not is empty.
"""

import csv
import io
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from hfedms_sim.campaign.campaign import Refusal, TrialResult
from hfedms_sim.campaign.comparison import COMPARED, END, MEASURES, Row, cause_of, comparison, figures_of, targets_of
from hfedms_sim.campaign.curves import COLUMNS
from hfedms_sim.campaign.directory import TABLES, files_of_campaign
from hfedms_sim.campaign.trials import Variant
from hfedms_sim.stopping import stopped_of
from hfedms_sim.system.checksums import remove_checksums, write_checksums
from hfedms_sim.system.files import write_atomically


class TrialLine(NamedTuple):
    """A line of trials.csv after the trial's name and variant: what it took to a target, or to its end."""

    seed: int
    target: str
    accuracy: float | None = None
    round: float | None = None
    simulated_s: float | None = None
    bytes: float | None = None
    energy_j: float | None = None
    loss: float | None = None
    updated_parameters: float | None = None
    total_groups: float | None = None
    participants: float | None = None
    skipped: float | None = None
    stopped: str | None = None
    """Why it ended before its last round, as `Stopped.reason` has it. This and what follows up to the lineage is at its
    end."""
    stopped_round: int | None = None
    stopped_detail: str | None = None
    refused: str | None = None
    """Why the simulator refuses to play it."""
    lineage: str | None = None
    sensors: int | None = None
    covered: int | None = None
    limited_by: str | None = None


def write_tables(results: Sequence[TrialResult], directory: Path, refusals: Sequence[Refusal] = ()) -> None:
    """Write comparison.csv, the rows; trials.csv, what they are made of; and curves.csv, every trial's curve.

    Last come the checksums of all files that are the campaign's own.
    """
    remove_checksums(directory)
    for name, text in tables_of(results, refusals).items():
        write_atomically(directory / name, text)
    write_checksums(directory, files_of_campaign(directory))


def tables_of(results: Sequence[TrialResult], refusals: Sequence[Refusal] = ()) -> dict[str, str]:
    """Return the content of each table by the name of its file."""
    curves = _csv(_curve_lines(results))
    return dict(zip(TABLES, (comparison_csv(results, refusals), trials_csv(results, refusals), curves), strict=True))


def comparison_csv(results: Sequence[TrialResult], refusals: Sequence[Refusal] = ()) -> str:
    """Return the content of comparison.csv."""
    return _csv(_comparison_lines(comparison(results, refusals)))


def trials_csv(results: Sequence[TrialResult], refusals: Sequence[Refusal] = ()) -> str:
    """Return the content of trials.csv."""
    return _csv(_trial_lines(results, refusals))


def _comparison_lines(rows: Sequence[Row]) -> Iterator[list[Any]]:
    keys = _keys([row.variant for row in rows])
    columns = [*MEASURES, *(f"{name}_difference" for name in COMPARED)]
    estimated = [part for name in columns for part in (name, f"{name}_ci95")]
    yield [*keys, "target", "seeds", "reached", *estimated, "sensors", "covered", "refused", "limited_by"]
    for row in rows:
        estimates = [*row.measures.values(), *row.differences.values()]
        yield [
            *_values(row.variant, keys),
            row.target,
            row.seeds,
            row.reached,
            *(part for each in estimates for part in ((None, None) if each is None else each)),
            *(row.coverage or (None, None)),
            row.reason,
            row.limited_by,
        ]


def _trial_lines(results: Sequence[TrialResult], refusals: Sequence[Refusal]) -> Iterator[list[Any]]:
    trials = [*(result.trial for result in results), *(refusal.trial for refusal in refusals)]
    keys = _keys([trial.variant for trial in trials])
    yield ["trial", *keys, *TrialLine._fields]
    for result in results:
        for target in targets_of([result]):
            yield [result.trial.name, *_values(result.trial.variant, keys), *_trial_line(result, target)]
    for trial, reason in refusals:
        line = TrialLine(seed=trial.scenario.seed, target=END, refused=reason)
        yield [trial.name, *_values(trial.variant, keys), *line]


def _trial_line(result: TrialResult, target: str) -> TrialLine:
    summary = result.summary
    coverage = summary.get("coverage") or {}
    known: dict[str, Any] = {**(figures_of(result, target) or {}), **(_ending(result) if target == END else {})}
    return TrialLine(
        seed=summary["seed"],
        target=target,
        **known,
        sensors=coverage.get("sensors"),
        covered=coverage.get("covered"),
        limited_by=cause_of(result),
    )


def _ending(result: TrialResult) -> dict[str, Any]:
    """Return the columns that only the line of a trial's end has."""
    stopped, lineage = stopped_of(result.summary), {"lineage": result.summary["lineage"]}
    if stopped is None:
        return lineage
    return {"stopped": stopped.reason, "stopped_round": stopped.round, "stopped_detail": stopped.detail, **lineage}


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
    text = io.StringIO()
    csv.writer(text, lineterminator="\n").writerows(lines)
    return text.getvalue()
