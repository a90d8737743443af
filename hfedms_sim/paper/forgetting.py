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
_SOON = 5  # rounds: a cycle


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
    probe, end = study.scale.probe_round, study.scale.rounds
    static, dynamic = (found[name] for name in STRATEGIES)
    soon, late = (
        dict(zip(_probe(dynamic, number), paired(_probe(dynamic, number), _probe(static, number)), strict=False))
        for number in (probe + _SOON, end)
    )
    lost = {seeds: paired(_excess(found[seeds], probe), _excess(found[seeds], end)) for seeds in STRATEGIES}
    parts = (
        Part("hfedms-s loses what it knew of the probe beyond the test data", lost["hfedms-s"]),
        Part(
            "hfedms-d loses less of it", tuple(s - d for s, d in zip(lost["hfedms-s"], lost["hfedms-d"], strict=False))
        ),
        Part("at the end hfedms-d knows the probe better", paired(_probe(dynamic, end), _probe(static, end))),
        Part("its gain is larger at the end than a cycle after the probe", paired(late, soon)),
    )
    return Claim("Q10", "defaults", parts)


FORGETTING = Experiment("forgetting", "figure: the gain by resisting forgetting", _trials, _outcome, ("Q10",))
