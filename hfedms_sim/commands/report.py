"""report: a run, several, or a campaign as one HTML page. What it needs is imported when it runs."""

from pathlib import Path

import click

from hfedms_sim.commands.terminal import say, terminated_like_ctrl_c
from hfedms_sim.errors import InputError


@click.command()
@click.argument("runs", nargs=-1, required=True, type=click.Path(path_type=Path), metavar="RUN...|CAMPAIGN")
@click.option(
    "--out", type=click.Path(path_type=Path), metavar="FILE", help="The page; default report.html in the directory."
)
@click.option("--what-ifs", is_flag=True, help="Also play what would help each run, which takes seconds for each.")
@click.option("--quiet", is_flag=True, help="No progress.")
def report(runs: tuple[Path, ...], out: Path | None, what_ifs: bool, quiet: bool) -> None:
    """Make one HTML page of a finished run, of several to compare, or of a campaign.

    It opens in any browser without a network, and can be sent to somebody.
    """
    from hfedms_sim.report.page.build import write_page
    from hfedms_sim.report.page.runs import open_runs

    if out is None and len(runs) > 1:
        raise InputError("a page of several runs needs --out FILE")
    path = runs[0] / "report.html" if out is None else out
    with terminated_like_ctrl_c():
        write_page(open_runs(runs), path, what_ifs=what_ifs, on_notice=lambda line: None if quiet else _tell(line))
    say(path)


def _tell(line: str) -> None:
    say(line, err=True)
