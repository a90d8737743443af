"""What stands beside a comparison: the radios in words, and how many samples were lost while models were on the air."""

from hfedms_sim.exhibits import Table
from hfedms_sim.report.page.runs import PageRuns
from hfedms_sim.report.run_labels import run_sets
from hfedms_sim.trace import thinning_of


def radio_table(runs: PageRuns) -> Table | None:
    """Return what each network profile says of itself; None where all runs have the same one."""
    profiles = {cell.profile.name: cell.profile for result in runs.results for cell in result.scenario.cells}
    rows = tuple((name, profile.description) for name, profile in profiles.items())
    return Table("radios", "The radios", ("profile", "what it is"), rows) if len(rows) > 1 else None


def sample_table(runs: PageRuns) -> Table | None:
    """Return how many samples were captured and how many overflowed, by variant; None if none was lost.

    None too where a trace lacks rounds, because it lacks their captures.
    """
    if any(not thinning_of(result.scenario).is_whole for result in runs.results):
        return None
    rows: list[tuple[str, float, float]] = []
    for label, results in run_sets(runs.results):
        captured, arrived, lost = (
            sum(int(result.captures[column].sum()) for result in results)
            for column in ("captured", "arrived", "overflowed")
        )
        rows.append((label, captured / len(results), 100 * lost / arrived if arrived else 0.0))
    if not any(lost for _, _, lost in rows):
        return None
    header = ("variant", "captured in a run", "lost to full buffers, %")
    return Table(
        "samples", "Samples", header, tuple(rows), "Runs that lose samples learn from others than those that do not."
    )
