"""Beyond the paper: what each part of hfedms-plus brings, by changing one part at a time.

On streams, where chains are long (the paper's cell) and where they are short (LTE-M, whose cells carry many transfers
at once). The base is hfedms-plus by its rule, but with plain numbers on the air: int8 makes every round four times as
short, whatever else there is, and is a row of its own. What hfedms-plus lacks altogether (memory, longer calibration,
groups that grow) is played as HFedMS-D, whose rate stays as it is, with the other settings of the row "calibration in
every cycle, constant rate", and is to be compared with that row. All are looked at in every second round, the end of a
cycle of two.
"""

from typing import NamedTuple

from hfedms_sim.campaign import Trial
from hfedms_sim.exhibits import Figure, Lines, Table, Value
from hfedms_sim.paper.experiment import Experiment, ExperimentOutcome, Results, Seeds, mean_of
from hfedms_sim.paper.experiments.beyond.contender import Contender, Hours, hours_of, hours_to
from hfedms_sim.paper.scales import Scale
from hfedms_sim.paper.study import Study
from hfedms_sim.units import SECONDS_PER_HOUR

TARGETS = (0.6, 0.7, 0.75, 0.77)
_JUDGED = (0.7, 0.75)
_EVERY = {"evaluate_every": "2"}
_PLAIN = {"strategy.learning_rate": "0.05", "strategy.compression": "{}"}
_CHAINS = {"strategy.alpha": "0", "strategy.beta": "4", "strategy.interval": "2", "strategy.scatter": "broadcast"}
"""What hfedms-plus does on the paper's cell in its first cycles, said to HFedMS-D."""


def _plus(label: str, **changed: str) -> Contender:
    settings = _PLAIN | {f"strategy.{key}": value for key, value in changed.items()}
    return Contender(label, "hfedms-plus", settings=tuple(settings.items()))


def _dynamic(label: str, **changed: str) -> Contender:
    settings = _PLAIN | _CHAINS | {f"strategy.{key}": value for key, value in changed.items()}
    return Contender(label, "hfedms-d", settings=tuple(settings.items()))


class Place(NamedTuple):
    """Where parts are changed, and which: what is as the rule has it comes first."""

    table: str
    where: str
    changes: tuple[tuple[str, str], ...]
    variants: tuple[Contender, ...]
    drawn: int
    """How many of the variants are in the figure."""


BASE = _plus("by rule, plain numbers")
_CALIBRATING = {"calibrated_cycles": "1000000"}
_LONG_CHAINS = (
    BASE,
    _plus("int8 on every leg", compression="{downlink: int8, relay: int8, uplink: int8}"),
    _plus("int8, but plain relays", compression="{downlink: int8, uplink: int8}"),
    _plus("constant rate", halving_sensors="null"),
    _plus("7 groups, two chains", groups="7"),
    _plus("10 groups, three chains", groups="10"),
    _plus("40 groups, twelve chains", groups="40"),
    _plus("and no momentum at the server", groups="40", server_momentum="0"),
    _plus("10 groups, constant rate", groups="10", halving_sensors="null"),
    _plus("scatter to each by itself", scatter="unicast"),
    _plus("no calibration, T = 1", cycle="1"),
    _plus("T = 3 in the first ten cycles", cycle="3"),
    _plus("calibration in every cycle", **_CALIBRATING),
    _plus("calibration in every cycle, constant rate", **_CALIBRATING, halving_sensors="null"),
    _dynamic("and with a memory (SCC)"),
    _dynamic("and in three epochs", scc="off", calibration_epochs="3"),
    _dynamic("and in groups that grow, ten at first", scc="off", alpha="2", beta="10"),
    _plus("two epochs", epochs="2"),
    _plus("rate 0.03", learning_rate="0.03"),
    _plus("rate 0.1", learning_rate="0.1"),
)
_MEAN = {"server": "momentum", "server_momentum": "0", "cycle": "1"}
_SHORT_CHAINS = (
    BASE,
    _plus("the mean, no Adam at the server", **_MEAN),
    _plus("and momentum at the server", **_MEAN | {"server_momentum": "auto"}),
    _plus("32 groups", groups="32"),
    _plus("128 groups", groups="128"),
    _plus("T = 2 in the first ten cycles", cycle="2"),
    _plus("constant rate", halving_sensors="null"),
    _plus("Adam's rate 0.0075", server_learning_rate="0.0075"),
    _plus("Adam's rate 0.03", server_learning_rate="0.03"),
)
_RADIO = "lte-cat-m1-hd"
PLACES = (
    Place("ablation", "the paper's cell", (), _LONG_CHAINS, drawn=7),
    Place("ablation-short-chains", _RADIO, (("cells.0.profile", _RADIO),), _SHORT_CHAINS, drawn=6),
)


def rounds_of(scale: Scale) -> int:
    return 12 if scale.name == "smoke" else 60


def _changes(place: Place, variant: Contender) -> dict[str, str]:
    return _EVERY | dict(place.changes) | dict(variant.settings)


def _trials(study: Study) -> list[Trial]:
    rounds = rounds_of(study.scale)
    return [
        trial
        for place in PLACES
        for each in place.variants
        for trial in each.trials(study, "stream", _changes(place, each), rounds)
    ]


def _outcome(study: Study, results: Results) -> ExperimentOutcome:
    tables, panels = [], []
    for place in PLACES:
        found = {variant: variant.found(results, "stream", _changes(place, variant)) for variant in place.variants}
        tables.append(_table(study, place, found))
        drawn = [(each.label, found[each]) for each in place.variants[: place.drawn] if found[each]]
        lines = tuple(seeds.line(label, "simulated_s", "accuracy", SECONDS_PER_HOUR) for label, seeds in drawn)
        panels.append(Lines(place.where, "simulated hours", "accuracy", lines, log_x=True))
    figure = Figure("ablation", f"hfedms-plus, part by part, {_words(study)}", tuple(panels))
    return ExperimentOutcome(tuple(tables), (figure,))


def _words(study: Study) -> str:
    return f"the first {rounds_of(study.scale)} rounds of {study.words}"


def _table(study: Study, place: Place, found: dict[Contender, Seeds]) -> Table:
    rows: list[tuple[Value, ...]] = []
    for variant, seeds in found.items():
        relative = ("" if variant == BASE else _relative(seeds, found[BASE], target) for target in _JUDGED)
        rows.append((
            variant.label, *(_hours(seeds, target) for target in TARGETS), *relative, seeds.shown("accuracy"),
            mean_of(hours_of(seeds)),
        ))  # fmt: skip
    header = (
        "variant", *(f"hours to {target}" for target in TARGETS),
        *(f"hours to {target}, of the rule's" for target in _JUDGED), "accuracy", "hours",
    )  # fmt: skip
    note = (
        "Simulated hours until an accuracy was first measured, means over seeds; a ratio has its 95 % interval."
        f" What begins with 'and' is to be compared with the row above that does not. {_words(study).capitalize()}."
    )
    return Table(place.table, f"What each part of hfedms-plus brings on {place.where}", header, tuple(rows), note)


def _hours(seeds: Seeds, target: float) -> float | None:
    """Return the mean hours, if all seeds got there."""
    reached = hours_to(seeds, target)
    return mean_of(reached) if len(reached) == len(seeds.by_seed) else None


def _relative(seeds: Seeds, base: Seeds, target: float) -> str:
    return Hours.of(seeds, target).relative_to(Hours.of(base, target))


ABLATION = Experiment("ablation", "beyond the paper: what each part of hfedms-plus brings", _trials, _outcome)
