"""Results as rich tables."""

from collections.abc import Mapping, Sequence
from typing import Any

from rich.table import Table
from rich.text import Text

from hfedms_sim.limits.links import is_airtime_shared
from hfedms_sim.report.energy import energy_rows, extrapolation_note, mark_of
from hfedms_sim.report.run_labels import telling_facts, telling_settings
from hfedms_sim.report.saturation import allowed_airtime, busiest_cell, saturation
from hfedms_sim.result import RunResult
from hfedms_sim.stopping import stopped_of
from hfedms_sim.units import format_bps, format_bytes, format_joules, format_seconds

_OUT_OF_COVERAGE = "out of coverage"  # the kind of fault that is told with the sensors


def closing_table(result: RunResult) -> Table:
    """What a run cost."""
    summary = result.summary
    busiest = busiest_cell(summary["cells"])
    profile = next(cell.profile for cell in result.scenario.cells if cell.name == busiest["name"])
    rates = f"{format_bps(profile.uplink_bps)} up, {format_bps(profile.downlink_bps)} down"
    table = Table(title=f"{summary['scenario']}: {summary['strategy']} over {summary['profile']}", show_header=False)
    table.title_justify = "left"
    table.add_column(style="bold")
    table.add_column()
    table.add_row("rounds", _rounds(result))
    table.add_row("sensors", _sensors(result))
    if faults := _faults(result):
        table.add_row("faults", faults)
    table.add_row("simulated time", f"{format_seconds(summary['simulated_s'])} ({summary['simulated_s']:,.1f} s)")
    table.add_row("bytes up", f"{format_bytes(summary['bytes']['up'])} ({summary['bytes']['up']:,})")
    table.add_row("bytes down", f"{format_bytes(summary['bytes']['down'])} ({summary['bytes']['down']:,})")
    table.add_row("busiest cell", Text(f"{busiest['name']} ({profile.name}: {rates})"))
    table.add_row("saturated", saturation(busiest["directions"], is_shared=is_airtime_shared(profile)))
    if allowed := allowed_airtime(busiest["directions"]):
        table.add_row("allowed airtime", allowed)
    if summary["limited_by"] is not None:
        table.add_row("limited by", Text(summary["limited_by"]["text"]))
    for heading, entry in energy_rows(result):
        table.add_row(heading, entry)
    table.caption, table.caption_justify = extrapolation_note([result]), "left"
    if not _is_timing_only(result):
        table.add_row("accuracy", _accuracy(result))
    if result.provenance.get("rounds_reused"):
        table.add_row("learning", _learning(result))
    table.add_row("wall time", format_seconds(summary["wall_s"]))
    return table


def targets_table(results: Sequence[RunResult]) -> Table:
    """Runtime to accuracy: what each run had spent when it first reached each target."""
    table = Table(title="Until the model was good enough", title_justify="left")
    telling, settings = telling_facts(results), telling_settings(results)
    for heading in (*telling, *(["settings"] if any(settings) else []), "accuracy"):
        table.add_column(heading)
    for heading in ("round", "simulated time", "bytes", "energy"):
        table.add_column(heading, justify="right")
    for result, own in zip(results, settings, strict=True):
        who = [Text(str(result.summary[fact])) for fact in telling] + ([Text(own)] if any(settings) else [])
        for target in result.summary["targets"]:
            table.add_row(*who, f"{target['accuracy']:g}", *_spent(target, result))
    table.caption, table.caption_justify = extrapolation_note(results), "left"
    return table


def _spent(target: Mapping[str, Any], result: RunResult) -> tuple[str, ...]:
    if target["round"] is None:
        return (f"not reached in {_count(result.summary['rounds'], 'round')}", "", "", "")
    energy = "not modelled" if target["energy_j"] is None else f"{format_joules(target['energy_j'])}{mark_of(result)}"
    return str(target["round"]), format_seconds(target["simulated_s"]), format_bytes(target["bytes"]), energy


def _rounds(result: RunResult) -> str:
    """Return how many rounds were played, what there is to say of them, and why there are not more."""
    stopped, void = stopped_of(result.summary), _fault_counts(result).get("void", 0)
    played = f"{result.summary['rounds']:,}"
    if stopped is not None:
        played += f" of {result.scenario.rounds:,}"
    notes = [f"{void:,} void"] if void else []
    if _is_timing_only(result):
        notes.append("timing only: nothing was trained")
    if notes:
        played += f" ({'; '.join(notes)})"
    return played if stopped is None else f"{played}: {stopped}"


def _faults(result: RunResult) -> str:
    """Return how often what went wrong, the most frequent first; nothing if all went well."""
    counts = {kind: count for kind, count in _fault_counts(result).items() if kind != _OUT_OF_COVERAGE}
    by_count = sorted(counts.items(), key=lambda item: (-item[1], item[0]))
    return ", ".join(f"{count:,} {kind}" for kind, count in by_count)


def _fault_counts(result: RunResult) -> Mapping[str, int]:
    counts: Mapping[str, int] = result.summary.get("faults", {})  # older runs have none
    return counts


def _is_timing_only(result: RunResult) -> bool:
    return bool(result.provenance.get("timing_only", True))  # older runs never trained


def _learning(result: RunResult) -> str:
    trained, reused = (_count(result.provenance[f"rounds_{what}"], "round") for what in ("trained", "reused"))
    return f"{trained} trained, {reused} found finished"


def _accuracy(result: RunResult) -> str:
    final, best = result.summary["final_accuracy"], result.summary["best_accuracy"]
    if final is None:
        return "not measured: no round was evaluated, or the data set has no test samples"
    return f"{final:.3f} at the end, {best:.3f} at best"


def _sensors(result: RunResult) -> str:
    where = f"{result.scenario.sensors.count:,} in {_count(len(result.scenario.cells), 'cell')}"
    empty = sum(not cell["sensors"] for cell in result.summary["cells"])
    where += f" ({empty:,} without sensors)" if empty else ""
    outside = int((result.faults["kind"] == _OUT_OF_COVERAGE).sum())
    return f"{where}, {outside:,} of them out of coverage" if outside else where


def _count(number: int, thing: str) -> str:
    return f"{number:,} {thing}{'' if number == 1 else 's'}"
