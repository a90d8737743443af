"""explain: what limited a run, and what would help. What it needs is imported when it runs."""

import json
from pathlib import Path

import click

from hfedms_sim.commands.terminal import console, say


@click.command()
@click.argument("run", type=click.Path(path_type=Path))
@click.option("--no-what-ifs", is_flag=True, help="Play nothing: leave out what would help.")
@click.option("--json", "as_json", is_flag=True, help="Print the same as JSON, with every figure in full.")
def explain(run: Path, no_what_ifs: bool, as_json: bool) -> None:
    """Explain what limited the finished run in directory RUN, and what would help.

    Three what-ifs are played without training, which takes some seconds: more room in the limiting cell, the fastest
    shipped radio that covers all sensors, and shorter chains or int8.
    """
    from hfedms_sim.explanation import explain as explained
    from hfedms_sim.report.explanation import explanation_screen

    found = explained(run, what_ifs=not no_what_ifs, on_notice=lambda line: say(line, err=True))
    if as_json:
        say(json.dumps(found.as_dict(), indent=2, allow_nan=False))
        return
    terminal = console()
    terminal.print(explanation_screen(found), width=min(terminal.width, 100))
