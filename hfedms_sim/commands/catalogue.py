"""list: what is shipped, for people and as JSON. What it needs is imported when it runs."""

import click

from hfedms_sim.commands.terminal import console, say


@click.command("list")
@click.argument("what", type=click.Choice(["scenarios", "profiles", "strategies", "models", "datasets"]))
@click.option("--json", "as_json", is_flag=True, help="A list of objects, for programs.")
def list_command(what: str, as_json: bool) -> None:
    """List what is shipped."""
    if as_json:
        _print_json(what)
        return
    from hfedms_sim.report import catalogue
    from hfedms_sim.report.models import list_models

    tables = {
        "scenarios": catalogue.list_scenarios,
        "profiles": catalogue.list_profiles,
        "strategies": catalogue.list_strategies,
        "models": list_models,
        "datasets": catalogue.list_datasets,
    }
    console().print(tables[what]())


def _print_json(what: str) -> None:
    import json

    from hfedms_sim.report.entries import ENTRIES

    say(json.dumps(ENTRIES[what](), indent=2))
