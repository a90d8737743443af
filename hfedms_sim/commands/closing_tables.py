"""The closing tables of runs and campaigns, as `run` and `compare` end with them and `show` prints them again."""

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from hfedms_sim.commands.terminal import console, say

if TYPE_CHECKING:
    from hfedms_sim.campaign import Refusal, TrialResult
    from hfedms_sim.result import RunResult


def print_run(result: "RunResult") -> None:
    """Print what a run cost, what each target took, and where its files are."""
    from hfedms_sim.report.tables import closing_table, targets_table

    console().print(closing_table(result))
    if has_targets(result):
        console().print(targets_table([result]))
    say(f"Tables and summary: {result.directory}")


def has_targets(result: "RunResult") -> bool:
    """Return whether there is anything to say of targets: the run was trained, and has some."""
    from hfedms_sim.report.run_labels import is_timing_only

    return not is_timing_only(result) and bool(result.scenario.targets)


def print_campaign(
    results: "Sequence[TrialResult]", refusals: "Sequence[Refusal]", name: str, directory: Path, *, timing_only: bool
) -> None:
    """Print the comparison of a campaign's trials, what its signs mean, what was trained, and where its files are."""
    from hfedms_sim.campaign import comparison
    from hfedms_sim.report.comparison import WIDEST_COLUMNS, comparison_notes, comparison_table

    rows = comparison(results, refusals)
    if not rows:
        return
    screen = console()
    screen.print(comparison_table(rows, name), width=min(screen.width, WIDEST_COLUMNS), crop=False)
    for line in comparison_notes(rows):
        say(line)
    if not timing_only:
        trained, reused = (
            sum(each.provenance.get(f"rounds_{what}", 0) for each in results) for what in ("trained", "reused")
        )
        say(f"{trained:,} rounds trained, {reused:,} reused")
    say(f"Tables and trials: {directory}")
