"""Why one run, or one variant, is slower than another, in sentences made of their figures."""

from collections.abc import Iterator, Sequence

from hfedms_sim.campaign import Row
from hfedms_sim.campaign.comparison import END
from hfedms_sim.report.page.sections.names import common_target, variant_name
from hfedms_sim.report.views.causes import seconds_by_cause
from hfedms_sim.result import RunResult
from hfedms_sim.units import format_bytes, format_seconds

_MOST_SENTENCES = 8


def why_faster(one: RunResult, other: RunResult, name: str, other_name: str) -> Iterator[str]:
    """Yield sentences: how much longer the slower one took to the same accuracy, in rounds and in seconds a round."""
    costs = _costs(one), _costs(other)
    common = [target for target in costs[0] if target in costs[1]]
    target = max((each for each in common if each is not None), default=None)
    faster, slower = sorted(
        ((costs[0][target], name, one), (costs[1][target], other_name, other)), key=lambda each: each[0][1]
    )
    (rounds, seconds), (more_rounds, more_seconds) = faster[0], slower[0]
    if seconds == more_seconds:
        yield f"{name} and {other_name} take equally long."
        return
    if not seconds:
        yield f"{faster[1]} takes no simulated time, {slower[1]} {format_seconds(more_seconds)}."
        return
    goal = "to the end" if target is None else f"to accuracy {target:g}"
    each_s, more_each_s = seconds / rounds, more_seconds / more_rounds
    yield (
        f"{faster[1]} takes {seconds / more_seconds:.2g} of the simulated time of {slower[1]} {goal} "
        f"({format_seconds(seconds)} against {format_seconds(more_seconds)}): {rounds / more_rounds:.2g} of its rounds "
        f"({rounds} against {more_rounds}), each {each_s / more_each_s:.2g} as long ({format_seconds(each_s)} against "
        f"{format_seconds(more_each_s)})."
    )
    mine, theirs = seconds_by_cause(faster[2]), seconds_by_cause(slower[2])
    saved = {cause: theirs.get(cause, 0.0) - mine.get(cause, 0.0) for cause in {**theirs, **mine}}
    cause = max(saved, key=lambda each: saved[each], default=None)
    if cause is not None and saved[cause] > 0:
        yield (
            f"What its rounds save most is {cause}: {format_seconds(mine.get(cause, 0.0))} a round instead of "
            f"{format_seconds(theirs[cause])}."
        )


def _costs(result: RunResult) -> dict[float | None, tuple[int, float]]:
    """Return rounds and seconds to each target that was reached, and to the end under None."""
    summary = result.summary
    reached = {float(each["accuracy"]): each for each in summary["targets"] if each["round"] is not None}
    costs: dict[float | None, tuple[int, float]] = {
        accuracy: (int(each["round"]), float(each["simulated_s"])) for accuracy, each in reached.items()
    }
    return {None: (int(summary["rounds"]), float(summary["simulated_s"]))} | costs


def why_slower(rows: Sequence[Row]) -> Iterator[str]:
    """Yield for each variant how much longer it takes than the fastest: in rounds, seconds and bytes a round."""
    target = common_target(rows)
    compared = [row for row in rows if row.target == target and row.is_comparable and row.reached]
    ranked = sorted((seconds, number) for number, row in enumerate(compared) if (seconds := _mean(row, "simulated_s")))
    if len(ranked) < 2:
        return
    fastest_s, first = ranked[0]
    fastest, goal = compared[first], "" if target == END else f" to accuracy {target}"
    name = variant_name(fastest, compared)
    yield f"{name} is the fastest{goal}: {_rounds_of(fastest)}."
    for seconds, number in ranked[1 : 1 + _MOST_SENTENCES]:
        row = compared[number]
        longer = f"{seconds / fastest_s:.3g} times as long" if seconds > fastest_s else "as long"
        yield f"{variant_name(row, compared)} takes {longer}: {_rounds_of(row)}."


def _rounds_of(row: Row) -> str:
    """Return rounds, and what one takes and sends."""
    rounds, seconds, sent = _mean(row, "round"), _mean(row, "simulated_s"), _mean(row, "bytes")
    limit = f", limited by {row.limited_by}" if row.limited_by else ""
    return (
        f"{rounds:.4g} rounds of {format_seconds(seconds / rounds)} and {format_bytes(sent / rounds)} on average{limit}"
    )


def _mean(row: Row, measure: str) -> float:
    estimate = row.measures[measure]
    return 0.0 if estimate is None else estimate.mean
