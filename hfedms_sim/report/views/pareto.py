"""Simulated time against joules or bytes: a dot for each variant, and which of them no other beats in both.

Time and cost are those until the highest target accuracy that any of the runs has reached; where no run has accuracies,
those until its end. A variant's dot is the mean over its seeds that got there. A variant is dominated if another is at
least as good in both and better in one. One that leaves sensors out of coverage serves fewer of them, and looks good
for it: it is a cross, and dominates nobody unless all are such.
"""

from collections.abc import Sequence
from statistics import fmean
from typing import Literal, NamedTuple

from hfedms_sim.errors import InputError
from hfedms_sim.exhibits import Dots, DotSet, Figure, Marker
from hfedms_sim.report.energy import missing_reasons
from hfedms_sim.report.run_labels import RunSet, run_sets, scenarios_of
from hfedms_sim.report.views.scales import Unit, bytes_unit, energy_unit, time_unit
from hfedms_sim.result import RunResult
from hfedms_sim.units import format_bytes, format_joules, format_seconds

Cost = Literal["energy", "bytes"]
FRONT = "not dominated"


class Variant(NamedTuple):
    label: str
    time_s: float
    cost: float
    """Joules or bytes."""
    seeds: str
    """Such as `2 of 3 seeds`, where not all got there."""
    covers_all: bool
    """Whether all sensors are in coverage, as far as is known, with every seed."""


def pareto_figure(results: Sequence[RunResult], *, against: Cost = "energy", is_log: bool = False) -> Figure:
    """Return time against cost: a dot for each variant, those that are not dominated joined and named."""
    target = highest_target(results)
    if target is None and any(result.summary["final_accuracy"] is not None for result in results):
        raise InputError("no run has reached any of its target accuracies; give the scenarios lower targets")
    sets = run_sets(results)
    variants = [variant for runs in sets if (variant := _variant(runs, against, target)) is not None]
    if not variants:
        raise InputError(f"nothing to plot, {_why_none(results, against)}")
    time, cost = time_unit(max(each.time_s for each in variants)), _cost_unit(against, variants)
    dots = [_dot(each, against, time, cost) for each in variants]
    compared = [each for each in variants if each.covers_all] or variants
    best = non_dominated([(each.time_s, each.cost) for each in compared])
    front = sorted((compared[index] for index in best), key=lambda each: (each.time_s, each.cost))
    joined = DotSet(
        FRONT,
        time.of([each.time_s for each in front]),
        cost.of([each.cost for each in front]),
        texts=tuple(each.label for each in front),
        is_joined=True,
        is_named=len(variants) > 1,
    )
    until = "the end of the run" if target is None else f"an accuracy of {100 * target:g} %"
    what = f"energy in {cost.name}" if against == "energy" else f"sent in {cost.name}"
    panel = Dots(f"Until {until}", f"simulated time in {time.name}", what, (*dots, joined), log_x=is_log, log_y=is_log)
    title = f"{scenarios_of(results)}: time against {'energy' if against == 'energy' else 'bytes sent'}"
    return Figure("pareto", title, (panel,), columns=1, note=_note(sets, variants, target, against))


def highest_target(results: Sequence[RunResult]) -> float | None:
    """Return the highest of the scenarios' targets that at least one run has reached."""
    best = max((float(result.summary["best_accuracy"] or 0.0) for result in results), default=0.0)
    targets = {target for result in results for target in result.scenario.targets}
    return max((target for target in targets if target <= best), default=None)


def non_dominated(points: Sequence[tuple[float, float]]) -> list[int]:
    """Return the indices of the points for which no other is at least as low in both and lower in one, in order."""
    order = sorted(range(len(points)), key=lambda index: points[index])
    kept: list[int] = []
    lowest = float("inf")
    for index in order:
        x, y = points[index]
        if y < lowest or (kept and points[kept[-1]] == (x, y)):
            kept.append(index)
            lowest = y
    return sorted(kept)


def _variant(runs: RunSet, against: Cost, target: float | None) -> Variant | None:
    """Return the mean over the seeds that got there; None if none did, or its cost is not known."""
    spent = [_spent(result, against, target) for result in runs.results]
    known = [(time_s, cost) for time_s, cost in spent if time_s is not None and cost is not None]
    if not known:
        return None
    seeds = f"{len(known)} of {len(spent)} seeds" if len(known) < len(spent) else ""
    covers_all = all(_covers_all(result) for result in runs.results)
    return Variant(
        runs.label, fmean(time_s for time_s, _ in known), fmean(cost for _, cost in known), seeds, covers_all
    )


def _covers_all(result: RunResult) -> bool:
    coverage = result.summary.get("coverage")  # earlier versions have none
    return coverage is None or coverage["covered"] == coverage["sensors"]


def _spent(result: RunResult, against: Cost, target: float | None) -> tuple[float | None, float | None]:
    if target is None:
        summary = result.summary
        return summary["simulated_s"], summary["energy_j"] if against == "energy" else summary["bytes"]["total"]
    cost = result.energy_to_accuracy_j(target) if against == "energy" else result.bytes_to_accuracy(target)
    return result.time_to_accuracy(target), cost


def _dot(variant: Variant, against: Cost, time: Unit, cost: Unit) -> DotSet:
    amount = format_joules(variant.cost) if against == "energy" else format_bytes(variant.cost)
    words = (variant.label, format_seconds(variant.time_s), amount, variant.seeds)
    text = ", ".join(word for word in words if word)
    marker: Marker = "dot" if variant.covers_all else "cross"
    return DotSet(variant.label, time.of([variant.time_s]), cost.of([variant.cost]), texts=(text,), marker=marker)


def _cost_unit(against: Cost, variants: Sequence[Variant]) -> Unit:
    largest = max(each.cost for each in variants)
    return energy_unit(largest) if against == "energy" else bytes_unit(largest)


def _note(sets: Sequence[RunSet], variants: Sequence[Variant], target: float | None, against: Cost) -> str:
    """Say who is not in the picture, and who is with some seeds only."""
    shown = {each.label for each in variants}
    missing = [runs.label for runs in sets if runs.label not in shown]
    partly = [f"{each.label} ({each.seeds})" for each in variants if each.seeds]
    unknown = " or has no known energy" if against == "energy" else ""
    why = f"has not reached the target{unknown}" if target is not None else "has no known energy"
    notes = [f"Not shown, because it {why}: {'; '.join(missing)}." if missing else ""]
    notes.append(f"The mean of some seeds only: {'; '.join(partly)}." if partly else "")
    outside = [each.label for each in variants if not each.covers_all]
    notes.append(
        f"Crosses leave sensors out of coverage, and are not compared: {'; '.join(outside)}." if outside else ""
    )
    return " ".join(note for note in notes if note)


def _why_none(results: Sequence[RunResult], against: Cost) -> str:
    reasons = missing_reasons(results)
    named = f" ({'; '.join(reasons)})" if reasons else ""
    if against == "bytes":
        return "there are no runs"
    return f"the energy of no run is modelled{named}; --against bytes works"
