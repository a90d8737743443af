"""Beyond the paper: accuracy and hours of HFedMS and FedAvg while sensors are out of reach part of the time.

The radio of every sensor goes out of reach again and again (`sensor-outage`, docs/faults.md): down for an exponential
time with mean d, up for one with mean d a / (1 - a), so that its availability is a. d has two lengths:

    short    a tenth of a hop, which is one model up and one model down, alone on the paper's cell
    long     ten rounds of FedAvg without faults: floor(kappa K) hops, one after the other

One timeout for all strategies, fixed before anything was played: WHOEVER WAITS GIVES UP AFTER TEN HOPS. That is a
hundred times a short outage, so that nobody is given up for one, and about a hundredth of a long one at the paper's
size, so that nobody sits one out: the question is what outages cost, not how lucky a timeout was. It is in seconds of
the cell and knows no strategy. What a wait costs is each strategy's own: FedAvg's participants wait side by side,
those of a chain one after the other, all wait together when the roll is called. Retries are the default.

The target is FedAvg's accuracy at the end at 100 %, seed by seed. FedAvg wins below the availability at which its mean
lead over the seeds changes sign, on a straight line between the two measured ones; hours are compared by the
logarithm of their ratio, with a bound for who never got there (experiment.log_ratio); where the bound decides nothing
that availability is left out.

Left out: outages that hit several sensors at once, and availability that differs between sensors.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise, product
from statistics import fmean
from typing import Literal, NamedTuple, get_args

from hfedms_sim.campaign import Trial
from hfedms_sim.closed_form import Traffic, exact_seconds
from hfedms_sim.exhibits import Figure, Line, Lines, Table, Value
from hfedms_sim.models import spec_of
from hfedms_sim.paper.experiment import Experiment, ExperimentOutcome, Results, Seeds, distinct, log_ratio, mean_of
from hfedms_sim.paper.experiments.beyond.contender import Contender, best_rival, hours_of
from hfedms_sim.paper.scales import Scale
from hfedms_sim.paper.study import Study
from hfedms_sim.units import SECONDS_PER_HOUR, format_seconds

Outage = Literal["short", "long"]
OnGap = Literal["skip", "reorder"]
Measure = Literal["hours to the target", "accuracy at the end"]

TIMEOUT_HOPS = 10
SHORT_HOPS, LONG_ROUNDS = 0.1, 10
HFEDMS = ("hfedms-d", "hfedms-s")
_FEDAVG = "fedavg"
_DRAWN = ("accuracy", "hours", "hours to the target")
_OUTAGE_S = 8e-4  # processor seconds of an outage of a transfer, played twice: once to see who learns from whom
_CHAINS_SHARE = 0.3  # of FedAvg's transfers at the same time: chains that HFedMS has side by side, at most


class Grid(NamedTuple):
    """What is played at a scale. Detours are looked at where there are gaps."""

    rounds: int
    percents: tuple[int, ...]
    detour_percents: tuple[int, ...]
    outages: tuple[Outage, ...]


_SMOKE = Grid(10, (100, 80), (80,), ("long",))
_WHOLE = Grid(100, (100, 99, 95, 90, 80), (95, 90, 80), get_args(Outage))


def grid_of(scale: Scale) -> Grid:
    return _SMOKE if scale.name == "smoke" else _WHOLE


class Times(NamedTuple):
    """How long things take without faults, by the closed form."""

    hop_s: float
    round_s: float

    @property
    def timeout_s(self) -> float:
        return TIMEOUT_HOPS * self.hop_s

    def down_s(self, outage: Outage) -> float:
        return SHORT_HOPS * self.hop_s if outage == "short" else LONG_ROUNDS * self.round_s


def times_of(study: Study) -> Times:
    """Return how long a hop and a round of FedAvg last at the study's scale."""
    scenario = study.scenario(_FEDAVG, "stream", {}, study.seeds[0], rounds=1)
    model, profile = spec_of(scenario.model), scenario.cells[0].profile
    hop_s = Traffic(model.model_bytes, model.model_bytes, 0).serial_seconds(profile.uplink_bps, profile.downlink_bps)
    round_s = exact_seconds(scenario, model)
    assert round_s is not None
    return Times(hop_s, round_s)


