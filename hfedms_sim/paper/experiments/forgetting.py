"""The paper's figure of forgetting: the accuracy on batches that were learnt in one round, in the rounds after it.

The probe is the union of all batches that the participants of a full round in the middle of the run trained on.
HFedMS-S and HFedMS-D see other sensors in that round, so each is followed on its own probe, less its accuracy on the
test data in the same round: what is left is what the model knows of just these samples beyond what it knows in general.
"""

from hfedms_sim.campaign import Trial
from hfedms_sim.exhibits import Figure, Lines, Mark, Table
from hfedms_sim.paper.claims import Claim, ClaimPart, paired
from hfedms_sim.paper.experiment import Experiment, ExperimentOutcome, Results, Seeds, divergences, mean_of
from hfedms_sim.paper.study import Study

STRATEGIES = ("hfedms-s", "hfedms-d")
_SOON = 4  # rounds: the end of the probe's cycle, when HFedMS-D has calibrated


def _trials(study: Study) -> list[Trial]:
    return [trial for name in STRATEGIES for trial in study.trials(name, "stream")]


def _outcome(study: Study, results: Results) -> ExperimentOutcome:
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
            tuple(found[name].line(name, "round", "probe_excess") for name in STRATEGIES),
            mark,
        ),
    )
    rows = tuple(
        (name, number, *(mean_of(seeds.at(number, each)) for each in ("probe_accuracy", "probe_excess")))
        for name, seeds in found.items()
        for number in (probe, probe + 1, probe + _SOON, study.scale.rounds)
    )
    header = ("strategy", "round", "accuracy on the probe", "less accuracy on the test data")
    note = f"The probe is what round {probe} was trained on. Means over seeds; {study.words}."
    table = Table("forgetting", "What is left of a round's batches", header, rows, note)
    return ExperimentOutcome(
        (table,), (Figure("forgetting", f"Forgetting, {study.words}", panels),), (_claim(study, found),)
    )


def _claim(study: Study, found: dict[str, Seeds]) -> Claim:
    """Judge what a model knows of its probe beyond the test data, from the probe's own round to the end of the run."""
    probe, end = study.scale.probe_round, study.scale.rounds
    at = {
        (name, when): seeds.at(when, "probe_excess")
        for name, seeds in found.items()
        for when in (probe, probe + _SOON, end)
    }
    lost = {name: _less(at[name, probe], at[name, end]) for name in STRATEGIES}
    gain = {when: _less(at["hfedms-d", when], at["hfedms-s", when]) for when in (probe + _SOON, end)}
    parts = (
        ClaimPart("hfedms-s loses what it knew of the probe beyond the test data", tuple(lost["hfedms-s"].values())),
        ClaimPart("hfedms-d loses less of it", paired(lost["hfedms-s"], lost["hfedms-d"])),
        ClaimPart("at the end hfedms-d knows more of its probe than hfedms-s", tuple(gain[end].values())),
        ClaimPart(
            "this gain is larger at the end than a cycle after the probe", paired(gain[end], gain[probe + _SOON])
        ),
    )
    return Claim("Q10", "defaults", parts, diverged=divergences(found))


def _less(ours: dict[int, float], theirs: dict[int, float]) -> dict[int, float]:
    return {seed: ours[seed] - theirs[seed] for seed in ours if seed in theirs}


FORGETTING = Experiment("forgetting", "figure: the gain by resisting forgetting", _trials, _outcome, ("Q10",))
