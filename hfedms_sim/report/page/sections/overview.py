"""The headlines: of one run what it cost and what limited it, of several who was fastest and who cheapest."""

from collections.abc import Callable, Iterator, Sequence
from typing import Any

from hfedms_sim.campaign import Row
from hfedms_sim.campaign.comparison import END
from hfedms_sim.explanation import Explanation
from hfedms_sim.report.energy import EXTRAPOLATED, lasting, mark_of
from hfedms_sim.report.page.blocks import Block, Card, Cards, Prose, Section
from hfedms_sim.report.page.runs import PageRuns, is_trained
from hfedms_sim.report.page.sections.names import common_target, variant_name
from hfedms_sim.report.run_labels import run_sets
from hfedms_sim.report.tables import counted, fault_counts, rounds_in_words
from hfedms_sim.result import RunResult
from hfedms_sim.units import format_bytes, format_joules, format_seconds

_NAME, _TITLE = "overview", "In short"
_MOST_NAMES = 3
_ALIKE = 1 + 1e-9  # of figures that are equal but for their last digits


def overview_of_run(result: RunResult, explanation: Explanation) -> Section:
    """Return the headlines of one run."""
    return Section(_NAME, _TITLE, (Cards(tuple(_cards(result, explanation))),))


def _cards(result: RunResult, explanation: Explanation) -> Iterator[Card]:
    summary = result.summary
    if reached := _highest_target(result):
        spent = f"round {reached['round']}, {format_bytes(reached['bytes'])}{_joules(reached['energy_j'], result)}"
        yield Card(f"Time to accuracy {reached['accuracy']:g}", format_seconds(reached["simulated_s"]), spent)
    if is_trained(result):
        yield Card("Accuracy at the end", f"{summary['final_accuracy']:.3f}", f"{summary['best_accuracy']:.3f} at best")
    yield Card("Simulated time", format_seconds(summary["simulated_s"]), f"rounds: {rounds_in_words(result)}")
    up, down = summary["bytes"]["up"], summary["bytes"]["down"]
    yield Card("Sent", format_bytes(up + down), f"{format_bytes(up)} up, {format_bytes(down)} down")
    yield _energy_card(result)
    if (limited := explanation.limited_by) is not None:
        yield Card("Limited by", limited.cause, limited.text)
    if coverage := summary.get("coverage"):
        yield Card("In coverage", f"{coverage['covered']:,} of {coverage['sensors']:,} sensors")
    for worst in explanation.worst_sensors[:1]:
        where = f" in {worst.cell}" if worst.cell is not None else ""
        yield Card("Worst sensor", f"{worst.sensor}{where}", worst.reason)
    if faults := fault_counts(result):
        yield Card("Faults", f"{sum(faults.values()):,}", counted(faults))


def _highest_target(result: RunResult) -> dict[str, Any] | None:
    reached = [target for target in result.summary["targets"] if target["round"] is not None]
    return max(reached, key=lambda target: float(target["accuracy"]), default=None)


def _energy_card(result: RunResult) -> Card:
    summary = result.summary
    if summary["energy_j"] is None:
        return Card("Energy", "not modelled", "; ".join(summary.get("energy_missing") or ()))
    lives, per_day = summary.get("battery_life") or {}, result.scenario.sensors.rounds_per_day
    ways = (("continuous", "round after round"), ("rounds_per_day", f"at {per_day:g} a day"))
    known = [f"{lasting(lives[way]['worst_d'])} {when}" for way, when in ways if lives.get(way)]
    life = f"the battery of the worst sensor lasts {', '.join(known)}" if known else ""
    return Card("Energy", f"{format_joules(summary['energy_j'])}{mark_of(result)}", life)


def _joules(energy_j: float | None, result: RunResult) -> str:
    return "" if energy_j is None else f", {format_joules(energy_j)}{mark_of(result)}"


