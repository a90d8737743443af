"""The closing tables of a run: what it cost, and what each target accuracy took.

Each is plain data first (`closing_facts`, `targets_in_words`), of which Markdown, LaTeX and CSV are made; the look that
it has on a terminal is added by `closing_table` and `targets_table`. Whatever a scenario's file says is shown as text.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

from rich.table import Table
from rich.text import Text

from hfedms_sim import exhibits
from hfedms_sim.limits.links import is_airtime_shared
from hfedms_sim.report.captions import add_rows, captioned
from hfedms_sim.report.energy import energy_rows, extrapolation_note, mark_of
from hfedms_sim.report.run_labels import distinguishing_keys, is_timing_only, telling_settings
from hfedms_sim.report.saturation import allowed_airtime, busiest_cell, saturation
from hfedms_sim.result import RunResult
from hfedms_sim.stopping import stopped_of
from hfedms_sim.trace import thinning_of
from hfedms_sim.units import format_bps, format_bytes, format_joules, format_seconds

_OUT_OF_COVERAGE = "out of coverage"  # the kind of fault that is told with the sensors
_SPENT = ("round", "simulated time", "bytes", "energy")


def closing_table(result: RunResult) -> Table:
    """Return what a run cost, for a terminal."""
    facts = _closing(result)
    table = captioned(Table(show_header=False), facts)
    table.add_column(style="bold")
    table.add_column()
    return add_rows(table, facts)


def closing_facts(result: RunResult) -> exhibits.Table:
    """Return what a run cost, a fact a row, each on one line."""
    facts = _closing(result)
    rows = tuple((fact, str(value).replace("\n", "; ")) for fact, value in facts.rows)
    return replace(facts, rows=rows)


def _closing(result: RunResult) -> exhibits.Table:
    summary = result.summary
    title = f"{summary['scenario']}: {summary['strategy']} over {summary['profile']}"
    rows = tuple(_closing_rows(result))
    return exhibits.Table("closing", title, ("fact", "value"), rows, extrapolation_note([result]) or "")


def targets_table(results: Sequence[RunResult]) -> Table:
    """Return runtime to accuracy for a terminal: what each run had spent when it first reached each target."""
    words = targets_in_words(results)
    table = captioned(Table(), words)
    for heading in words.header:
        table.add_column(Text(heading), justify="right" if heading in _SPENT else "left")
    return add_rows(table, words)


def targets_in_words(results: Sequence[RunResult]) -> exhibits.Table:
    """Return what each run had spent when it first reached each target, as people read it."""
    telling, settings = distinguishing_keys(results), telling_settings(results)
    header = (*telling, *(["settings"] if any(settings) else []), "accuracy", *_SPENT)
    rows = []
    for result, own in zip(results, settings, strict=True):
        who = [str(result.summary[fact]) for fact in telling] + ([own] if any(settings) else [])
        rows += [(*who, f"{target['accuracy']:g}", *_spent(target, result)) for target in result.summary["targets"]]
    note = extrapolation_note(results) or ""
    return exhibits.Table("targets", "Until the model was good enough", header, tuple(rows), note)


def targets_in_figures(result: RunResult) -> exhibits.Table:
    """Return the same of one run for programs: every digit, and nothing where a target was not reached."""
    columns = ("accuracy", "round", "simulated_s", "bytes", "energy_j")
    rows = tuple(tuple(target[column] for column in columns) for target in result.summary["targets"])
    return exhibits.Table("targets", "Until the model was good enough", columns, rows)


def _closing_rows(result: RunResult) -> Iterator[tuple[str, str]]:
    summary = result.summary
    yield "rounds", rounds_in_words(result)
    yield "sensors", _sensors(result)
    if not (thinning := thinning_of(result.scenario)).is_whole:
        yield "trace", f"transfers, work and captures {thinning}"
    if faults := fault_counts(result):
        yield "faults", counted(faults)
    yield "simulated time", f"{format_seconds(summary['simulated_s'])} ({summary['simulated_s']:,.1f} s)"
    for way in ("up", "down"):
        yield f"bytes {way}", f"{format_bytes(summary['bytes'][way])} ({summary['bytes'][way]:,})"
    yield from _limit_rows(result)
    yield from energy_rows(result)
    if not is_timing_only(result):
        yield "accuracy", _accuracy(result)
    if result.provenance.get("rounds_reused"):
        yield "learning", _learning(result)
    if "wall_s" in summary:
        yield "wall time", format_seconds(summary["wall_s"])


def _limit_rows(result: RunResult) -> Iterator[tuple[str, str]]:
    """Yield how busy the busiest cell was and what limited the run; summaries of earlier versions may not know it."""
    cells = [cell for cell in result.summary.get("cells", ()) if "directions" in cell]
    if cells:
        busiest = busiest_cell(cells)
        profile = {cell.name: cell.profile for cell in result.scenario.cells}[busiest["name"]]
        rates = f"{format_bps(profile.uplink_bps)} up, {format_bps(profile.downlink_bps)} down"
        yield "busiest cell", f"{busiest['name']} ({profile.name}: {rates})"
        yield "saturated", saturation(busiest["directions"], is_shared=is_airtime_shared(profile))
        if allowed := allowed_airtime(busiest["directions"]):
            yield "allowed airtime", allowed
    if limited := result.summary.get("limited_by"):
        yield "limited by", limited["text"]


def _spent(target: Mapping[str, Any], result: RunResult) -> tuple[str, ...]:
    if target["round"] is None:
        return (f"not reached in {_count(result.summary['rounds'], 'round')}", "", "", "")
    energy = "not modelled" if target["energy_j"] is None else f"{format_joules(target['energy_j'])}{mark_of(result)}"
    return str(target["round"]), format_seconds(target["simulated_s"]), format_bytes(target["bytes"]), energy


def rounds_in_words(result: RunResult) -> str:
    """Return how many rounds were played, what there is to say of them, and why there are not more."""
    stopped, void = stopped_of(result.summary), fault_counts(result).get("void", 0)
    played = f"{result.summary['rounds']:,}"
    if stopped is not None:
        played += f" of {result.scenario.rounds:,}"
    notes = [f"{void:,} void"] if void else []
    if is_timing_only(result):
        notes.append("timing only: nothing was trained")
    if notes:
        played += f" ({'; '.join(notes)})"
    return played if stopped is None else f"{played}: {stopped}"


def fault_counts(result: RunResult) -> dict[str, int]:
    """Return how often what went wrong, the most frequent first, but for sensors out of coverage."""
    counts: Mapping[str, int] = result.summary.get("faults", {})  # older runs have none
    ranked = sorted(counts.items(), key=lambda item: (-item[1], item[0]))
    return {kind: count for kind, count in ranked if kind != _OUT_OF_COVERAGE}


def counted(counts: Mapping[str, int]) -> str:
    """Return such as `12 skip, 3 retry`."""
    return ", ".join(f"{count:,} {kind}" for kind, count in counts.items())


def _learning(result: RunResult) -> str:
    trained, reused = (_count(result.provenance.get(f"rounds_{what}", 0), "round") for what in ("trained", "reused"))
    return f"{trained} trained, {reused} found finished"


def _accuracy(result: RunResult) -> str:
    final, best = result.summary["final_accuracy"], result.summary["best_accuracy"]
    if final is None:
        return "not measured: no round was evaluated, or the data set has no test samples"
    return f"{final:.3f} at the end, {best:.3f} at best"


def _sensors(result: RunResult) -> str:
    where = f"{result.scenario.sensors.count:,} in {_count(len(result.scenario.cells), 'cell')}"
    empty = sum(not cell["sensors"] for cell in result.summary.get("cells", ()))
    where += f" ({empty:,} without sensors)" if empty else ""
    outside = int((result.faults["kind"] == _OUT_OF_COVERAGE).sum())
    return f"{where}, {outside:,} of them out of coverage" if outside else where


def _count(number: int, thing: str) -> str:
    return f"{number:,} {thing}{'' if number == 1 else 's'}"
