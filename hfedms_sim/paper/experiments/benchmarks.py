"""The paper's accuracy table: all strategies on streaming and on static data, published and measured.

HFedMS is HFedMS-D on streams and HFedMS-S on static data, as in the paper; HFedMS-S is shown on streams too, and the
two ways of fixed groups on both. Strategies have their sources' defaults, and beside them tuned settings where these
were chosen (tuning.py). Nothing is adjusted towards the paper.
"""

from hfedms_sim.campaign import Trial
from hfedms_sim.exhibits import Figure, Lines, Table, Value
from hfedms_sim.paper import published
from hfedms_sim.paper.claims import Claim, ClaimPart, paired
from hfedms_sim.paper.experiment import Experiment, ExperimentOutcome, Results, Seeds, divergences, shown
from hfedms_sim.paper.experiments.axes import CostAxis, cost_axis_of
from hfedms_sim.paper.experiments.intervals import parameters_claim
from hfedms_sim.paper.experiments.race import Race, Racer
from hfedms_sim.paper.published import BASELINES, HFEDMS, KINDS, STATIC_GROUPINGS, DataKind
from hfedms_sim.paper.study import Study
from hfedms_sim.paper.tuned import Column

TARGETS = (0.5, 0.6, 0.7, 0.75, 0.8)
_ADAPTIVE, _PLAIN = ("fedadagrad", "fedadam", "fedyogi"), ("fedavg", "fedprox")


def strategies_on(kind: DataKind) -> tuple[str, ...]:
    both = ("hfedms-s", "hfedms-d") if kind == "stream" else ("hfedms-s",)
    return (*BASELINES, *STATIC_GROUPINGS, *both)


def _trials(study: Study) -> list[Trial]:
    trials = []
    for kind in study.kinds:
        for strategy in strategies_on(kind):
            trials += study.trials(strategy, kind)
            if study.tunes(strategy, kind):
                trials += study.trials(strategy, kind, column="tuned", seeds=study.tuned_seeds(kind))
    return trials


def _outcome(study: Study, results: Results) -> ExperimentOutcome:
    claims = [
        claim
        for column in study.columns
        for claim in (
            _beats_all("Q1", "stream", column, results),
            _beats_all("Q2", "static", column, results),
            _streams_are_harder(column, results),
        )
    ]
    tables = [_accuracy_table(study, results), _cost_table(study, results)]
    if "tuned" in study.columns:
        claims += _tuned_race(study, results)
        tables.append(_tuned_table(study))
    return ExperimentOutcome(
        tuple(tables), tuple(_figure(study, column, results) for column in study.columns), tuple(claims)
    )


def _accuracy_table(study: Study, results: Results) -> Table:
    header = ["strategy"]
    for kind in KINDS:
        header += [f"{kind}, published", *(f"{kind}, {column}" for column in study.columns)]
    rows = []
    for strategy in strategies_on("stream"):
        row: list[Value] = [strategy]
        for kind in KINDS:
            printed = published.BENCHMARKS.get(strategy, {}).get(kind)
            row.append("" if printed is None else f"{printed.accuracy:.3f} / {printed.loss:.3f}")
            row += [_score(results.of(strategy, kind, column=column)) for column in study.columns]
        rows.append(tuple(row))
    rounds, converged = published.CONVERGED
    rows.append((f"hfedms-d, {rounds:,} rounds", f"{converged.accuracy:.3f} / {converged.loss:.3f}",
                 *([""] * (2 * len(study.columns) + 1))))  # fmt: skip
    note = f"Mean and 95 % interval over seeds. Published: FEMNIST, 500 rounds, one seed; here {study.words}."
    return Table("benchmarks", "Accuracy / loss at the end", tuple(header), tuple(rows), note)


def _tuned_table(study: Study) -> Table:
    rows = [
        (kind, strategy, ", ".join(f"{key} {value}" for key, value in study.tuned.settings(strategy, kind).items()))
        for kind in study.kinds
        for strategy in strategies_on(kind)
        if study.tunes(strategy, kind)
    ]
    made_on = f" on {study.tuned.made_on}" if study.tuned.made_on else ""
    note = f"Chosen by paper tune{made_on}. All else is as with defaults."
    return Table("tuned-settings", "Tuned settings", ("data", "strategy", "settings"), tuple(rows), note)


def _score(seeds: Seeds) -> str:
    return f"{seeds.shown('accuracy')} / {seeds.shown('loss')}" if seeds else ""


