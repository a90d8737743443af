"""Beyond the paper: how far hfedms-plus, by its own rule, is ahead of every tuned rival, in simulated hours.

    where      streams on the paper's cell, on LTE-M and on NB-IoT without multicast; streams on the paper's cell while
               5 % of the sensors are out of reach (availability.py, long outages); static data on the paper's cell
    who        hfedms-plus as it is (int8) and with plain numbers; every strategy with tuned settings, the two best
               baselines and HFedMS-S also with int8. In the last two places with plain numbers only: hfedms-plus, the
               best baseline and HFedMS-S
    to what    an accuracy of 0.7, and seed by seed the best that any rival with the same kind of numbers has within
               its rounds

The best rival's hours are the least of all rivals', seed by seed and target by target, which is harder to beat than
any one of them. hfedms-plus with plain numbers is compared with rivals that have plain numbers, hfedms-plus as it is
with all of them. Everybody is looked at in every second round.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import NamedTuple

from hfedms_sim.campaign import Trial
from hfedms_sim.exhibits import Figure, Lines, Table, Value
from hfedms_sim.paper.experiment import Experiment, ExperimentOutcome, Results, Seeds, distinct, mean_of
from hfedms_sim.paper.experiments.beyond.availability import Case, changes_of, times_of
from hfedms_sim.paper.experiments.beyond.contender import Contender, Hours, best_rival, hours_of, hours_to
from hfedms_sim.paper.experiments.tuning import strategies_on
from hfedms_sim.paper.published import TARGET_ACCURACY, DataKind
from hfedms_sim.paper.scales import Scale
from hfedms_sim.paper.study import Study
from hfedms_sim.units import SECONDS_PER_HOUR

RADIOS = ("lte-cat-m1-hd", "nb-iot-nb1")
AVAILABLE_PERCENT = 95
EVERY = {"evaluate_every": "2"}
_RATE = ("strategy.learning_rate", "0.05")  # the scale's rate is the paper's; this is hfedms-plus's own
PLUS = Contender("hfedms-plus", "hfedms-plus", settings=(_RATE,))
PLAIN_PLUS = Contender("hfedms-plus, plain numbers", "hfedms-plus", settings=(_RATE, ("strategy.compression", "{}")))
_INT8 = ("strategy.compression", "{downlink: int8, uplink: int8}")
_INT8_CHAINS = ("strategy.compression", "{downlink: int8, relay: int8, uplink: int8}")
_GIGABYTE = 1e9


class Place(NamedTuple):
    """Where everybody is played."""

    label: str
    kind: DataKind
    changes: tuple[tuple[str, str], ...] = ()
    is_whole: bool = True
    """Whether everybody is played there, or only the best, with plain numbers."""


def rounds_of(scale: Scale) -> int:
    return 10 if scale.name == "smoke" else 100


def places_of(study: Study) -> tuple[Place, ...]:
    radios = (Place(name, "stream", (("cells.0.profile", name),)) for name in RADIOS)
    outages = changes_of(study, times_of(study), Case(PLUS, "long", AVAILABLE_PERCENT))
    faults = tuple((key, value) for key, value in outages.items() if key.startswith(("faults", "recovery")))
    places = (
        Place("the paper's cell", "stream"),
        *radios,
        Place(f"the paper's cell, {AVAILABLE_PERCENT} % available", "stream", faults, is_whole=False),
        Place("static data", "static", is_whole=False),
    )
    return tuple(place for place in places if place.kind in study.kinds)


def _ours_at(place: Place) -> tuple[Contender, ...]:
    return (PLAIN_PLUS, PLUS) if place.is_whole else (PLAIN_PLUS,)


def rivals_at(study: Study, place: Place) -> tuple[Contender, ...]:
    """Return the rivals that send plain numbers, the best baseline first."""
    best = best_rival(study, place.kind)
    names = strategies_on(place.kind) if place.is_whole else ("hfedms-s",)
    others = (Contender(f"{name}, tuned", name, "tuned") for name in names if study.tuned.has(name, place.kind))
    return (best, *(each for each in others if each != best and "tuned" in study.columns))


def compressed_at(study: Study, place: Place) -> tuple[Contender, ...]:
    """Return the rivals that send int8: the two best baselines and HFedMS-S, as far as they were tuned."""
    if not place.is_whole:
        return ()
    best, *others = rivals_at(study, place)
    second = study.tuned.rivals(place.kind)[1]
    legs = {second: _INT8, "hfedms-s": _INT8_CHAINS}
    sent = [(best, _INT8), *((each, legs[each.strategy]) for each in others if each.strategy in legs)]
    return tuple(each._replace(label=f"{each.label}, int8", settings=(*each.settings, int8)) for each, int8 in sent)


def _seeds(study: Study, place: Place) -> tuple[int, ...]:
    return study.tuned_seeds(place.kind) or study.seeds


def _changes(place: Place, contender: Contender) -> dict[str, str]:
    return EVERY | dict(place.changes) | dict(contender.settings)


def _trials(study: Study) -> list[Trial]:
    trials: list[Trial] = []
    for place in places_of(study):
        for each in (*_ours_at(place), *compressed_at(study, place), *rivals_at(study, place)):
            changes = _changes(place, each)
            trials += each.trials(study, place.kind, changes, rounds_of(study.scale), _seeds(study, place))
    return distinct(trials)


@dataclass(frozen=True)
class Standings:
    """What everybody came to in one place."""

    place: Place
    ours: Mapping[Contender, Seeds]
    compressed: Mapping[Contender, Seeds]
    rivals: Mapping[Contender, Seeds]

    def best_accuracy(self, ours: Contender) -> dict[int, float]:
        """Return by seed the best accuracy that any rival has that sends the same kind of numbers."""
        best: dict[int, float] = {}
        for seeds in (self.compressed if ours == PLUS else self.rivals).values():
            for seed, result in seeds.by_seed.items():
                measured = (row.accuracy for row in result.curve.rows if row.accuracy is not None)
                best[seed] = max((best.get(seed, 0.0), *measured))
        return best

    def lead(self, ours: Contender, target: Mapping[int, float] | float) -> str:
        """Return the hours of hfedms-plus in those of the best rival."""
        rivals = [*self.rivals.values(), *(self.compressed.values() if ours == PLUS else ())]
        return Hours.of(self.ours[ours], target).relative_to(Hours.least(Hours.of(each, target) for each in rivals))


def standings_of(study: Study, results: Results, place: Place) -> Standings:
    def found(contenders: tuple[Contender, ...]) -> dict[Contender, Seeds]:
        return {each: each.found(results, place.kind, _changes(place, each)) for each in contenders}

    return Standings(place, found(_ours_at(place)), found(compressed_at(study, place)), found(rivals_at(study, place)))


def _outcome(study: Study, results: Results) -> ExperimentOutcome:
    standings = [standings_of(study, results, place) for place in places_of(study)]
    return ExperimentOutcome((_answers(study, standings), _table(study, standings)), (_figure(study, standings),))


def _words(study: Study) -> str:
    return f"the first {rounds_of(study.scale)} rounds of {study.words}"


def _answers(study: Study, standings: list[Standings]) -> Table:
    rows: list[tuple[Value, ...]] = []
    for each in standings:
        for ours in each.ours:
            best = each.best_accuracy(ours)
            leads = (each.lead(ours, target) for target in (TARGET_ACCURACY, best))
            rows.append((each.place.label, "int8" if ours == PLUS else "plain", *leads, mean_of(best), len(best)))
    header = (
        "where", "numbers", f"hours to {TARGET_ACCURACY}, of the best rival's",
        "hours to the rivals' best accuracy, of the best rival's", "the rivals' best accuracy", "seeds",
    )  # fmt: skip
    note = (
        "Ratios of simulated hours with 95 % intervals; the best rival is the one with the least hours, seed by seed."
        " 'int8': rivals are those with plain numbers, the two best baselines and HFedMS-S with int8."
        f" {_words(study).capitalize()}."
    )
    return Table("lead-answers", "How far hfedms-plus is ahead", header, tuple(rows), note)


def _table(study: Study, standings: list[Standings]) -> Table:
    rows: list[tuple[Value, ...]] = []
    for standing in standings:
        best = {ours: standing.best_accuracy(ours) for ours in standing.ours}
        for contender, seeds in {**standing.ours, **standing.compressed, **standing.rivals}.items():
            alike = PLUS if contender == PLUS or contender in standing.compressed else PLAIN_PLUS
            reached, at_best = hours_to(seeds, TARGET_ACCURACY), hours_to(seeds, best[alike])
            sent, joules = (seeds.spent(measure, TARGET_ACCURACY) for measure in ("bytes", "energy_j"))
            rows.append((
                standing.place.label, contender.label, seeds.shown("accuracy"), mean_of(hours_of(seeds)),
                mean_of(reached), mean_of(at_best), mean_of(sent, _GIGABYTE), mean_of(joules),
                len(reached), len(at_best),
            ))  # fmt: skip
    header = (
        "where", "strategy", "accuracy", "hours", f"hours to {TARGET_ACCURACY}", "hours to the rivals' best",
        f"GB to {TARGET_ACCURACY}", f"joules to {TARGET_ACCURACY}", f"seeds at {TARGET_ACCURACY}", "seeds at the best",
    )  # fmt: skip
    meaning = "Means over the seeds that got there; the rivals' best is that of rivals with the same kind of numbers."
    note = f"{meaning} {_words(study).capitalize()}."
    return Table("lead", "hfedms-plus and its rivals", header, tuple(rows), note)


def _figure(study: Study, standings: list[Standings]) -> Figure:
    panels = []
    for each in standings:
        best, *others = each.rivals.items()
        chained = [(rival, seeds) for rival, seeds in others if rival.strategy.startswith("hfedms")]
        shown = [*each.ours.items(), *each.compressed.items(), best, *chained]
        lines = (who.line(rival.label, "simulated_s", "accuracy", SECONDS_PER_HOUR) for rival, who in shown if who)
        panels.append(Lines(each.place.label, "simulated hours", "accuracy", tuple(lines), log_x=True))
    return Figure("lead", f"hfedms-plus and its rivals, {_words(study)}", tuple(panels))


LEAD = Experiment("lead", "beyond the paper: hfedms-plus against every tuned rival", _trials, _outcome)
