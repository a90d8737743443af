"""What each difference between the paper's text and its authors' program is worth, switched one at a time.

HFedMS-D, HFedMS-S and FedAvg on streams as the text has them, with one difference each, and with all of them at once;
and each of these two readings with dark ink, which is LEAF's and neither's, because it delays the first learning.
Rounds are those to one target for all, that of the text's race (race.py). Not one of the paper's exhibits: it asks
which reading gives the published gap.
"""

from hfedms_sim.campaign import Trial
from hfedms_sim.exhibits import Bars, Figure, Table
from hfedms_sim.paper import published
from hfedms_sim.paper.claims import paired
from hfedms_sim.paper.experiment import Experiment, ExperimentOutcome, Results, Seeds, mean_of, shown
from hfedms_sim.paper.experiments.race import Race, Racer
from hfedms_sim.paper.readings import DARK_INK, Difference, differences_of
from hfedms_sim.paper.study import Study

STRATEGIES = ("fedavg", "hfedms-s", "hfedms-d")
_ALL, _ALL_DARK = "all of them (program)", "program, and dark ink"


def _changes(differences: list[Difference]) -> dict[str, str]:
    return {each.key: each.value for each in differences}


def _variants(strategy: str) -> dict[str, dict[str, str]]:
    differences = list(differences_of(strategy, "stream"))
    alone = {each.name: _changes([each]) for each in (*differences, DARK_INK)}
    return {"text": {}, **alone, _ALL: _changes(differences), _ALL_DARK: _changes([*differences, DARK_INK])}


def _trials(study: Study) -> list[Trial]:
    return [
        trial
        for strategy in STRATEGIES
        for changes in _variants(strategy).values()
        for trial in study.trials(strategy, "stream", changes)
    ]


def _outcome(study: Study, results: Results) -> ExperimentOutcome:
    found = {
        (strategy, name): results.of(strategy, "stream", changes)
        for strategy in STRATEGIES
        for name, changes in _variants(strategy).items()
    }
    race = Race(Racer("fedavg", found["fedavg", "text"]), (), study.scale.evaluate_every)
    rows = []
    for (strategy, name), seeds in found.items():
        gains = paired(seeds.final("accuracy"), found[strategy, "text"].final("accuracy"))
        rounds = race.spent(Racer(name, seeds), "rounds")
        rows.append((
            strategy, name, seeds.shown("accuracy"), seeds.shown("loss"), shown(list(gains)),
            mean_of(rounds), len(rounds),
        ))  # fmt: skip
    header = (
        "strategy", "difference from the text", "accuracy", "loss", "accuracy less the text's", "rounds to the target",
        "seeds there",
    )  # fmt: skip
    gap = published.BENCHMARKS["hfedms-d"]["stream"].accuracy - published.BENCHMARKS["fedavg"]["stream"].accuracy
    here = f"{_gap(found, 'text')} by the text, {_gap(found, _ALL)} by the program"
    target = f"Target accuracy {race.target_words}; seeds there: how many got to it"
    note = f"{study.words}. {target}. Published: HFedMS-D {gap:+.3f} beyond FedAvg; here {here}."
    return ExperimentOutcome(
        (Table("readings", "Text and program", header, tuple(rows), note),), (_figure(study, found),)
    )


def _gap(found: dict[tuple[str, str], Seeds], name: str) -> str:
    gaps = paired(found["hfedms-d", name].final("accuracy"), found["fedavg", name].final("accuracy"))
    return shown(list(gaps)) or "unknown"


def _figure(study: Study, found: dict[tuple[str, str], Seeds]) -> Figure:
    panels = []
    for strategy in STRATEGIES:
        names = [name for owner, name in found if owner == strategy]
        values = tuple(found[strategy, name].mean("accuracy") for name in names)
        panels.append(Bars(strategy, "final accuracy", tuple(names), (("accuracy", values),)))
    return Figure("readings", f"One difference at a time, {study.words}", tuple(panels), columns=1)


READING_DIFFERENCES = Experiment(
    "readings", "beyond the paper: its text and its program, difference by difference", _trials, _outcome
)
