"""validate: outside numbers beside ours. What it needs is imported when it runs."""

from pathlib import Path

import click

from hfedms_sim.commands.terminal import console, say
from hfedms_sim.errors import unwritable

_COLUMNS = 100


@click.command()
@click.argument("ids", nargs=-1, metavar="[ID]...")
@click.option(
    "--csv", "csv_path", type=click.Path(path_type=Path), metavar="FILE", help="Also write every column, as CSV."
)
def validate(ids: tuple[str, ...], csv_path: Path | None) -> None:
    """Compare with numbers that others measured or published: theirs, ours, ratio, verdict.

    Each row plays a small scenario of its own, on a shipped network profile. ID: only these rows. The exit code is 0
    whatever the verdicts are; docs/validation.md says what they mean and where the numbers come from.
    """
    from hfedms_sim.report.exhibits import table_csv, table_text
    from hfedms_sim.system.files import write_atomically
    from hfedms_sim.validation.judging import judge_all
    from hfedms_sim.validation.tables import closing_lines, full_table, shown_tables

    judged = judge_all(ids)
    for table in shown_tables(judged):
        console().print(table_text(table), width=_COLUMNS)
    for line in closing_lines(judged):
        say(line)
    if csv_path is not None:
        try:
            write_atomically(csv_path, table_csv(full_table(judged)))
        except OSError as error:
            raise unwritable(csv_path, error) from None
