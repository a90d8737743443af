"""What became of the samples that arrived at sensors: captured, or lost because a buffer was full."""

from hfedms_sim.exhibits import Figure, Line, Lines
from hfedms_sim.result import RunResult

_NEVER_OVERFLOW = ("saturated", "static")  # arrivals that fill no buffer


def streams_figure(result: RunResult) -> Figure | None:
    """Return the samples captured and overflowed in each round; None where nothing can overflow, or none was taken."""
    if result.scenario.stream.arrival in _NEVER_OVERFLOW or result.captures.empty:
        return None
    by_round = result.captures.groupby("round")[["captured", "overflowed"]].sum()
    rounds = tuple(map(float, by_round.index))
    names = ("captured", "overflowed")
    lines = tuple(Line(name, rounds, tuple(map(float, by_round[name]))) for name in names)
    taken, lost = (int(by_round[name].sum()) for name in names)
    panel = Lines("Samples of each round", "round", "samples", lines, y_limits=(0.0, None))
    share = lost / (taken + lost) if taken + lost else 0.0
    note = f"{taken:,} samples captured, {lost:,} lost to full buffers ({share:.1%})."
    return Figure("streams", f"{result.scenario.name}: samples captured and lost", (panel,), columns=1, note=note)
