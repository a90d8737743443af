"""The paper's curves for T = 1, 3, 5, 7, 9 on streams, against updated parameters, bytes and seconds.

Updated parameters count all that sensors train: the whole model in full rounds, the classifier in calibration rounds.
T = 1 is HFedMS-S.
"""

from itertools import pairwise
from statistics import fmean

from hfedms_sim.campaign import Trial
from hfedms_sim.campaign.curves import Curve
from hfedms_sim.exhibits import Figure, Line, Lines, Table, Value
from hfedms_sim.paper.axes import Axis, axis_of
from hfedms_sim.paper.claims import Claim, Part
from hfedms_sim.paper.efficiency import of_interval, trials_of_interval
from hfedms_sim.paper.experiment import Experiment, Outcome, Results, Seeds, shown
from hfedms_sim.paper.published import INTERVALS
from hfedms_sim.paper.study import Study

_COSTS = ("updated_parameters", "bytes", "simulated_s")


def _trials(study: Study) -> list[Trial]:
    return [trial for interval in INTERVALS for trial in trials_of_interval(study, interval)]


def _outcome(study: Study, results: Results) -> Outcome:
    found = {interval: of_interval(results, interval) for interval in INTERVALS}
    axes = [axis_of(measure, max(found[1].final(measure).values(), default=0.0)) for measure in _COSTS]
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
    figure = Figure("intervals", f"HFedMS on streams, {study.words}", tuple(panels))
    return Outcome((table,), (figure,), (_jumps(found[5]), _parameters(found[1], found[5])))


def _lines(found: dict[int, Seeds], axis: Axis, measure: str) -> tuple[Line, ...]:
    lines = (seeds.line(f"T = {interval}", axis.measure, measure, axis.unit) for interval, seeds in found.items())
    return tuple(lines)


def _spent(seeds: Seeds, axis: Axis) -> str:
    return shown([value / axis.unit for value in seeds.final(axis.measure).values()], 2)


def _jumps(dynamic: Seeds) -> Claim:
    gains = {seed: calibration_and_full_gain(result.curve) for seed, result in dynamic.by_seed.items()}
    pairs = [each for each in gains.values() if each is not None]
    told = ", ".join(f"{first:+.4f} and {full:+.4f}" for first, full in pairs)
    text = "a cycle's first calibration round brings more accuracy than its full round"
    return Claim("Q12", "defaults", (Part(text, tuple(first - full for first, full in pairs), told),))


def calibration_and_full_gain(curve: Curve) -> tuple[float, float] | None:
    """Return how much accuracy rises on average in a cycle's first calibration round, and in its full round."""
    rows = [row for row in curve.rows if row.accuracy is not None]
    first, full = [], []
    for before, row in pairwise(rows):
        if row.round != before.round + 1:
            continue
        gain = (row.accuracy or 0.0) - (before.accuracy or 0.0)
        if row.phase == "full":
            full.append(gain)
        elif before.phase == "full":
            first.append(gain)
    return (fmean(first), fmean(full)) if first and full else None


def _parameters(static: Seeds, dynamic: Seeds) -> Claim:
    """Compare HFedMS-D at its end with HFedMS-S when it had updated as many parameters."""
    values = []
    for seed, result in dynamic.by_seed.items():
        spent, accuracy = result.curve.final("updated_parameters"), result.curve.final("accuracy")
        other = static.by_seed.get(seed)
        if other is not None and accuracy is not None:
            reached = [
                row.accuracy for row in other.curve.rows if row.accuracy is not None and row.updated_parameters <= spent
            ]
            values.append(accuracy - (max(reached) if reached else 0.0))
    return Claim(
        "Q13",
        "defaults",
        (Part("hfedms-d at its end less hfedms-s's best with as many updated parameters", tuple(values)),),
    )


INTERVALS_EXPERIMENT = Experiment(
    "intervals", "figure: curves for T = 1, 3, 5, 7, 9", _trials, _outcome, ("Q12", "Q13")
)
