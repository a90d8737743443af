"""The paper's curves for T = 1, 3, 5, 7, 9 on streams, against updated parameters, bytes and seconds.

Updated parameters count all that sensors train: the whole model in full rounds, the classifier in calibration rounds.
T = 1 is HFedMS-S. What each round of a cycle brings to the accuracy is a table of its own: whether calibration pays
beyond its first round.
"""

from collections.abc import Mapping
from itertools import pairwise
from statistics import fmean

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
    return ExperimentOutcome((table, _gains_table(study, found)), (figure,), claims)


def _lines(found: dict[int, Seeds], axis: CostAxis, measure: str) -> tuple[Line, ...]:
    lines = (seeds.line(f"T = {interval}", axis.measure, measure, axis.unit) for interval, seeds in found.items())
    return tuple(lines)


def _spent(seeds: Seeds, axis: CostAxis) -> str:
    return shown([value / axis.unit for value in seeds.final(axis.measure).values()], 2)


def _gains_table(study: Study, found: Mapping[int, Seeds]) -> Table:
    """Return by how much accuracy rises in each round of a cycle, for every T that has calibration rounds."""
    gains = {interval: _gains(seeds) for interval, seeds in found.items() if interval > 1}
    rows: tuple[tuple[Value, ...], ...] = tuple(
        (
            number + 1,
            "calibration" if number else "full",
            *(shown([each[number] for each in of_seeds if number < len(each)], 4) for of_seeds in gains.values()),
        )
        for number in range(max(gains))
    )
    header = ("round of the cycle", "phase", *(f"T = {interval}" for interval in gains))
    note = f"Means over the whole cycles of a run but the first, and over seeds; {study.words}."
    return Table("gains", "What each round of a cycle brings to the accuracy", header, rows, note)


def _gains(seeds: Seeds) -> list[tuple[float, ...]]:
    found = (gains_of(result.curve) for result in seeds.sound.by_seed.values())
    return [each for each in found if each]


def gains_of(curve: Curve) -> tuple[float, ...]:
    """Return how much accuracy rises on average in each round of a cycle, of which the first one is the full one.

    Cycles count that are whole and were evaluated in every round; the first one has none before it to rise from.
    """
    accuracy = {row.round: row.accuracy for row in curve.rows if row.accuracy is not None}
    full = [row.round for row in curve.rows if row.phase == "full"]
    cycles = [range(start, following) for start, following in pairwise(full)]
    rises = [
        [accuracy[number] - accuracy[number - 1] for number in cycle]
        for cycle in cycles
        if {cycle.start - 1, *cycle} <= accuracy.keys()
    ]
    return tuple(fmean(each) for each in zip(*rises, strict=True))


def _jumps(dynamic: Seeds) -> Claim:
    gains = _gains(dynamic)
    parts = (
        ClaimPart("calibration rounds of a cycle raise the accuracy", tuple(sum(each[1:]) for each in gains)),
        ClaimPart("full rounds raise it too", tuple(each[0] for each in gains)),
        ClaimPart(
            "calibration rounds of a cycle more than its full round",
            tuple(sum(each[1:]) - each[0] for each in gains),
        ),
        ClaimPart(
            "the first calibration round alone more than the full round", tuple(each[1] - each[0] for each in gains)
        ),
    )
    return Claim("Q12", "defaults", parts, diverged=divergences({"hfedms-d": dynamic}))


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
