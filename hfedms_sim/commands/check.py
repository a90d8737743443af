"""check and schema: what a file may hold."""

import sys

import click

from hfedms_sim.commands.terminal import option_of, say, say_error
from hfedms_sim.errors import InputError


@click.command()
@click.argument("files", nargs=-1, required=True, metavar="FILE...")
def check(files: tuple[str, ...]) -> None:
    """Check scenario or profile files; exit code 2 if any has a problem.

    A scenario is checked by playing its first round without training: what is ok here, 'run' starts. What a run of it
    will take is estimated.
    """
    from hfedms_sim.simulation.preflight import checked_file

    found = {file: checked_file(file) for file in files}
    for file, (problems, estimate) in found.items():
        for line in problems:
            say_error(line.said(option_of))
        if not problems:
            say(f"{file}: ok")
        if estimate is not None:
            say(f"{file}: a run takes {estimate}", err=True)
    if any(each.problems for each in found.values()):
        sys.exit(InputError.exit_code)


@click.command()
def schema() -> None:
    """Print the JSON Schema of scenario files, for editors."""
    import json

    from hfedms_sim.loading import CHOICES
    from hfedms_sim.scenario import scenario_schema

    say(json.dumps(scenario_schema(CHOICES), indent=2))
