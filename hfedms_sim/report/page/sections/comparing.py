"""Several runs beside each other: the table, who dominates whom, and of two runs what differs and why one is faster."""

from collections.abc import Iterator, Sequence
from typing import Any

from hfedms_sim.campaign import Row
from hfedms_sim.errors import InputError
from hfedms_sim.exhibits import Table, Value
from hfedms_sim.report.page.blocks import Block, Prose, Section, SortableTable, Switch
from hfedms_sim.report.page.runs import PageRuns
from hfedms_sim.report.page.sections.comparison_table import comparison_table
from hfedms_sim.report.page.sections.side_tables import radio_table, sample_table
from hfedms_sim.report.page.sections.why import why_faster, why_slower
from hfedms_sim.report.run_labels import run_sets
from hfedms_sim.report.views.causes import causes_figure, seconds_by_cause
from hfedms_sim.report.views.pareto import Cost, pareto_figure
from hfedms_sim.result import RunResult, differences

_MOST_DIFFERENCES = 60
_TOLD_OTHERWISE = ("name", "description")
_MOST_BARS = 40
_MANY_TIMES = 20


def comparison_section(runs: PageRuns, rows: Sequence[Row]) -> Section:
    """Return the comparison: a row for each variant and target, what stands out, and of two runs why."""
    blocks: list[Block] = [SortableTable(comparison_table(rows))]
    blocks += [SortableTable(table) for table in (radio_table(runs), sample_table(runs)) if table is not None]
    why = list(why_slower(rows)) if len(runs.results) > 2 else []
    blocks += [Prose(tuple(why))] if why else []
    blocks += [*_against_cost(runs), *_causes(runs)]
    if len(runs.results) == 2:
        blocks += _two(runs)
    return Section("comparison", "Comparison", tuple(blocks))


def _against_cost(runs: PageRuns) -> Iterator[Block]:
    """Yield time against joules and against bytes, as far as these are known of runs that got to a common target."""
    costs: tuple[tuple[str, Cost], ...] = (("energy", "energy"), ("bytes", "bytes"))
    options = []
    for name, cost in costs:
        try:
            options.append((name, pareto_figure(runs.results, against=cost, is_log=_spans_decades(runs))))
        except InputError:  # no joules are modelled, or nobody reached a target
            continue
    if options:
        yield Switch("time against", tuple(options))


def _spans_decades(runs: PageRuns) -> bool:
    """Return whether some runs take so much longer than others that only a logarithm shows both."""
    times_s = [float(result.summary["simulated_s"]) for result in runs.results]
    return 0 < _MANY_TIMES * min(times_s) < max(times_s)


def _causes(runs: PageRuns) -> Iterator[Block]:
    sets = run_sets(runs.results)[:_MOST_BARS]
    try:
        options = (("in seconds", causes_figure(sets)), ("in shares", causes_figure(sets, in_shares=True)))
    except InputError:  # an earlier version made them
        return
    yield Switch("a round's time", options)


def _two(runs: PageRuns) -> Iterator[Block]:
    one, other = runs.results
    why = list(why_faster(one, other, runs.labels[0], runs.labels[1]))
    if why:
        yield Prose(tuple(why))
    yield SortableTable(_cause_table(one, other, runs.labels))
    yield SortableTable(_differing_settings(one, other, runs.labels))


def _cause_table(one: RunResult, other: RunResult, labels: Sequence[str]) -> Table:
    mine, theirs = seconds_by_cause(one), seconds_by_cause(other)
    rows = tuple(
        (cause, mine.get(cause, 0.0), theirs.get(cause, 0.0), theirs.get(cause, 0.0) - mine.get(cause, 0.0))
        for cause in {**mine, **theirs}
    )
    header = ("cause", labels[0], labels[1], "difference")
    return Table("causes", "Seconds of the mean round's critical path", header, rows)


def _differing_settings(one: RunResult, other: RunResult, labels: Sequence[str]) -> Table:
    was, now = one.scenario.model_dump(mode="json"), other.scenario.model_dump(mode="json")
    found = [each for each in differences(was, now) if each[0] not in _TOLD_OTHERWISE]
    rows: tuple[tuple[Value, ...], ...] = tuple((key, _shown(was), _shown(now)) for key, was, now in found)
    note = f"{len(found) - _MOST_DIFFERENCES} more are not listed." if len(found) > _MOST_DIFFERENCES else ""
    return Table("differences", "Settings that differ", ("key", *labels), rows[:_MOST_DIFFERENCES], note)


def _shown(value: Any) -> str:
    text = "not set" if value is None else str(value)
    return text if len(text) <= 200 else f"{text[:199]}…"
