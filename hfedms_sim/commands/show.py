"""show: one thing in full. What ships by its name, files by their path, and the closing tables of finished runs again.

What it needs is imported when it runs.
"""

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Literal

import click

from hfedms_sim.commands import completion
from hfedms_sim.commands.closing_tables import has_targets, print_campaign, print_run
from hfedms_sim.commands.terminal import console, say, terminated_like_ctrl_c
from hfedms_sim.errors import InputError

if TYPE_CHECKING:
    from rich.console import RenderableType
    from rich.table import Table as RichTable

    from hfedms_sim.exhibits import Table
    from hfedms_sim.result import RunResult

_RUN_TABLES = ("closing", "targets", "classes", "confusion", "sensors", "rounds")
_CAMPAIGN_TABLES = ("comparison", "trials")


@click.command()
@click.argument("name", shell_complete=completion.anything)
@click.option(
    "--table",
    "table_name",
    type=click.Choice([*_RUN_TABLES, *_CAMPAIGN_TABLES]),
    metavar="TABLE",
    help=f"One table of a run ({', '.join(_RUN_TABLES)}) or of a campaign ({', '.join(_CAMPAIGN_TABLES)}).",
)
@click.option(
    "--format",
    "table_format",
    type=click.Choice(["text", "markdown", "latex", "csv"]),
    default="text",
    show_default=True,
    help="How to print tables.",
)
@click.option("--map", "map_path", type=click.Path(path_type=Path), metavar="FILE", help="Draw a scenario's hall.")
def show(name: str, table_name: str | None, table_format: str, map_path: Path | None) -> None:
    """Show a scenario, network profile, strategy, neural network or data set in full, or a run's closing tables.

    The directory of a finished run, or of a campaign, prints what 'run' or 'compare' ended with.
    """
    if map_path is not None:
        _draw_map(name, map_path)
    elif (kind := _kind_of_directory(name)) == "campaign":
        _show_campaign(Path(name), table_name, table_format)
    elif kind == "run":
        _show_run(Path(name), table_name, table_format)
    elif table_name is not None or table_format != "text":
        raise InputError(f"{name}: --table and --format are for the directories of runs and campaigns")
    else:
        _show_part(name)


def _kind_of_directory(name: str) -> Literal["run", "campaign"] | None:
    """Return what a directory of that name holds; None if it holds neither, or if a part has the name."""
    from hfedms_sim.report.catalogue import known_names

    if name in known_names():
        return None
    from hfedms_sim.campaign import is_campaign
    from hfedms_sim.result import is_run

    return "campaign" if is_campaign(Path(name)) else "run" if is_run(Path(name)) else None


def _draw_map(name: str, path: Path) -> None:
    from hfedms_sim.loading import load_scenario
    from hfedms_sim.report.figures import draw
    from hfedms_sim.report.views.coverage import map_figure

    with terminated_like_ctrl_c():
        draw(map_figure(load_scenario(name)), path)
    say(path)


def _show_part(name: str) -> None:
    from hfedms_sim.report.catalogue import show_anything

    shown = show_anything(name)
    if isinstance(shown, str):
        say(shown)  # YAML stays YAML: no wrapping
    else:
        console().print(shown)


def _show_run(directory: Path, table_name: str | None, table_format: str) -> None:
    from hfedms_sim.simulation import open_run

    _require_among(_RUN_TABLES, table_name, directory, "run")
    result = open_run(directory)
    if table_name is None and table_format == "text":
        print_run(result)
        return
    names = [table_name] if table_name else ["closing", *(["targets"] if has_targets(result) else [])]
    _print([_run_table(result, name, table_format) for name in names], table_format)


def _run_table(result: "RunResult", name: str, table_format: str) -> "Table | RenderableType":
    from hfedms_sim.report import run_tables, tables

    is_text, is_csv = table_format == "text", table_format == "csv"
    if name == "closing":
        return tables.closing_table(result) if is_text else tables.closing_facts(result)
    if name == "targets":
        if not has_targets(result):
            raise InputError(f"{result.directory}: has no targets, or was not trained")
        if is_text:
            return tables.targets_table([result])
        return tables.targets_in_figures(result) if is_csv else tables.targets_in_words([result])
    if name == "classes":
        return run_tables.classes_table(result)
    if name == "confusion":
        matrix = run_tables.confusion_table(result)
        has_room = not is_text or len(matrix.rows) <= run_tables.MOST_MATRIX_CLASSES
        return matrix if has_room else run_tables.confused_pairs_table(result)
    if name == "sensors":
        return run_tables.sensors_in_figures(result) if is_csv else run_tables.sensors_table(result)
    return run_tables.rounds_in_figures(result) if is_csv else run_tables.rounds_table(result)


def _show_campaign(directory: Path, table_name: str | None, table_format: str) -> None:
    from hfedms_sim.campaign import comparison
    from hfedms_sim.campaign.csv_tables import comparison_csv, trials_csv
    from hfedms_sim.campaign.finished import finished_trials, scenario_name
    from hfedms_sim.report.comparison import comparison_in_words, trials_in_words

    _require_among(_CAMPAIGN_TABLES, table_name, directory, "campaign")
    results, refusals = finished_trials(directory)
    name = scenario_name(directory)
    if table_name in (None, "comparison") and table_format == "text":
        timing_only = all(result.provenance["timing_only"] for result in results)
        print_campaign(results, refusals, name, directory, timing_only=timing_only)
    elif table_format == "csv":
        text = trials_csv(results, refusals) if table_name == "trials" else comparison_csv(results, refusals)
        say(text, nl=False)
    elif table_name == "trials":
        _print([trials_in_words(results, refusals)], table_format)
    else:
        _print([comparison_in_words(comparison(results, refusals), name)], table_format)


def _print(tables: "Sequence[Table | RenderableType]", table_format: str) -> None:
    from hfedms_sim.exhibits import Table
    from hfedms_sim.report.exhibits import table_csv, table_latex, table_markdown, table_text

    if table_format == "csv" and len(tables) > 1:
        raise InputError(f"--format csv: is one table; choose it with --table ({', '.join(_RUN_TABLES)})")
    written = {"markdown": table_markdown, "latex": table_latex, "csv": table_csv}
    for number, table in enumerate(tables):
        if number and table_format != "text":
            say()
        if not isinstance(table, Table):
            console().print(table)
        elif table_format == "text":
            console().print(_folded(table_text(table)))
        else:
            say(written[table_format](table), nl=False)


def _folded(table: "RichTable") -> "RichTable":
    """Let cells that are too long go on in the next line: nothing is cut."""
    for column in table.columns:
        column.overflow = "fold"
    return table


def _require_among(names: tuple[str, ...], name: str | None, directory: Path, what: str) -> None:
    if name is not None and name not in names:
        raise InputError(f"--table {name}: {directory} is a {what}, whose tables are {', '.join(names)}")