def contenders_of(study: Study) -> tuple[Contender, ...]:
    """Return who is compared: three with default settings, and the best rival of the tuning."""
    return (*(Contender(name, name) for name in (*HFEDMS, _FEDAVG)), best_rival(study, "stream"))


def _is_chained(contender: Contender) -> bool:
    return contender.strategy in HFEDMS


class Case(NamedTuple):
    """One line of the table. At 100 % nothing goes wrong, whatever the other two say."""

    contender: Contender
    outage: Outage
    percent: int
    on_gap: OnGap = "skip"


def cases_of(study: Study) -> list[Case]:
    grid, cases = grid_of(study.scale), []
    for outage, contender in product(grid.outages, contenders_of(study)):
        cases += [Case(contender, outage, percent) for percent in grid.percents]
        if _is_chained(contender):
            cases += [Case(contender, outage, percent, "reorder") for percent in grid.detour_percents]
    return cases


def changes_of(study: Study, times: Times, case: Case) -> dict[str, str]:
    """Return what a case changes of the paper's scenario. All are evaluated equally often."""
    changes = {"evaluate_every": str(study.scale.evaluate_every), **dict(case.contender.settings)}
    if case.percent == 100:
        return changes
    down_s = times.down_s(case.outage)
    up_s = down_s * case.percent / (100 - case.percent)
    return changes | {
        "faults": f"[{{kind: sensor-outage, mean_up_s: {up_s:.6f}, mean_down_s: {down_s:.6f}}}]",
        "recovery.timeout_s": f"{times.timeout_s:.6f}",
        "recovery.on_gap": case.on_gap,
    }


def _trials(study: Study) -> list[Trial]:
    times, rounds = times_of(study), grid_of(study.scale).rounds
    trials = []
    for case in cases_of(study):
        made = case.contender.trials(study, "stream", changes_of(study, times, case), rounds)
        trials += [replace(trial, cost=trial.cost + _outages_s(times, case)) for trial in made]
    return distinct(trials)


def _outages_s(times: Times, case: Case) -> float:
    """Return the processor seconds that the outages of a round are expected to take."""
    at_once = times.round_s / times.hop_s * (_CHAINS_SHARE if _is_chained(case.contender) else 1.0)
    outages_per_s = (1 - case.percent / 100) / times.down_s(case.outage)
    return _OUTAGE_S * at_once * times.round_s * outages_per_s


@dataclass(frozen=True)
class Findings:
    """What the cases came to."""

    found: Mapping[Case, Seeds]
    every: int
    """How often accuracy was looked at, in rounds."""

    def of(self, label: str, outage: Outage, on_gap: OnGap = "skip") -> dict[int, Seeds]:
        """Return a contender's results by availability, that without faults among them."""
        return {
            case.percent: seeds
            for case, seeds in self.found.items()
            if case.contender.label == label
            and case.outage == outage
            and (case.on_gap == on_gap or case.percent == 100)
        }

    @property
    def target(self) -> dict[int, float]:
        whole = [seeds for case, seeds in self.found.items() if case.contender.label == _FEDAVG and case.percent == 100]
        return whole[0].final("accuracy")

    def hours_to_target(self, seeds: Seeds) -> dict[int, float]:
        spent = seeds.spent("simulated_s", self.target, self.every)
        return {seed: value / SECONDS_PER_HOUR for seed, value in spent.items()}

    def leads(self, label: str, outage: Outage, on_gap: OnGap, measure: Measure) -> dict[int, dict[int, float]]:
        """Return by availability and seed how far a contender is ahead of FedAvg; negative where FedAvg is."""
        theirs = self.of(_FEDAVG, outage)
        lead = self._lead_in_hours if measure == "hours to the target" else _lead_in_accuracy
        return {percent: lead(seeds, theirs[percent]) for percent, seeds in self.of(label, outage, on_gap).items()}

    def _lead_in_hours(self, ours: Seeds, theirs: Seeds) -> dict[int, float]:
        reached = [self.hours_to_target(each) for each in (ours, theirs)]
        ends = [hours_of(each) for each in (ours, theirs)]
        leads = {}
        for seed in {*ends[0]} & {*ends[1]}:
            mine, other, my_end, their_end = (_only(seed, values) for values in (*reached, *ends))
            if known := log_ratio(mine, other, my_end, their_end):
                leads[seed] = known[0]
        return leads


