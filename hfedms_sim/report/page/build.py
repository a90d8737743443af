"""The page of runs: which sections it has, and how much of each run there is room for."""

from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path

from hfedms_sim.errors import unwritable
from hfedms_sim.explanation import Explanation, explain
from hfedms_sim.report.page.blocks import Page, Prose, RunPart, Section
from hfedms_sim.report.page.html import page_html
from hfedms_sim.report.page.runs import PageRuns
from hfedms_sim.report.page.sections.air import air_section, round_section
from hfedms_sim.report.page.sections.comparing import comparison_section
from hfedms_sim.report.page.sections.comparison_table import rows_of
from hfedms_sim.report.page.sections.costs import cost_sections
from hfedms_sim.report.page.sections.hall import hall_section
from hfedms_sim.report.page.sections.learning import learning_section
from hfedms_sim.report.page.sections.overview import overview_of_run, overview_of_runs
from hfedms_sim.report.page.sections.record import not_modelled, record
from hfedms_sim.report.page.sections.time import time_section
from hfedms_sim.report.page.sections.words import words
from hfedms_sim.report.run_labels import scenarios_of
from hfedms_sim.result import RunResult
from hfedms_sim.system.files import write_atomically

MOST_RUNS = 30
"""How many runs have sections of their own; the tables and curves have all."""
_ROUNDS_OF_PAGE = 60
_LEAST_ROUNDS = 4

_MANY = {"profile": "radios", "strategy": "strategies", "seed": "seeds"}

OnNotice = Callable[[str], None]


def write_page(runs: PageRuns, path: Path, *, what_ifs: bool = False, on_notice: OnNotice = lambda line: None) -> None:
    """Write the page of these runs, whole or not at all; a file that is there is replaced."""
    text = page_html(page_of(runs, what_ifs=what_ifs, on_notice=on_notice))
    try:
        write_atomically(path, text)
    except OSError as error:
        raise unwritable(path, error) from None


def page_of(runs: PageRuns, *, what_ifs: bool = False, on_notice: OnNotice = lambda line: None) -> Page:
    """Return the page: what the runs are together, then each by itself."""
    shown = runs.results[:MOST_RUNS]
    most_rounds = max(_LEAST_ROUNDS, _ROUNDS_OF_PAGE // len(shown))
    parts = []
    for number, (label, result) in enumerate(zip(runs.labels, shown, strict=False)):
        on_notice(f"{number + 1} of {len(shown)}: {label}")
        parts.append(_run_part(label, result, explain(result, what_ifs=what_ifs, on_notice=on_notice), most_rounds))
    learning = learning_section(runs)
    if len(runs.results) == 1:
        (own,) = parts
        first, *others = own.sections
        parts = [replace(own, sections=tuple(others))]
        together = _there([first, learning])
    else:
        rows = rows_of(runs)
        together = _there([overview_of_runs(runs, rows), comparison_section(runs, rows), learning])
    closing = (not_modelled(runs), words(), *([_left_out(runs)] if len(runs.results) > MOST_RUNS else []))
    return Page(scenarios_of(runs.results), _subtitle(runs), together, tuple(parts), closing)


def _run_part(label: str, result: RunResult, explanation: Explanation, most_rounds: int) -> RunPart:
    sections = (
        overview_of_run(result, explanation),
        time_section(explanation),
        air_section(result),
        round_section(result, most_rounds),
        hall_section(result),
        *cost_sections(result),
        record(result),
    )
    return RunPart(label, _there(sections))


def _there(sections: Sequence[Section | None]) -> tuple[Section, ...]:
    return tuple(section for section in sections if section is not None)


def _left_out(runs: PageRuns) -> Section:
    told = (
        f"The first {MOST_RUNS} of {len(runs.results):,} runs have sections of their own; tables and curves have all."
    )
    return Section("left-out", "What this page leaves out", (Prose((told,)),))


def _subtitle(runs: PageRuns) -> str:
    first = runs.results[0]
    if len(runs.results) > 1:
        counts = {
            what: len({str(result.summary[what]) for result in runs.results})
            for what in ("profile", "strategy", "seed")
        }
        told = [f"{count} {_MANY[what]}" for what, count in counts.items() if count > 1]
        return f"{len(runs.results)} runs{': ' if told else ''}{', '.join(told)}"
    who = f"{first.summary['strategy']} over {first.summary['profile']}, seed {first.summary['seed']}"
    return f"{who}. {first.scenario.description}".strip()
