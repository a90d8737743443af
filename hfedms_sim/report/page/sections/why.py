"""Why one run, or one variant, is slower than another, in sentences made of their figures."""

from collections.abc import Iterator, Sequence
from typing import NamedTuple

from hfedms_sim.campaign import Row
from hfedms_sim.campaign.comparison import END
from hfedms_sim.report.page.sections.names import common_target, variant_name
from hfedms_sim.report.views.causes import seconds_by_cause
from hfedms_sim.result import RunResult
from hfedms_sim.units import format_bytes, format_seconds

_MOST_SENTENCES = 8


class _Course(NamedTuple):
    """How a run got to a target accuracy, or to its end."""

    seconds: float
    rounds: int
    name: str
    result: RunResult

    @property
    def round_s(self) -> float:
        """Return how long a round was on average."""
        return self.seconds / max(1, self.rounds)


def why_faster(one: RunResult, other: RunResult, name: str, other_name: str) -> Iterator[str]:
    """Yield sentences: how much longer the slower one took to the same accuracy, in rounds and in seconds a round."""
    target = max(_reached(one) & _reached(other), default=None)
    courses = _course(one, name, target), _course(other, other_name, target)
    faster, slower = sorted(courses, key=lambda course: course.seconds)
    if faster.seconds == slower.seconds:
        yield f"{name} and {other_name} take equally long."
    elif not faster.seconds:
        yield f"{faster.name} takes no simulated time, {slower.name} {format_seconds(slower.seconds)}."
    else:
        yield _in_rounds(faster, slower, "to the end" if target is None else f"to accuracy {target:g}")
        yield from _in_causes(faster, slower)


def _in_rounds(faster: _Course, slower: _Course, goal: str) -> str:
    return (
        f"{faster.name} takes {faster.seconds / slower.seconds:.2g} of the simulated time of {slower.name} {goal} "
        f"({format_seconds(faster.seconds)} against {format_seconds(slower.seconds)}): "
        f"{faster.rounds / max(1, slower.rounds):.2g} of its rounds ({faster.rounds} against {slower.rounds}), "
        f"each {faster.round_s / slower.round_s:.2g} as long ({format_seconds(faster.round_s)} against "
        f"{format_seconds(slower.round_s)})."
    )


def _in_causes(faster: _Course, slower: _Course) -> Iterator[str]:
    mine, theirs = seconds_by_cause(faster.result), seconds_by_cause(slower.result)
    saved = {cause: seconds - mine.get(cause, 0.0) for cause, seconds in theirs.items()}
    cause = max(saved, key=lambda each: saved[each], default=None)
    if cause is not None and saved[cause] > 0:
        yield (
            f"What its rounds save most is {cause}: {format_seconds(mine.get(cause, 0.0))} a round instead of "
            f"{format_seconds(theirs[cause])}."
        )


def _reached(result: RunResult) -> set[float]:
    """Return the target accuracies that a run reached."""
    return {float(target["accuracy"]) for target in result.summary["targets"] if target["round"] is not None}


def _course(result: RunResult, name: str, accuracy: float | None) -> _Course:
    """Return what a run took to an accuracy, or to its end."""
    summary = result.summary
    if accuracy is None:
        return _Course(float(summary["simulated_s"]), int(summary["rounds"]), name, result)
    target = next(each for each in summary["targets"] if each["accuracy"] == accuracy)
    return _Course(float(target["simulated_s"]), int(target["round"]), name, result)


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
    rounds, seconds, sent = max(1.0, _mean(row, "round")), _mean(row, "simulated_s"), _mean(row, "bytes")
    limit = f", limited by {row.limited_by}" if row.limited_by else ""
    return (
        f"{rounds:.4g} rounds of {format_seconds(seconds / rounds)} and {format_bytes(sent / rounds)} on average{limit}"
    )


def _mean(row: Row, measure: str) -> float:
    estimate = row.measures[measure]
    return 0.0 if estimate is None else estimate.mean
