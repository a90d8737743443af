"""The paper's figure of forgetting: the accuracy on batches that were learnt in one round, in the rounds after it.

The probe is the union of all batches that the participants of a full round in the middle of the run trained on.
HFedMS-S and HFedMS-D see other sensors in that round, so each is followed on its own probe, less its accuracy on the
test data in the same round: what is left is what the model knows of just these samples beyond what it knows in general.
"""

from hfedms_sim.campaign import Trial
from hfedms_sim.exhibits import Figure, Line, Lines, Mark, Table
from hfedms_sim.paper.claims import Claim, Part, paired
from hfedms_sim.paper.experiment import Experiment, Outcome, Results, Seeds
from hfedms_sim.paper.study import Study

STRATEGIES = ("hfedms-s", "hfedms-d")
_SOON = 4  # rounds: the end of the probe's cycle, when HFedMS-D has calibrated


def _trials(study: Study) -> list[Trial]:
    return [trial for name in STRATEGIES for trial in study.trials(name, "stream")]


def _outcome(study: Study, results: Results) -> Outcome:
    probe = study.scale.probe_round
    found = {name: results.of(name, "stream") for name in STRATEGIES}
    mark = (Mark("x", float(probe), "probe learnt"),)
    panels = (
        Lines(
            "on the probe",
            "round",
            "accuracy",
            tuple(found[name].line(name, "round", "probe_accuracy") for name in STRATEGIES),
            mark,
        ),
        Lines(
            "beyond the test data",
            "round",
            "accuracy less test accuracy",
            tuple(_excess_line(name, found[name], probe) for name in STRATEGIES),
            mark,
        ),
    )
    rows = tuple(
        (name, number, _mean(_probe(seeds, number)), _mean(_excess(seeds, number)))
        for name, seeds in found.items()
        for number in (probe, probe + 1, probe + _SOON, study.scale.rounds)
    )
    header = ("strategy", "round", "accuracy on the probe", "less accuracy on the test data")
    note = f"The probe is what round {probe} was trained on. Means over seeds; {study.words}."
    table = Table("forgetting", "What is left of a round's batches", header, rows, note)
    return Outcome((table,), (Figure("forgetting", f"Forgetting, {study.words}", panels),), (_claim(study, found),))


def _probe(seeds: Seeds, number: int) -> dict[int, float]:
    return _at(seeds, number, subtract_test=False)


def _excess(seeds: Seeds, number: int) -> dict[int, float]:
    return _at(seeds, number, subtract_test=True)


def _at(seeds: Seeds, number: int, *, subtract_test: bool) -> dict[int, float]:
    found = {}
    for seed, result in seeds.by_seed.items():
        row = next((row for row in result.curve.rows if row.round == number), None)
        if row is not None and row.probe_accuracy is not None and row.accuracy is not None:
            found[seed] = row.probe_accuracy - (row.accuracy if subtract_test else 0.0)
    return found


def _excess_line(name: str, seeds: Seeds, probe: int) -> Line:
    numbers = sorted(
        {row.round for result in seeds.by_seed.values() for row in result.curve.rows if row.round >= probe}
    )
    points = [(float(number), [*_excess(seeds, number).values()]) for number in numbers]
    whole = [(number, values) for number, values in points if len(values) == len(seeds.by_seed)]
    xs, ys = tuple(number for number, _ in whole), tuple(sum(values) / len(values) for _, values in whole)
    band = (tuple(min(values) for _, values in whole), tuple(max(values) for _, values in whole))
    return Line(name, xs, ys, *(band if len(seeds.by_seed) > 1 else ((), ())))


def _mean(values: dict[int, float]) -> float | None:
    return sum(values.values()) / len(values) if values else None


def _claim(study: Study, found: dict[str, Seeds]) -> Claim:
    """Judge what a model knows of its probe beyond the test data, from the probe's own round to the end of the run."""
    probe, end = study.scale.probe_round, study.scale.rounds
    at = {(name, when): _excess(seeds, when) for name, seeds in found.items() for when in (probe, probe + _SOON, end)}
    lost = {name: _less(at[name, probe], at[name, end]) for name in STRATEGIES}
    gain = {when: _less(at["hfedms-d", when], at["hfedms-s", when]) for when in (probe + _SOON, end)}
    parts = (
        Part("hfedms-s loses what it knew of the probe beyond the test data", tuple(lost["hfedms-s"].values())),
        Part("hfedms-d loses less of it", paired(lost["hfedms-s"], lost["hfedms-d"])),
        Part("at the end hfedms-d knows more of its probe than hfedms-s", tuple(gain[end].values())),
        Part("this gain is larger at the end than a cycle after the probe", paired(gain[end], gain[probe + _SOON])),
    )
    return Claim("Q10", "defaults", parts)


def _less(ours: dict[int, float], theirs: dict[int, float]) -> dict[int, float]:
    return {seed: ours[seed] - theirs[seed] for seed in ours if seed in theirs}


FORGETTING = Experiment("forgetting", "figure: the gain by resisting forgetting", _trials, _outcome, ("Q10",))
