"""trace: a run's tables in another format."""

from pathlib import Path
from typing import Any

import click

from hfedms_sim.commands.terminal import say


@click.command()
@click.argument("run", type=click.Path(path_type=Path))
@click.option(
    "--format",
    "trace_format",
    type=click.Choice(["csv", "parquet", "perfetto"]),
    required=True,
    help="csv and parquet: a directory of tables; perfetto: a file for ui.perfetto.dev.",
)
@click.option("--out", type=click.Path(path_type=Path), metavar="PATH", help="Where to; default inside RUN.")
def trace(run: Path, trace_format: Any, out: Path | None) -> None:
    """Export the timing trace of the finished run in directory RUN."""
    from hfedms_sim.simulation import open_run
    from hfedms_sim.trace import export_trace

    open_run(run)
    say(export_trace(run, trace_format, out))
