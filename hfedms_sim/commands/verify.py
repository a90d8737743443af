"""verify: whether finished runs and campaigns hold what they held. What it needs is imported when it runs."""

import sys
from pathlib import Path

import click

from hfedms_sim.commands.terminal import console, say, terminated_like_ctrl_c
from hfedms_sim.errors import RunError


@click.command()
@click.argument("directories", nargs=-1, required=True, type=click.Path(path_type=Path), metavar="RUN|CAMPAIGN...")
@click.option("--no-replay", is_flag=True, help="Play nothing: only read what is there.")
def verify(directories: tuple[Path, ...], no_replay: bool) -> None:
    """Verify that finished runs and campaigns hold what they held when they were written.

    The exit code is 1 if one does not. Files are compared with their checksums, tables with the summary and with what
    was learnt. Then the clock is played again without training, and everything that does not depend on training is
    compared.
    """
    from hfedms_sim.integrity import verify as verified
    from hfedms_sim.integrity.verifying import require_place
    from hfedms_sim.report.progress.verification import verification_progress

    for directory in directories:
        require_place(directory)
    problems = 0
    for directory in directories:
        with terminated_like_ctrl_c(), verification_progress(console(stderr=True)) as on_progress:
            found = verified(directory, replay=not no_replay, on_progress=on_progress)
        for check in found.checks:
            say(" ".join(str(check).split()))
        problems += len(found.problems)
    say(f"{problems} problem{'s' if problems > 1 else ''}" if problems else "ok")
    if problems:
        sys.exit(RunError.exit_code)