def overview_of_runs(runs: PageRuns, rows: Sequence[Row]) -> Section:
    """Return who is best in what, among the variants with all sensors in coverage, and who has learnt the same."""
    target = common_target(rows)
    at_target = [row for row in rows if row.target == target]
    comparable = [row for row in at_target if row.is_comparable and row.reached]
    cards = [card for best in _BEST for card in _best_card(comparable, target, *best)]
    blocks: list[Block] = [Cards(tuple(cards))] if cards else []
    return Section(_NAME, _TITLE, (*blocks, Prose(tuple(_sentences(runs, target)))))


_BEST: tuple[tuple[str, str, Callable[[float], str]], ...] = (
    ("Fastest", "simulated_s", format_seconds),
    ("Fewest bytes", "bytes", format_bytes),
    ("Least energy", "energy_j", format_joules),
    ("Most accurate at its end", "accuracy", lambda value: f"{value:.3f}"),
)


def _best_card(
    rows: Sequence[Row], target: str, heading: str, measure: str, formatted: Callable[[float], str]
) -> Iterator[Card]:
    known = [(estimate.mean, row) for row in rows if (estimate := row.measures[measure]) is not None]
    if not known or (measure == "accuracy" and target != END):
        return
    is_most = measure == "accuracy"
    value, best = (max if is_most else min)(known, key=lambda each: each[0])
    equal = [row for other, row in known if max(other, value) <= _ALIKE * min(other, value)]
    mark = f" {EXTRAPOLATED}" if measure == "energy_j" and best.extrapolated else ""
    detail = f"{formatted(value)}{mark}{'' if target == END else f' to accuracy {target}'}"
    detail += f"; limited by {best.limited_by}" if best.limited_by and measure == "simulated_s" else ""
    missing = len(rows) - len(known)
    detail += f"; not modelled: {missing} of {len(rows)}" if missing and measure == "energy_j" else ""
    names = "; ".join(variant_name(row, rows) for row in equal[:_MOST_NAMES])
    more = f" and {len(equal) - _MOST_NAMES} more" if len(equal) > _MOST_NAMES else ""
    yield Card(f"{heading}, all sensors in coverage", f"{names}{more}", detail)


def _sentences(runs: PageRuns, target: str) -> Iterator[str]:
    if not runs.is_trained:
        yield (
            "Timing only: nothing was trained, so there is no accuracy, and strategies are not compared at equal "
            "quality but after their rounds."
        )
    elif target == END:
        yield "No run reached a target accuracy, so they are compared at their ends."
    outside = list(_out_of_coverage(runs))
    if outside:
        yield (
            f"Out of coverage are {'; '.join(outside)}. What these took is of fewer sensors, and they are not compared "
            "above."
        )
    yield from _shared_learning(runs)


def _out_of_coverage(runs: PageRuns) -> Iterator[str]:
    """Yield how many sensors each variant leaves out, over its seeds."""
    for label, results in run_sets(runs.results):
        coverages = [each for result in results if (each := result.summary.get("coverage"))]
        missing = sorted(each["sensors"] - each["covered"] for each in coverages)
        if missing and missing[-1]:
            span = f"{missing[0]} to {missing[-1]}" if missing[0] < missing[-1] else f"{missing[0]}"
            yield f"{span} of {coverages[0]['sensors']:,} sensors with {label}"


def _shared_learning(runs: PageRuns) -> Iterator[str]:
    """Yield a sentence for each set of variants whose runs have the same lineages, seed by seed."""
    alike: dict[tuple[str, ...], list[str]] = {}
    for label, results in run_sets(runs.results):
        alike.setdefault(tuple(str(result.summary["lineage"]) for result in results), []).append(label)
    learnt = "have learnt the very same model" if runs.is_trained else "would learn the very same model"
    for labels in alike.values():
        if len(labels) > 1:
            yield (
                f"These {learnt}, seed by seed (their lineages are equal), so that one training serves all of them: "
                f"{'; '.join(labels)}. Accuracy and loss are the same round by round; only seconds, bytes sent again "
                "and joules can differ."
            )
