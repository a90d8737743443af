"""Where the time of a round went: the seconds of its critical path by cause, as `limited_by` of the summary has them.

A share of a cause is of all rounds that were looked at, so a mean round of that length is what it is a share of.
"""

from collections.abc import Sequence
from statistics import fmean

from hfedms_sim.errors import InputError
from hfedms_sim.exhibits import Bars, Figure
from hfedms_sim.report.run_labels import RunSet
from hfedms_sim.result import RunResult


def seconds_by_cause(result: RunResult) -> dict[str, float]:
    """Return what each cause has of the mean round, the largest first; nothing of a run of an earlier version."""
    limited, rounds = result.summary.get("limited_by"), result.rounds
    if not limited:
        return {}
    last = rounds.tail(int(limited["rounds"]))
    mean_s = float((last["end_s"] - last["start_s"]).mean())
    return {str(each["cause"]): float(each["share"]) * mean_s for each in limited["shares"] if each["share"]}


def causes_figure(sets: Sequence[RunSet], *, in_shares: bool = False) -> Figure:
    """Return the seconds of the mean round by cause, a stacked bar for each set of runs: the mean over its seeds.

    `in_shares`: as shares of that round, so that short rounds can be read beside long ones.
    """
    seconds = [_mean([seconds_by_cause(result) for result in own.results]) for own in sets]
    causes = list(dict.fromkeys(cause for own in seconds for cause in own))
    if not causes:
        raise InputError("what limited these runs is not known: an earlier version has made them")
    sizes = [sum(own.values()) or 1.0 if in_shares else 1.0 for own in seconds]
    series = tuple(
        (cause, tuple(own.get(cause, 0.0) / size for own, size in zip(seconds, sizes, strict=True))) for cause in causes
    )
    what = "share of the round" if in_shares else "seconds"
    bars = Bars("", what, tuple(own.label for own in sets), series, is_stacked=True)
    note = "The critical path of each round, by cause; mean over rounds and seeds."
    return Figure("causes", "Where the time of a round goes", (bars,), 1, note)


def _mean(runs: Sequence[dict[str, float]]) -> dict[str, float]:
    causes = dict.fromkeys(cause for own in runs for cause in own)
    return {cause: fmean(own.get(cause, 0.0) for own in runs) for cause in causes}
