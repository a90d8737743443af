"""The paper's efficiency table: rounds, bytes and hours until 70 % accuracy; published, in closed form, and measured.

The first half takes the paper's rounds and checks its arithmetic (accounting.py). The second half measures the rounds:
how long until a run is 70 % accurate or, where FedAvg never is, until it is as accurate as FedAvg at its end, each seed
by itself. The third asks whether "computation only takes a few minutes and can be ignored": the same rounds on the
processors that ship with this package.
"""

from collections.abc import Mapping
from functools import cache
from math import log
from statistics import fmean

from hfedms_sim.campaign import Trial
from hfedms_sim.exhibits import Bars, Figure, Table, Value
from hfedms_sim.paper import published
from hfedms_sim.paper.accounting import EfficiencyRow, efficiency
from hfedms_sim.paper.claims import Claim, Part
from hfedms_sim.paper.experiment import Experiment, Outcome, Results, Seeds, distinct, log_ratio
from hfedms_sim.paper.published import EFFICIENCY, Efficiency
from hfedms_sim.paper.study import Study
from hfedms_sim.scenario import DEVICES, load_scenario
from hfedms_sim.simulation import run
from hfedms_sim.units import SECONDS_PER_HOUR, TEBIBYTE

_DEFAULT_INTERVAL = 5
_ALIKE = 1.5  # "about as many rounds": within this factor


def trials_of_interval(study: Study, interval: int) -> list[Trial]:
    """Return HFedMS on streams with T = `interval`; HFedMS-S is T = 1."""
    if interval == 1:
        return study.trials("hfedms-s", "stream")
    changes = {} if interval == _DEFAULT_INTERVAL else {"strategy.interval": str(interval)}
    return study.trials("hfedms-d", "stream", changes)


def of_interval(results: Results, interval: int) -> Seeds:
    if interval == 1:
        return results.of("hfedms-s", "stream")
    changes = {} if interval == _DEFAULT_INTERVAL else {"interval": str(interval)}
    return results.of("hfedms-d", "stream", **changes)


def _trials(study: Study) -> list[Trial]:
    trials = study.trials("fedavg", "stream")
    for row in EFFICIENCY[1:]:
        trials += trials_of_interval(study, row.interval)
    return distinct(trials)


def _outcome(study: Study, results: Results) -> Outcome:
    found = {row: _seeds(results, row) for row in EFFICIENCY}
    target = target_of(found[EFFICIENCY[0]])
    spent = {
        row: {
            what: found[row].spent(what, target, study.scale.evaluate_every)
            for what in ("round", "bytes", "simulated_s")
        }
        for row in EFFICIENCY
    }
    tables = (*_closed_form_tables(efficiency()), _measured_table(study, spent, target), _computation_table())
    claims = (_fewer_rounds(study, spent), _fewer_bytes(study, spent))
    return Outcome(tables, (_figure(study, spent),), claims)


def target_of(fedavg: Seeds) -> dict[int, float]:
    """Return by seed the accuracy to reach: 0.70, or what FedAvg has at its end where not every seed gets there."""
    if len(fedavg.spent("round", published.TARGET_ACCURACY)) == len(fedavg.by_seed):
        return dict.fromkeys(fedavg.by_seed, published.TARGET_ACCURACY)
    return fedavg.final("accuracy")


def _seeds(results: Results, row: Efficiency) -> Seeds:
    return results.of("fedavg", "stream") if row.strategy == "fedavg" else of_interval(results, row.interval)


def _closed_form_tables(rows: tuple[EfficiencyRow, ...]) -> tuple[Table, Table]:
    agreeing = sum(row.agreeing_figures for row in rows)
    note = f"{agreeing} of {2 * len(rows)} published figures reproduced at their printed precision."
    by_bytes = tuple(
        (*_name(row), row.published.tebibytes, row.paper.tebibytes, row.exact.tebibytes, row.simulated.tebibytes,
         int(row.simulated.total_bytes - row.exact.total_bytes), row.simulated.report_bytes)
        for row in rows
    )  # fmt: skip
    by_hours = tuple(
        (*_name(row), row.published.hours, row.paper.hours, row.exact.hours, row.simulated.hours,
         row.simulated.seconds / row.exact.seconds - 1)
        for row in rows
    )  # fmt: skip
    start = ("strategy", "T", "rounds", "published", "paper's accounting", "exact", "simulated")
    return (
        Table("efficiency-bytes", "TiB until 70 % accuracy, by the paper's rounds",
              (*start, "bytes, simulated less exact", "bytes of reports"), by_bytes, note),
        Table("efficiency-hours", "Hours until 70 % accuracy, by the paper's rounds",
              (*start, "simulated to exact, less 1"), by_hours, note),
    )  # fmt: skip


def _name(row: EfficiencyRow) -> tuple[str, int, int]:
    return row.published.strategy, row.published.interval, row.published.rounds


Spent = Mapping[Efficiency, Mapping[str, Mapping[int, float]]]


