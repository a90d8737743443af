"""What a run was, and what no figure of it has: scenario, provenance, and what is not modelled."""

import json

from hfedms_sim.exhibits import Table
from hfedms_sim.report.energy import extrapolation_note, missing_line, missing_reasons
from hfedms_sim.report.not_modelled import OMISSIONS
from hfedms_sim.report.page.blocks import Block, Listing, Prose, Section, SortableTable
from hfedms_sim.report.page.runs import PageRuns
from hfedms_sim.result import RunResult
from hfedms_sim.scenario import scenario_yaml
from hfedms_sim.trace import thinning_of


def not_modelled(runs: PageRuns) -> Section:
    """Return what is left out of all figures, and which figures behind them are uncertain."""
    rows = tuple((each.what, each.would_change) for each in OMISSIONS)
    table = Table("not-modelled", "Left out of every figure on this page", ("left out", "what it would change"), rows)
    told = (missing_line(missing_reasons(runs.results)), extrapolation_note(runs.results), _thinning_note(runs))
    notes = [note for note in told if note is not None]
    prose: tuple[Block, ...] = (Prose(tuple(notes)),) if notes else ()
    return Section("not-modelled", "What is not modelled", (SortableTable(table), *prose))


def _thinning_note(runs: PageRuns) -> str | None:
    """Return the line that says which rounds have no rows in the trace; None if all have."""
    kinds = dict.fromkeys(str(each) for result in runs.results if not (each := thinning_of(result.scenario)).is_whole)
    return f"transfers, work and captures are {'; or '.join(kinds)}" if kinds else None


def record(result: RunResult) -> Section:
    """Return scenario and provenance as their files have them; the command line is left out, it may hold paths."""
    provenance = {key: value for key, value in result.provenance.items() if key != "command"}
    return Section(
        "record",
        "Scenario and provenance",
        (
            Listing("scenario.yaml, everything that decided this run", scenario_yaml(result.scenario)),
            Listing("provenance.json, with what and when it was made", json.dumps(provenance, indent=2)),
        ),
    )
