"""The paper's curves for T = 1, 3, 5, 7, 9 on streams, against updated parameters, bytes and seconds.

Updated parameters count all that sensors train: the whole model in full rounds, the classifier in calibration rounds.
T = 1 is HFedMS-S.
"""

from collections.abc import Mapping
from itertools import pairwise
from statistics import fmean
from typing import NamedTuple

from hfedms_sim.campaign import Trial
from hfedms_sim.campaign.curves import Curve
from hfedms_sim.exhibits import Figure, Line, Lines, Table, Value
from hfedms_sim.paper.claims import Claim, ClaimPart
from hfedms_sim.paper.experiment import Experiment, ExperimentOutcome, Results, Seeds, divergences, shown
from hfedms_sim.paper.experiments.axes import CostAxis, cost_axis_of
from hfedms_sim.paper.experiments.efficiency import of_interval, trials_of_interval
from hfedms_sim.paper.published import INTERVALS
from hfedms_sim.paper.study import Study
from hfedms_sim.paper.tuned import Column

_COSTS = ("updated_parameters", "bytes", "simulated_s")


def _trials(study: Study) -> list[Trial]:
    return [trial for interval in INTERVALS for trial in trials_of_interval(study, interval)]


def _outcome(study: Study, results: Results) -> ExperimentOutcome:
    found = {interval: of_interval(results, interval) for interval in INTERVALS}
    axes = [cost_axis_of(measure, max(found[1].final(measure).values(), default=0.0)) for measure in _COSTS]
    panels = [
        Lines(f"{measure} against {axis.name}", axis.name, measure, _lines(found, axis, measure))
        for axis in axes
        for measure in ("accuracy", "loss")
    ]
    rows: tuple[tuple[Value, ...], ...] = tuple(
        (interval, seeds.shown("accuracy"), seeds.shown("loss"), *(_spent(seeds, axis) for axis in axes))
        for interval, seeds in found.items()
    )
    header = ("T", "accuracy", "loss", *(axis.name for axis in axes))
    table = Table("intervals", "Full synchronisation every T rounds", header, rows, f"At the end; {study.words}.")
    dynamic = {f"T = {interval}": seeds for interval, seeds in found.items() if interval > 1}
    claims = (_jumps(found[5]), parameters_claim("defaults", found[1], dynamic))
    figure = Figure("intervals", f"HFedMS on streams, {study.words}", tuple(panels))
    return ExperimentOutcome((table,), (figure,), claims)


def _lines(found: dict[int, Seeds], axis: CostAxis, measure: str) -> tuple[Line, ...]:
    lines = (seeds.line(f"T = {interval}", axis.measure, measure, axis.unit) for interval, seeds in found.items())
    return tuple(lines)


def _spent(seeds: Seeds, axis: CostAxis) -> str:
    return shown([value / axis.unit for value in seeds.final(axis.measure).values()], 2)


def _jumps(dynamic: Seeds) -> Claim:
    gains = [found for result in dynamic.sound.by_seed.values() if (found := gains_of(result.curve)) is not None]
    told = ", ".join(f"{each.calibration:+.4f} and {each.full:+.4f}" for each in gains)
    parts = (
        ClaimPart("calibration rounds of a cycle raise the accuracy", tuple(each.calibration for each in gains)),
        ClaimPart("full rounds raise it too", tuple(each.full for each in gains)),
        ClaimPart(
            "calibration rounds of a cycle more than its full round",
            tuple(each.calibration - each.full for each in gains),
            told,
        ),
    )
    return Claim("Q12", "defaults", parts, diverged=divergences({"hfedms-d": dynamic}))


class Gains(NamedTuple):
    """How much accuracy rises on average in the calibration rounds of a cycle together, and in its full round."""

    calibration: float
    full: float


def gains_of(curve: Curve) -> Gains | None:
    """Return the gains over all whole cycles that were evaluated in every round; None if there are none."""
    accuracy = {row.round: row.accuracy for row in curve.rows if row.accuracy is not None}
    full = [row.round for row in curve.rows if row.phase == "full"]
    cycles = [(start, following) for start, following in pairwise(full) if start > 1]
    known = [(start, end) for start, end in cycles if {start - 1, start, end - 1} <= accuracy.keys()]
    if not known:
        return None
    return Gains(
        fmean(accuracy[end - 1] - accuracy[start] for start, end in known),
        fmean(accuracy[start] - accuracy[start - 1] for start, end in known),
    )


def parameters_claim(column: Column, static: Seeds, dynamic: Mapping[str, Seeds]) -> Claim:
    """Return Q13: HFedMS-D at its end against HFedMS-S when it had updated as many parameters."""
    parts = []
    for label, seeds in dynamic.items():
        for measure, sign, text in (("accuracy", 1, "more accurate"), ("loss", -1, "less loss")):
            pairs = _at_equal_parameters(static, seeds, measure)
            parts.append(
                ClaimPart(f"{label}: {text} than hfedms-s", tuple(sign * (ours - theirs) for ours, theirs in pairs))
            )
    return Claim("Q13", column, tuple(parts), diverged=divergences({"hfedms-s": static, **dynamic}))


def _at_equal_parameters(static: Seeds, dynamic: Seeds, measure: str) -> list[tuple[float, float]]:
    pairs = []
    ends, spent, known = dynamic.final(measure), dynamic.final("updated_parameters"), static.sound.by_seed
    for seed in ends:
        rows = known[seed].curve.rows if seed in known else ()
        earlier = [getattr(row, measure) for row in rows if row.updated_parameters <= spent[seed]]
        measured = [value for value in earlier if value is not None]
        if measured:
            pairs.append((ends[seed], measured[-1]))
    return pairs


INTERVALS_EXPERIMENT = Experiment(
    "intervals", "figure: curves for T = 1, 3, 5, 7, 9", _trials, _outcome, ("Q12", "Q13")
)
