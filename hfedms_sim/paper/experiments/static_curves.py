"""The paper's curves on static data: FedAvg, fixed random groups, fixed inter-cluster groups, and HFedMS-S."""

from statistics import fmean

from hfedms_sim.campaign import Trial
from hfedms_sim.exhibits import Figure, Lines, Table
from hfedms_sim.paper import published
from hfedms_sim.paper.claims import Claim, ClaimPart, paired
from hfedms_sim.paper.experiment import (
    Experiment,
    ExperimentOutcome,
    Results,
    Seeds,
    divergences,
    half_a_step,
    log_ratio,
)
from hfedms_sim.paper.published import STATIC_GROUPINGS
from hfedms_sim.paper.study import Study

STRATEGIES = ("fedavg", *STATIC_GROUPINGS, "hfedms-s")


def _trials(study: Study) -> list[Trial]:
    return [trial for name in STRATEGIES for trial in study.trials(name, "static")]


def _outcome(study: Study, results: Results) -> ExperimentOutcome:
    found = {name: results.of(name, "static") for name in STRATEGIES}
    panels = tuple(
        Lines(
            f"test {measure}", "round", measure, tuple(found[name].line(name, "round", measure) for name in STRATEGIES)
        )
        for measure in ("accuracy", "loss")
    )
    rows = []
    for name, seeds in found.items():
        printed = published.BENCHMARKS.get(name, {}).get("static")
        trends = loss_trend(seeds).values()
        rows.append((
            name, None if printed is None else printed.accuracy, seeds.shown("accuracy"),
            None if printed is None else printed.loss, seeds.shown("loss"), fmean(trends) if trends else None,
        ))  # fmt: skip
    header = (
        "strategy",
        "accuracy, published",
        "accuracy",
        "loss, published",
        "loss",
        "loss, last fifth less the one before",
    )
    note = f"{study.words}. The paper shows the two fixed groupings as curves only."
    table = Table("static-curves", "Static data: where the curves end", header, tuple(rows), note)
    figure = Figure("static-curves", f"Static data, {study.words}", panels)
    return ExperimentOutcome((table,), (figure,), (_order(study, found), _overfitting(found)))


def loss_trend(seeds: Seeds) -> dict[int, float]:
    """Return by seed the mean loss of the last fifth of all evaluations less that of the fifth before it."""
    trends = {}
    for seed, result in seeds.sound.by_seed.items():
        losses = [row.loss for row in result.curve.rows if row.loss is not None]
        fifth = len(losses) // 5
        if fifth:
            trends[seed] = fmean(losses[-fifth:]) - fmean(losses[-2 * fifth : -fifth])
    return trends


def _order(study: Study, found: dict[str, Seeds]) -> Claim:
    fedavg, benchmark, icg, ours = (found[name] for name in STRATEGIES)
    target, every = fedavg.final("accuracy"), study.scale.evaluate_every
    mine, other = (each.spent("round", target, every) for each in (benchmark, fedavg))
    sooner = log_ratio(mine, other, benchmark.final("round"), fedavg.final("round"))
    finals = {name: seeds.final("accuracy") for name, seeds in found.items()}
    parts = [
        ClaimPart(
            "fixed groups get to FedAvg's final accuracy sooner (ln of the ratio)",
            sooner,
            resolution=half_a_step(every, mine, other),
        ),
        ClaimPart(
            "fixed inter-cluster groups end better than random ones",
            paired(icg.final("accuracy"), benchmark.final("accuracy")),
        ),
        *(
            ClaimPart(f"hfedms-s ends better than {name}", paired(ours.final("accuracy"), finals[name]))
            for name in STRATEGIES[:3]
        ),
    ]
    of_hfedms = {name: seeds for name, seeds in found.items() if name != "fedavg"}
    return Claim("Q7", "defaults", tuple(parts), diverged=divergences(of_hfedms))


def _overfitting(found: dict[str, Seeds]) -> Claim:
    fixed = [
        ClaimPart(f"{name}: the loss rises in the last fifth", tuple(loss_trend(found[name]).values()))
        for name in STATIC_GROUPINGS
    ]
    ours = tuple(-value for value in loss_trend(found["hfedms-s"]).values())
    diverged = divergences({"hfedms-s": found["hfedms-s"]})
    return Claim("Q8", "defaults", (*fixed, ClaimPart("hfedms-s: it still falls", ours)), diverged=diverged)


STATIC_CURVES = Experiment("static-curves", "figure: curves on static data", _trials, _outcome, ("Q7", "Q8"))