def _cost_table(study: Study, results: Results) -> Table:
    """Return what a stream's accuracies cost on the paper's cell: the question that a network engineer asks."""
    ends = results.of("fedavg", "stream").final("simulated_s").values()
    time, sent = cost_axis_of("simulated_s", max(ends, default=0.0)), cost_axis_of("bytes", 0.0)
    header = ["strategy", "settings", *(f"{time.name} to {target:g}" for target in TARGETS), f"{sent.name} a round"]
    rows: list[tuple[Value, ...]] = []
    for column in study.columns:
        for strategy in strategies_on("stream"):
            seeds = results.of(strategy, "stream", column=column)
            if seeds:
                rows.append((strategy, column, *_times(study, seeds, time), _sent_a_round(seeds, sent)))
    note = "On the paper's cell, until the accuracy was first measured (how many seeds got there)."
    return Table("time-to-accuracy", "Simulated time to an accuracy, streams", tuple(header), tuple(rows), note)


def _times(study: Study, seeds: Seeds, axis: CostAxis) -> list[str]:
    cells = []
    for target in TARGETS:
        spent = seeds.spent(axis.measure, target, study.scale.evaluate_every)
        text = shown([value / axis.unit for value in spent.values()], 2)
        cells.append(f"{text} ({len(spent)})" if spent else "")
    return cells


def _sent_a_round(seeds: Seeds, axis: CostAxis) -> float | None:
    total, rounds = seeds.mean(axis.measure), seeds.mean("round")
    return None if total is None or not rounds else total / axis.unit / rounds


def _figure(study: Study, column: Column, results: Results) -> Figure:
    panels = []
    for kind in KINDS:
        found = [(name, results.of(name, kind, column=column)) for name in strategies_on(kind)]
        for measure in ("accuracy", "loss"):
            lines = tuple(
                seeds.line(name, "round", measure, style="solid" if name.startswith("hfedms") else "dashed")
                for name, seeds in found
                if seeds
            )
            panels.append(Lines(f"{kind}, {column}", "round", measure, lines))
    return Figure(f"curves-{column}", f"All strategies, {study.words}", tuple(panels))


def _beats_all(name: str, kind: DataKind, column: Column, results: Results) -> Claim:
    ours = results.of(HFEDMS[kind], kind, column=column)
    parts = []
    for rival in BASELINES:
        theirs = results.of(rival, kind, column=column)
        told = "" if theirs else "not run"
        accuracy, loss = (paired(ours.final(each), theirs.final(each)) for each in ("accuracy", "loss"))
        parts.append(ClaimPart(f"more accurate than {rival}", accuracy, told))
        parts.append(ClaimPart(f"less loss than {rival}", tuple(-each for each in loss), told))
    missing = "" if ours else f"no runs on {kind} data with these settings"
    return Claim(name, column, tuple(parts), missing, divergences({HFEDMS[kind]: ours}))


def _tuned_race(study: Study, results: Results) -> list[Claim]:
    """Judge rounds, bytes and parameters with tuned settings; with defaults two other experiments do."""
    fedavg, static, dynamic = (
        Racer(name, results.of(name, "stream", column="tuned")) for name in ("fedavg", "hfedms-s", "hfedms-d")
    )
    race = Race(fedavg, (static, dynamic), study.scale.evaluate_every)
    by_parameters = parameters_claim("tuned", static.seeds, {"hfedms-d": dynamic.seeds})
    return [race.fewer_rounds("tuned"), race.less_traffic("tuned", static), by_parameters]


def _streams_are_harder(column: Column, results: Results) -> Claim:
    streams = {name: results.of(name, "stream", column=column).final("accuracy") for name in BASELINES}
    parts = []
    for name in BASELINES:
        values = paired(results.of(name, "static", column=column).final("accuracy"), streams[name])
        if values:
            parts.append(ClaimPart(f"{name} is worse on streams", values))
    seeds = sorted(set.intersection(*({*finals} for finals in streams.values())))
    if seeds:
        parts += _order_on_streams([{name: finals[seed] for name, finals in streams.items()} for seed in seeds])
    compared = len(parts) > 2
    return Claim("Q3", column, tuple(parts) if compared else (), "" if compared else "needs runs on both kinds of data")


def _order_on_streams(by_seed: list[dict[str, float]]) -> list[ClaimPart]:
    """Return who is best and who is worst, given each seed's accuracies."""
    adaptive, plain = [], []
    for accuracy in by_seed:
        second = sorted(accuracy[name] for name in _ADAPTIVE)[-2]
        adaptive.append(second - max(accuracy[name] for name in BASELINES if name not in _ADAPTIVE))
        best_plain = max(accuracy[name] for name in _PLAIN)
        plain.append(min(accuracy[name] for name in BASELINES if name not in _PLAIN) - best_plain)
    return [
        ClaimPart("the two best on streams are adaptive servers", tuple(adaptive)),
        ClaimPart("FedAvg and FedProx are the worst there", tuple(plain)),
    ]


BENCHMARKS = Experiment(
    "benchmarks", "table: accuracy and loss of all strategies", _trials, _outcome, ("Q1", "Q2", "Q3")
)