def _measured_table(study: Study, spent: Spent, target: Mapping[int, float]) -> Table:
    fedavg = EFFICIENCY[0]
    rows = []
    for row in EFFICIENCY:
        measured = [_mean(spent[row][what]) for what in ("round", "bytes", "simulated_s")]
        ratio = _ratio(spent[row]["round"], spent[fedavg]["round"])
        rows.append((
            row.strategy, row.interval, row.rounds, measured[0], row.rounds / fedavg.rounds, ratio,
            row.tebibytes, None if measured[1] is None else measured[1] / TEBIBYTE,
            row.hours, None if measured[2] is None else measured[2] / SECONDS_PER_HOUR,
            len(spent[row]["round"]),
        ))  # fmt: skip
    header = (
        "strategy", "T", "rounds, published", "rounds, measured", "to FedAvg, published", "to FedAvg, measured",
        "TiB, published", "TiB, measured", "hours, published", "hours, measured", "seeds that got there",
    )  # fmt: skip
    where = ", ".join(f"{value:.3f}" for value in dict.fromkeys(target.values())) or "not known yet"
    note = f"Target accuracy {where}. Published: FEMNIST, the paper's CNN; here {study.words}. Means over seeds."
    return Table("efficiency-measured", "Measured rounds to the target, and what they cost", header, tuple(rows), note)


def _mean(values: Mapping[int, float]) -> float | None:
    return fmean(values.values()) if values else None


def _ratio(ours: Mapping[int, float], theirs: Mapping[int, float]) -> float | None:
    both = [ours[seed] / theirs[seed] for seed in ours if seed in theirs]
    return fmean(both) if both else None


@cache
def _computation_table() -> Table:
    """Play the paper's rounds on every shipped processor; `instant` is the paper's assumption."""
    hours: dict[str, dict[str, float]] = {}
    for device in DEVICES:
        for row in (EFFICIENCY[0], EFFICIENCY[3]):
            scenario = load_scenario(
                "paper-stream", strategy=row.strategy, rounds=10, overrides=[f"compute.device={device}"]
            )
            simulated_s = run(scenario, timing_only=True).summary["simulated_s"]
            hours.setdefault(device, {})[row.strategy] = simulated_s / SECONDS_PER_HOUR
    instant = hours["instant"]
    rows: list[tuple[Value, ...]] = [
        (device, *(part for name in instant for part in (found[name], found[name] / instant[name] - 1)))
        for device, found in hours.items()
    ]
    header = ("processor", *(part for name in instant for part in (f"{name}, hours", f"{name}, more than instant")))
    note = "Ten rounds of paper-stream, timing only. A sensor computes while others send: hours do not simply add up."
    return Table("computation", "Can computation be ignored?", header, tuple(rows), note)


def _figure(study: Study, spent: Spent) -> Figure:
    labels = tuple(f"{row.strategy} T={row.interval}" for row in EFFICIENCY)
    fedavg = EFFICIENCY[0]
    panels = []
    for title, what, printed in (
        ("rounds", "round", [row.rounds / fedavg.rounds for row in EFFICIENCY]),
        ("bytes", "bytes", [row.tebibytes / fedavg.tebibytes for row in EFFICIENCY]),
        ("hours", "simulated_s", [row.hours / fedavg.hours for row in EFFICIENCY]),
    ):
        measured = tuple(_ratio(spent[row][what], spent[fedavg][what]) for row in EFFICIENCY)
        panels.append(
            Bars(
                f"{title} to the target",
                "relative to FedAvg",
                labels,
                (("published", tuple(printed)), ("measured", measured)),
            )
        )
    return Figure("efficiency", f"Cost of the target accuracy, {study.words}", tuple(panels), columns=3)


def _fewer_rounds(study: Study, spent: Spent) -> Claim:
    fedavg, ceiling = spent[EFFICIENCY[0]]["round"], float(study.scale.rounds)
    parts = []
    for row in (EFFICIENCY[1], EFFICIENCY[3]):
        values = log_ratio(spent[row]["round"], fedavg, ceiling)
        printed = f"published {row.rounds} of {EFFICIENCY[0].rounds} rounds"
        parts.append(
            Part(
                f"{row.strategy}: ln(half of FedAvg's rounds / its own)",
                tuple(each - log(2) for each in values),
                printed,
            )
        )
    return Claim("Q4", "defaults", tuple(parts))


def _fewer_bytes(study: Study, spent: Spent) -> Claim:
    fedavg, static, *dynamic = EFFICIENCY
    five = EFFICIENCY[3]
    parts = []
    for what, word in (("bytes", "bytes"), ("simulated_s", "hours")):
        parts.append(_less(f"hfedms-s: less {word} than fedavg", spent[static][what], spent[fedavg][what]))
        parts += [
            _less(f"T = {row.interval}: less {word} than hfedms-s", spent[row][what], spent[static][what])
            for row in dynamic
        ]
        parts += [
            _less(f"T = 5: less {word} than T = {row.interval}", spent[five][what], spent[row][what])
            for row in dynamic
            if row is not five
        ]
    alike = tuple(log(_ALIKE) - abs(each) for each in log_ratio(spent[five]["round"], spent[static]["round"]))
    parts.append(Part(f"T = 5 needs about as many rounds as hfedms-s (within a factor of {_ALIKE})", alike))
    return Claim("Q5", "defaults", tuple(parts))


def _less(text: str, ours: Mapping[int, float], theirs: Mapping[int, float]) -> Part:
    return Part(f"{text} (ln of the ratio)", log_ratio(ours, theirs))


EFFICIENCY_EXPERIMENT = Experiment(
    "efficiency", "table: bytes and hours until 70 % accuracy", _trials, _outcome, ("Q4", "Q5")
)