def _only(seed: int, values: Mapping[int, float]) -> dict[int, float]:
    return {seed: values[seed]} if seed in values else {}


def _lead_in_accuracy(ours: Seeds, theirs: Seeds) -> dict[int, float]:
    mine, other = ours.final("accuracy"), theirs.final("accuracy")
    return {seed: mine[seed] - other[seed] for seed in mine if seed in other}


def crossing(leads: Mapping[int, float]) -> float | None:
    """Return the availability in % at which a lead is lost on the way down from 100; None if it never is.

    One that was never there is lost at the highest availability.
    """
    points = sorted(leads.items(), reverse=True)
    if points and points[0][1] < 0:
        return float(points[0][0])
    for (above, more), (below, less) in pairwise(points):
        if less < 0:
            return below + (above - below) * less / (less - more)
    return None


def crossing_words(leads: Mapping[int, float]) -> str:
    if not leads:
        return "not played"
    found, highest = crossing(leads), max(leads)
    if found is None:
        return f"not within {min(leads)}-{highest} %"
    return f"ahead at {highest} % already" if leads[highest] < 0 else f"{found:.1f} %"


def _means(leads: Mapping[int, Mapping[int, float]]) -> dict[int, float]:
    return {percent: fmean(values.values()) for percent, values in leads.items() if values}


def _by_seed(leads: Mapping[int, Mapping[int, float]]) -> str:
    """Return each seed's own answer."""
    seeds = sorted({seed for values in leads.values() for seed in values})
    return ", ".join(
        crossing_words({at: values[seed] for at, values in leads.items() if seed in values}) for seed in seeds
    )


def moved(skipping: Mapping[int, float], detouring: Mapping[int, float]) -> float | None:
    """Return by how many points of availability detours lower the crossing; None unless there are two.

    Only what was measured with both is compared: on other points a straight line would cross elsewhere.
    """
    common = {percent: lead for percent, lead in skipping.items() if percent in detouring}
    before, after = crossing(common), crossing({percent: detouring[percent] for percent in common})
    is_ahead = bool(common) and common[max(common)] >= 0
    return before - after if is_ahead and before is not None and after is not None else None


def _outcome(study: Study, results: Results) -> ExperimentOutcome:
    times, found = times_of(study), {}
    for case in cases_of(study):
        found[case] = case.contender.found(results, "stream", changes_of(study, times, case))
    findings = Findings(found, study.scale.evaluate_every)
    return ExperimentOutcome((_table(study, times, findings), _answers(study, findings)), (_figure(study, findings),))


def _table(study: Study, times: Times, findings: Findings) -> Table:
    rows: list[tuple[Value, ...]] = []
    for case, seeds in findings.found.items():
        reached = findings.hours_to_target(seeds)
        counts = (_mean_faults(seeds, kind) for kind in ("skip", "detour", "no report", "void"))
        rows.append((
            case.contender.label, case.outage, case.percent, case.on_gap if case.percent < 100 else "",
            seeds.shown("accuracy"), mean_of(hours_of(seeds)), mean_of(reached), len(reached), *counts,
        ))  # fmt: skip
    header = (
        "strategy", "outages", "availability, %", "on_gap", "accuracy", "hours", "hours to the target", "seeds there",
        "skips", "detours", "no reports", "void rounds",
    )  # fmt: skip
    return Table("availability", "Sensors out of reach", header, tuple(rows), _note(study, times, findings))


