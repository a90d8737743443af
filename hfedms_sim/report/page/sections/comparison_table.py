"""The table of several runs or of a campaign, with numbers that can be sorted: a row for each variant and target."""

from collections.abc import Callable, Sequence
from statistics import median

from hfedms_sim.campaign import Row, Trial, TrialResult, comparison
from hfedms_sim.campaign.comparison import END
from hfedms_sim.campaign.curves import curve_of
from hfedms_sim.exhibits import Table, Value
from hfedms_sim.report.energy import EXTRAPOLATED
from hfedms_sim.report.page.runs import PageRuns
from hfedms_sim.report.run_labels import run_sets
from hfedms_sim.report.views.scales import Unit, bytes_unit, energy_unit, time_unit


def rows_of(runs: PageRuns) -> list[Row]:
    """Return the rows of the campaign, or those that these runs would have had as one: seeds are means."""
    if runs.campaign is not None:
        return runs.campaign.rows()
    results: list[TrialResult] = []
    for label, own in run_sets(runs.results):
        for result in own:
            trial = Trial(f"{len(results)}", (("run", label),), result.scenario)
            results.append(TrialResult(trial, result.summary, result.provenance, curve_of(result.arrow("rounds"))))
    return comparison(results)


def comparison_table(rows: Sequence[Row]) -> Table:
    """Return the rows as a table; columns that would be empty and targets that nobody reached are left out."""
    missed = [target for target in dict.fromkeys(row.target for row in rows) if not _is_reached(rows, target)]
    rows = [row for row in rows if row.target not in missed]
    has_targets = any(row.target != END for row in rows)
    variants = list(dict.fromkeys(key for row in rows for key, _ in row.variant))
    columns: dict[str, list[Value]] = {key: [dict(row.variant).get(key) for row in rows] for key in variants}
    columns |= {
        "target accuracy": [row.target if has_targets else None for row in rows],
        "seeds that reached it": [None if row.target == END else f"{row.reached} of {row.seeds}" for row in rows],
        "in coverage": [None if row.coverage is None else _covered(row) for row in rows],
        "accuracy": _means(rows, "accuracy"),
        "rounds": _means(rows, "round"),
        **_estimates(rows, "simulated_s", "time", time_unit),
        **_estimates(rows, "bytes", "sent", bytes_unit),
        **_estimates(
            rows, "energy_j", "energy", energy_unit, f" {EXTRAPOLATED}" * any(row.extrapolated for row in rows)
        ),
        "limited by": [row.limited_by for row in rows],
        "refused because": [row.reason for row in rows],
    }
    told = {heading: own for heading, own in columns.items() if any(value is not None for value in own)}
    entries = tuple(zip(*told.values(), strict=True))
    seeds = max(row.seeds for row in rows)
    notes = [f"Means over {seeds} seeds; ± is the 95 % interval."] if seeds > 1 else []
    notes += (
        ["* not all sensors are in coverage."] if any(not row.is_comparable and not row.reason for row in rows) else []
    )
    notes += [f"Nobody reached {', '.join(missed)}."] if missed else []
    note = " ".join(notes)
    title = "What each took to each target accuracy, and to its end" if has_targets else "What the rounds of each took"
    return Table("comparison", title, tuple(told), entries, note)


def _is_reached(rows: Sequence[Row], target: str) -> bool:
    return target == END or any(row.reached for row in rows if row.target == target)


def _covered(row: Row) -> str:
    assert row.coverage is not None
    mark = "" if row.coverage.is_whole else " *"
    return f"{row.coverage.covered_text} of {row.coverage.sensors}{mark}"


def _means(rows: Sequence[Row], measure: str, divided_by: float = 1.0) -> list[Value]:
    estimates = (row.measures[measure] for row in rows)
    return [None if each is None else each.mean / divided_by for each in estimates]


def _estimates(
    rows: Sequence[Row], measure: str, name: str, unit_of: Callable[[float], Unit], mark: str = ""
) -> dict[str, list[Value]]:
    """Return the columns of a measure in the unit that suits most of its values, and of the interval around it."""
    known = [estimate for row in rows if (estimate := row.measures[measure]) is not None]
    if not known:
        return {}
    unit = unit_of(median(each.mean for each in known))
    widths: list[Value] = [
        None if (own := row.measures[measure]) is None or not own.half_width else own.half_width / unit.size
        for row in rows
    ]
    return {f"{name}, {unit.name}{mark}": _means(rows, measure, unit.size), f"± {name}": widths}
