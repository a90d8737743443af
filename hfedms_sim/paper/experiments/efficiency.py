"""The paper's efficiency table: rounds, bytes and hours until 70 % accuracy; published, in closed form, and measured.

The first half takes the paper's rounds and checks its arithmetic (accounting.py). The second half measures the rounds
(race.py). The third asks whether "computation only takes a few minutes and can be ignored": the same rounds on the
processors that ship with this package.
"""

from collections.abc import Mapping
from functools import cache
from statistics import fmean

from hfedms_sim.campaign import Trial
from hfedms_sim.exhibits import Bars, Figure, Table, Value
from hfedms_sim.loading import load_scenario
from hfedms_sim.paper.experiment import Experiment, ExperimentOutcome, Results, Seeds, distinct, mean_of
from hfedms_sim.paper.experiments.accounting import EfficiencyRow, efficiency
from hfedms_sim.paper.experiments.race import Measure, Race, Racer
from hfedms_sim.paper.published import EFFICIENCY, Efficiency
from hfedms_sim.paper.study import Study
from hfedms_sim.scenario import DEVICES
from hfedms_sim.simulation import run
from hfedms_sim.units import SECONDS_PER_HOUR, TEBIBYTE

_DEFAULT_INTERVAL = 5
_BEST = EFFICIENCY[3]  # T = 5
_MEASURES: tuple[Measure, ...] = ("rounds", "bytes", "hours")


def hfedms_with(interval: int) -> tuple[str, dict[str, str]]:
    """Return the variant of HFedMS that has T = `interval`, and the changes to its settings; HFedMS-S is T = 1."""
    if interval == 1:
        return "hfedms-s", {}
    return "hfedms-d", {} if interval == _DEFAULT_INTERVAL else {"strategy.interval": str(interval)}


def trials_of_interval(study: Study, interval: int) -> list[Trial]:
    strategy, changes = hfedms_with(interval)
    return study.trials(strategy, "stream", changes)


def of_interval(results: Results, interval: int) -> Seeds:
    strategy, changes = hfedms_with(interval)
    return results.of(strategy, "stream", changes)


def _trials(study: Study) -> list[Trial]:
    trials = study.trials("fedavg", "stream")
    for row in EFFICIENCY[1:]:
        trials += trials_of_interval(study, row.interval)
    return distinct(trials)


def _outcome(study: Study, results: Results) -> ExperimentOutcome:
    racers = {row: Racer(_label(row), _seeds(results, row)) for row in EFFICIENCY}
    fedavg, *hfedms = racers.values()
    race = Race(fedavg, hfedms, study.scale.evaluate_every)
    tables = (*_closed_form_tables(efficiency()), _measured_table(study, race, racers), _computation_table())
    claims = (race.fewer_rounds("defaults"), race.less_traffic("defaults", hfedms[0], racers[_BEST]))
    return ExperimentOutcome(tables, (_figure(study, race, racers),), claims)


def _label(row: Efficiency) -> str:
    return row.strategy if row.interval == 1 else f"{row.strategy} T={row.interval}"


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


def _measured_table(study: Study, race: Race, racers: Mapping[Efficiency, Racer]) -> Table:
    fedavg, target = EFFICIENCY[0], race.target
    rows: list[tuple[Value, ...]] = []
    for row, racer in racers.items():
        rounds, sent, hours = (race.spent(racer, measure) for measure in _MEASURES)
        as_run = [racer.seeds.spent(each, target, race.every) for each in ("bytes", "simulated_s")]
        rows.append((
            row.strategy, row.interval, row.rounds, mean_of(rounds), row.rounds / fedavg.rounds,
            _ratio(rounds, race.spent(race.fedavg, "rounds")),
            row.tebibytes, mean_of(sent, TEBIBYTE), row.hours, mean_of(hours),
            mean_of(as_run[0], TEBIBYTE), mean_of(as_run[1], SECONDS_PER_HOUR), len(rounds),
        ))  # fmt: skip
    header = (
        "strategy", "T", "rounds, published", "rounds, measured", "to FedAvg, published", "to FedAvg, measured",
        "TiB, published", "TiB, measured", "hours, published", "hours, measured", "TiB as run", "hours as run", "seeds",
    )  # fmt: skip
    note = (
        f"Target accuracy {race.target_words}; seeds: how many got there. Measured TiB and hours: so many rounds with"
        f" the paper's network; as run: with {study.scale.model}. Published: FEMNIST; here {study.words}. Means over"
        " seeds."
    )
    return Table("efficiency-measured", "Measured rounds to the target, and what they cost", header, tuple(rows), note)


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


def _figure(study: Study, race: Race, racers: Mapping[Efficiency, Racer]) -> Figure:
    labels = tuple(_label(row) for row in racers)
    fedavg = EFFICIENCY[0]
    printed = {
        "rounds": [row.rounds / fedavg.rounds for row in racers],
        "bytes": [row.tebibytes / fedavg.tebibytes for row in racers],
        "hours": [row.hours / fedavg.hours for row in racers],
    }
    panels = []
    for measure in _MEASURES:
        ratios = (_ratio(race.spent(racer, measure), race.spent(race.fedavg, measure)) for racer in racers.values())
        series = (("published", tuple(printed[measure])), ("measured", tuple(ratios)))
        panels.append(Bars(f"{measure} to the target", "relative to FedAvg", labels, series))
    return Figure("efficiency", f"Cost of the target accuracy, {study.words}", tuple(panels), columns=3)


EFFICIENCY_EXPERIMENT = Experiment(
    "efficiency", "table: bytes and hours until 70 % accuracy", _trials, _outcome, ("Q4", "Q5")
)