def _note(study: Study, times: Times, findings: Findings) -> str:
    lengths = ", ".join(f"{each} {format_seconds(times.down_s(each))}" for each in grid_of(study.scale).outages)
    target = ", ".join(f"{value:.3f}" for value in findings.target.values()) or "not known yet"
    rival = contenders_of(study)[-1]
    untuned = ", ".join(f"{key.removeprefix('strategy.')} {value}" for key, value in rival.settings)
    settings = "the best of the tuning" if rival.column == "tuned" else f"{untuned}; nothing was tuned for this scale"
    return (
        f"Whoever waits gives up after {TIMEOUT_HOPS} hops, {format_seconds(times.timeout_s)}, whatever the strategy."
        f" A hop is {format_seconds(times.hop_s)}, a round of FedAvg {format_seconds(times.round_s)}; mean outages:"
        f" {lengths}. Target: FedAvg's accuracy at 100 %, {target}. Rival: {rival.label} ({settings})."
        f" Means over seeds; {_played(study)}."
    )


def _played(study: Study) -> str:
    return f"the first {grid_of(study.scale).rounds} rounds of {study.words}"


def _mean_faults(seeds: Seeds, kind: str) -> float | None:
    return mean_of({seed: each.summary.get("faults", {}).get(kind, 0) for seed, each in seeds.by_seed.items()})


def _answers(study: Study, findings: Findings) -> Table:
    rows: list[tuple[Value, ...]] = []
    said = []
    for outage in grid_of(study.scale).outages:
        for label in HFEDMS:
            for measure in get_args(Measure):
                skipping, detouring = (findings.leads(label, outage, each, measure) for each in get_args(OnGap))
                words = [crossing_words(_means(each)) for each in (skipping, detouring)]
                points = moved(_means(skipping), _means(detouring))
                rows.append((label, outage, measure, *words, points, _by_seed(skipping), _by_seed(detouring)))
                if label == HFEDMS[0]:
                    said.append(f"{outage} outages, {measure}: {words[0]} with skip, {words[1]} with reorder")
    header = (
        "strategy", "outages", "by", "FedAvg wins below, skip", "FedAvg wins below, reorder",
        "detours lower it by, % points", "skip, by seed", "reorder, by seed",
    )  # fmt: skip
    title = "Below which availability does FedAvg win, and how far does detouring move that point?"
    note = f"FedAvg wins against {HFEDMS[0]} below: {'; '.join(said)}. On straight lines between measured points."
    return Table("availability-answers", title, header, tuple(rows), note)


def _figure(study: Study, findings: Findings) -> Figure:
    panels = []
    for outage, name in product(grid_of(study.scale).outages, _DRAWN):
        lines = [_line(findings, each.label, outage, "skip", name) for each in contenders_of(study)]
        lines += [_line(findings, label, outage, "reorder", name) for label in HFEDMS]
        panels.append(Lines(f"{outage} outages", "availability, %", name, tuple(lines)))
    return Figure("availability", f"Sensors out of reach, {_played(study)}", tuple(panels), columns=len(_DRAWN))


def _line(findings: Findings, label: str, outage: Outage, on_gap: OnGap, name: str) -> Line:
    """Return the mean over seeds with the band from the least to the largest, where any seed has a value."""
    points: list[tuple[float, Sequence[float]]] = []
    for percent, seeds in sorted(findings.of(label, outage, on_gap).items()):
        by_seed = {
            "accuracy": seeds.final("accuracy"),
            "hours": hours_of(seeds),
            "hours to the target": findings.hours_to_target(seeds),
        }[name]
        if by_seed:
            points.append((float(percent), list(by_seed.values())))
    x, values = tuple(at for at, _ in points), [each for _, each in points]
    band = (tuple(map(min, values)), tuple(map(max, values))) if any(len(each) > 1 for each in values) else ((), ())
    y = tuple(map(fmean, values))
    return Line(label, x, y, *band) if on_gap == "skip" else Line(f"{label}, reorder", x, y, *band, "dashed")


AVAILABILITY = Experiment(
    "availability",
    f"beyond the paper: sensors out of reach; whoever waits gives up after {TIMEOUT_HOPS} hops",
    _trials,
    _outcome,
)
