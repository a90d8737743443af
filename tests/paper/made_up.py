"""Results of trials that were never played: curves that end where a test wants them to."""

from collections.abc import Callable, Collection

from hfedms_sim.campaign import Curve, Point, Trial, TrialResult
from hfedms_sim.paper import published
from hfedms_sim.paper.claims import Claim
from hfedms_sim.paper.experiment import Experiment, Results
from hfedms_sim.paper.experiments.tuning import strategies_on
from hfedms_sim.paper.published import DataKind
from hfedms_sim.paper.scales import SCALES
from hfedms_sim.paper.study import Study
from hfedms_sim.paper.tuned import Tuned
from hfedms_sim.stopping import Stopped

End = tuple[float, float]
"""Accuracy and loss."""
SEEDS = (1, 2, 3)
KINDS: tuple[DataKind, ...] = ("stream", "static")


def study(seeds: tuple[int, ...] = SEEDS, tuned: Tuned | None = None) -> Study:
    return Study(SCALES["smoke" if tuned is None else "factory"], chosen_seeds=seeds, tuned=tuned or Tuned())


def every_choice(best: str = "fedyogi") -> Tuned:
    """Return tuned settings of all strategies, the best of them on streams as given."""
    choices: dict[DataKind, dict[str, dict[str, str]]] = {
        kind: {name: {"strategy.learning_rate": "0.1"} for name in strategies_on(kind)} for kind in KINDS
    }
    return Tuned(choices, {"stream": {best: 0.8}})


def as_published(trial: Trial) -> End:
    """Return where the paper's table has a strategy end, or a middling value where it has nothing."""
    facts = dict(trial.variant)
    kind: DataKind = "stream" if facts["data"] == "stream" else "static"
    found = published.BENCHMARKS.get(facts["strategy"], {}).get(kind)
    if found is not None:
        return found.accuracy, found.loss
    return {"static-icg": 0.84, "hfedms-s": 0.80}.get(facts["strategy"], 0.83), 0.6


def results(experiment: Experiment, of: Study, end: Callable[[Trial], End] = as_published) -> Results:
    return Results([_result(trial, end(trial)) for trial in experiment.trials(of)])


def reshaped(found: Results, row: Callable[[str, Point], Point]) -> Results:
    """Return the results with other curves: `row` is given the strategy and a point, and returns another point."""
    return Results([
        each._replace(curve=Curve(tuple(row(each.trial.scenario.strategy.name, point) for point in each.curve.rows)))
        for each in found.results
    ])  # fmt: skip


def diverging(found: Results, runs: Collection[tuple[str, int]]) -> Results:
    """Return the results with training broken down in the end in some runs, given by strategy and seed."""
    stopped = {"stopped": Stopped.diverged("a weight", 3)._asdict()}
    return Results([
        each._replace(summary={**each.summary, **stopped})
        if (each.trial.scenario.strategy.name, each.trial.scenario.seed) in runs else each
        for each in found.results
    ])  # fmt: skip


def claims_of(
    experiment: Experiment, end: dict[tuple[str, str], End] | None = None, diverged: Collection[tuple[str, int]] = ()
) -> dict[str, Claim]:
    """Return what an experiment claims where strategies end as given by name and data, others as published."""

    def ends(trial: Trial) -> End:
        facts = dict(trial.variant)
        return (end or {}).get((facts["strategy"], facts["data"]), as_published(trial))

    here = study()
    found = diverging(results(experiment, here, ends), diverged)
    return {claim.name: claim for claim in experiment.outcome(here, found).claims}


def _result(trial: Trial, end: End) -> TrialResult:
    """Play a straight line to the end; seeds differ by a hair, HFedMS gets there in a quarter of the rounds."""
    rounds, seed = trial.scenario.rounds, trial.scenario.seed
    is_fast = trial.scenario.strategy.name.startswith("hfedms")
    rows = []
    for number in range(1, rounds + 1):
        share = min(1.0, number / rounds * (4 if is_fast else 1))
        accuracy = end[0] * share + 1e-4 * seed
        rows.append(_point(number, accuracy, end[1] + 1 - share + 1e-4 * seed, is_full=number % 5 == 1))
    summary = {"stopped": None, "rounds": rounds, "final_accuracy": rows[-1].accuracy}
    return TrialResult(trial, summary, {}, Curve(tuple(rows)))


def _point(number: int, accuracy: float, loss: float, *, is_full: bool) -> Point:
    return Point(
        round=number,
        phase="full" if is_full else "calibration",
        simulated_s=100.0 * number,
        uplink_bytes=10 * number,
        downlink_bytes=20 * number,
        energy_j=None,
        updated_parameters=1000 * number,
        total_groups=10,
        accuracy=accuracy,
        loss=loss,
        accuracy_p10=None,
        accuracy_p50=None,
        accuracy_p90=None,
        probe_accuracy=accuracy + 0.05,
    )
