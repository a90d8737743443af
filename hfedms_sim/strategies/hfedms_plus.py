"""HFedMS-Plus: HFedMS's chains and layer-wise rounds with what an ablation left of the rest, and with settings by rule.
No paper has it. What each part brings is in docs/results.md.

As HFedMS-D (hfedms.py), but for this:

    groups     do not grow: chains stay as long as the air allows. M is the least number of groups of which a share
               kappa makes as many chains as all cells carry at once, so that none is idle: one where they carry one.
               No chain is a single sensor for that.
    rate       of the sensors falls with the sensors that the model has gone through one after the other: what makes
               the last steps of a long chain rough is the rate, and there is no mean of many chains to smooth them.
    T          only the first cycles have calibration rounds, for they help while the extractor is young. Theirs is the
               number of rounds that brings most for its airtime: each calibration round brings a share of what a full
               round does (GAINS) and takes its own airtime, and only a cycle that has any takes that of the scatter.
               Then every round is a full one. Short chains have no calibration.
    server     after long chains the server takes a share of its last step again, 1 - 3/n after n of them have arrived:
               the mean of many is a small and certain step, that of a few is large and rough, and is taken as it is.
               After short ones, of fewer than six sensors in the mean, it is FedAdam's: little of what is learnt is
               learnt along a chain then.
    scatter    is a broadcast where all base stations can send to many at once.
    bytes      are int8 on every leg.
    memory     there is none: calibration trains the classifier on the new batch alone.
"""

from collections.abc import Mapping
from math import ceil, floor
from typing import Annotated, ClassVar, Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray
from pydantic import Field

from hfedms_sim.rounds import NetworkView, Payload, Plan, PlanContext, RoundRecord, ScatterMode
from hfedms_sim.scenario import Compression, ModelSpec, PositiveFloat, PositiveInt
from hfedms_sim.schedule import invited
from hfedms_sim.strategies.base import Factory, SensorIds, Strategy
from hfedms_sim.strategies.costs import Costs, plain_costs
from hfedms_sim.strategies.grouped import ClusteredGroupsSettings
from hfedms_sim.strategies.hfedms import HFedMSD, HFedMSDynamicSettings, HFedMSState
from hfedms_sim.strategies.workload import Workload
from hfedms_sim.units import BITS_PER_BYTE

Auto = Literal["auto"]

GAINS = (0.4, 0.05, 0.05, 0.05)
"""What the first, second, ... calibration round of a cycle brings, relative to a full round."""
_FEW_CHAINS, _SHORTEST_CHAIN = 3, 2
LONG_CHAIN = 6  # sensors
_SLACK = 1e-9  # so that 3 / 0.3 is 10


class HFedMSPlusSettings(ClusteredGroupsSettings):
    plan_keys: ClassVar[frozenset[str]] = ClusteredGroupsSettings.plan_keys | {
        "groups", "cycle", "calibrated_cycles", "scatter", "leftover", "solver", "draw", "class_counts",
    }  # fmt: skip

    decisive: ClassVar[Mapping[str, tuple[float | str, ...]]] = {"learning_rate": (0.05,)}

    name: Literal["hfedms-plus"] = "hfedms-plus"
    learning_rate: PositiveFloat = 0.05
    """The rate of the sensors' optimiser at first."""
    halving_sensors: PositiveFloat | None = 1000.0
    """After how many sensors, one after the other, the rate is half of that: r / (1 + n / this); null: it stays."""
    compression: Compression = Compression(downlink="int8", relay="int8", uplink="int8")
    """What goes over the air in fewer bytes."""
    groups: PositiveInt | Auto = "auto"
    """M, how many groups there are in every cycle; auto: by rule."""
    cycle: PositiveInt | Auto = "auto"
    """T: the first of every T rounds synchronises the full model, the others only the classifier; auto: by rule."""
    calibrated_cycles: Annotated[int, Field(ge=0, le=10**9)] = 10
    """How many cycles have T rounds; from then on every round is a full one."""
    server: Literal["momentum", "adam"] | Auto = "auto"
    """What the server makes of the mean of a full round; auto: Adam after short chains, momentum after long ones."""
    server_momentum: Annotated[float, Field(ge=0, lt=1)] | Auto = "auto"
    """The share of its last step that a server with momentum takes again; auto: by rule."""
    server_learning_rate: PositiveFloat = 0.015
    """The rate of a server with Adam."""
    scatter: ScatterMode | Auto = "auto"
    """The merged model goes to each participant, or once per cell to all; auto: broadcast where all cells can."""
    class_counts: Literal["cycle", "once"] = "cycle"
    """Sensors report the class counts that groups are formed by in every cycle, or in the first one only."""


class Rule(NamedTuple):
    """What is settled before the first round."""

    groups: int
    interval: int
    scatter: ScatterMode


class HFedMSPlus(Strategy[HFedMSPlusSettings, HFedMSState]):
    paper = "after Zeng et al., HFedMS, IEEE Transactions on Cloud Computing 2023; settings by rule"
    rule = "as hfedms-d without memory and growth; groups, T and scatter follow from what the air costs"
    Settings: ClassVar = HFedMSPlusSettings
    learner = "hfedms_sim.strategies.learners.hfedms_plus:PlusLearner"

    def __init__(self, settings: HFedMSPlusSettings, factory: Factory) -> None:
        super().__init__(settings, factory)
        rule = rule_of(settings, factory)
        self._calibrated_rounds = rule.interval * settings.calibrated_cycles
        self._first = HFedMSD(dynamic_settings(settings, rule), factory)
        self._later = HFedMSD(dynamic_settings(settings, rule._replace(interval=1)), factory)

    @classmethod
    def costs(cls, settings: HFedMSPlusSettings, model: ModelSpec) -> Costs:
        return plain_costs(settings, model)

    @classmethod
    def workload(cls, settings: HFedMSPlusSettings, sensors: int, rounds: int) -> Workload:
        """Return the work of the cycles that calibrate and of the rounds after them.

        By rule T is known only together with the network: then this is the most, with no round that calibrates.
        """
        groups = _fewest_groups(settings, sensors) if settings.groups == "auto" else min(settings.groups, sensors)
        interval = 1 if settings.cycle == "auto" else settings.cycle
        calibrated = min(rounds, interval * settings.calibrated_cycles)
        parts = [
            HFedMSD.workload(dynamic_settings(settings, Rule(groups, each, "unicast")), sensors, count)
            for each, count in ((interval, calibrated), (1, rounds - calibrated))
            if count
        ]
        return parts[0]._replace(
            trainings=sum(part.trainings for part in parts),
            reports=sum(part.reports for part in parts) if settings.class_counts == "cycle" else parts[0].reports,
            groupings=parts[0].groupings._replace(times=sum(part.groupings.times for part in parts)),
        )

    def start(self) -> HFedMSState:
        return self._first.start()

    def report(self, state: HFedMSState) -> Payload | None:
        return self._chains(state).report(state)

    def plan(self, state: HFedMSState, context: PlanContext) -> Plan:
        return self._chains(state).plan(state, context)

    def update(self, state: HFedMSState, plan: Plan, record: RoundRecord) -> HFedMSState:
        return self._chains(state).update(state, plan, record)

    def _chains(self, state: HFedMSState) -> HFedMSD:
        """Return what plays the coming round."""
        return self._first if state.round <= self._calibrated_rounds else self._later


def dynamic_settings(settings: HFedMSPlusSettings, rule: Rule) -> HFedMSDynamicSettings:
    """Return the settings of HFedMS-D that do what these and the rule say."""
    shared = set(HFedMSDynamicSettings.model_fields) & set(HFedMSPlusSettings.model_fields) - {"name", *Rule._fields}
    return HFedMSDynamicSettings.model_validate(
        {key: getattr(settings, key) for key in shared}
        | {"alpha": 0.0, "beta": rule.groups, "interval": rule.interval, "scatter": rule.scatter, "scc": "off"}
    )


def rule_of(settings: HFedMSPlusSettings, factory: Factory) -> Rule:
    """Return what the settings say, and where they leave it to the rule, what follows from the network."""
    network, sensors = factory.network(), factory.sensors
    cells = np.unique(network.cell[sensors])
    scatter: ScatterMode = settings.scatter if settings.scatter != "auto" else _scatter(network, cells)
    wanted = _enough_groups(settings, network, sensors) if settings.groups == "auto" else settings.groups
    groups = min(wanted, max(1, len(sensors)))
    interval = settings.cycle
    if interval == "auto":
        participants = max(1, invited(settings, len(sensors)))
        airtimes = airtimes_of(settings, factory.model, network, sensors, scatter, participants)
        interval = 1 if has_adaptive_server(settings, len(sensors) / groups) else best_interval(airtimes)
    return Rule(groups, interval, scatter)


def has_adaptive_server(settings: HFedMSPlusSettings, chain_length: float) -> bool:
    """Return whether the server is Adam after chains of so many sensors in the mean."""
    return settings.server == "adam" or (settings.server == "auto" and chain_length < LONG_CHAIN)


def momentum_of(settings: HFedMSPlusSettings, chains: int) -> float:
    """Return the momentum of a server that has one, after a full round of which so many chains have arrived."""
    if settings.server_momentum != "auto":
        return settings.server_momentum
    return max(0.0, 1.0 - _FEW_CHAINS / max(1, chains))


def rate_after(settings: HFedMSPlusSettings, sensors: float) -> float:
    """Return the sensors' rate for a model that has gone through so many of them, one after the other."""
    if settings.halving_sensors is None:
        return settings.learning_rate
    return settings.learning_rate / (1.0 + sensors / settings.halving_sensors)


def _scatter(network: NetworkView, cells: SensorIds) -> ScatterMode:
    return "broadcast" if bool(network.can_multicast[cells].all()) else "unicast"


def _fewest_groups(settings: HFedMSPlusSettings, sensors: int, chains: int = 1) -> int:
    """Return the least M of which a share kappa is so many groups, or all sensors if these are fewer."""
    return max(1, min(sensors, ceil(chains / settings.sample_ratio - _SLACK)))


def _enough_groups(settings: HFedMSPlusSettings, network: NetworkView, sensors: SensorIds) -> int:
    chains = min(chains_at_once(network, sensors), len(sensors))
    busy = _fewest_groups(settings, len(sensors), max(1, floor(chains + _SLACK)))
    return max(_fewest_groups(settings, len(sensors)), min(busy, len(sensors) // _SHORTEST_CHAIN))


def chains_at_once(network: NetworkView, sensors: SensorIds) -> float:
    """Return how many chains keep the busier direction of every cell busy, at the sensors' median rates.

    A chain is either on the way up or on the way down, as long as a model takes there.
    """
    cells = np.unique(network.cell[sensors])
    uplink_s, downlink_s = (_byte_s(rates, sensors) for rates in (network.uplink_bps, network.downlink_bps))
    up, down = network.uplink_channels[cells], network.downlink_channels[cells]
    hop_s = uplink_s + downlink_s
    busy = np.where(network.has_one_airtime[cells], up, np.minimum(up * hop_s / uplink_s, down * hop_s / downlink_s))
    return float(busy.sum())


def _byte_s(rates_bps: NDArray[np.float64], sensors: SensorIds) -> float:
    return BITS_PER_BYTE / float(np.median(rates_bps[sensors]))


class Airtimes(NamedTuple):
    """What the parts of a cycle take on the air for each participant."""

    full_s: float
    scatter_s: float
    calibration_s: float


def airtimes_of(
    settings: HFedMSPlusSettings,
    model: ModelSpec,
    network: NetworkView,
    sensors: SensorIds,
    scatter: ScatterMode,
    participants: int,
) -> Airtimes:
    """Return them at the sensors' median rates; every cell broadcasts once, as slowly as its slowest sensor listens."""
    uplink_s, downlink_s = (_byte_s(rates, sensors) for rates in (network.uplink_bps, network.downlink_bps))
    whole, classifier = (settings.compression.leg_bytes(each) for each in (model.contents, model.classifier_contents))
    to_each_s = downlink_s if scatter == "unicast" else _broadcast_byte_s(network, sensors) / participants
    return Airtimes(
        full_s=whole.relay * (uplink_s + downlink_s),
        scatter_s=whole.downlink * to_each_s,
        calibration_s=classifier.relay * (uplink_s + downlink_s),
    )


def _broadcast_byte_s(network: NetworkView, sensors: SensorIds) -> float:
    """Return the airtime of a byte that every cell sends once, added up."""
    cells, rates_bps = network.cell[sensors], network.downlink_bps[sensors]
    return sum(BITS_PER_BYTE / float(rates_bps[cells == cell].min()) for cell in np.unique(cells))


def best_interval(airtimes: Airtimes) -> int:
    """Return the T whose cycle brings most for its airtime, the shortest of equals."""
    brought, taken_s = 1.0, airtimes.full_s
    best, most = 1, brought / taken_s
    taken_s += airtimes.scatter_s
    for interval, gain in enumerate(GAINS, start=2):
        brought += gain
        taken_s += airtimes.calibration_s
        if brought / taken_s > most:
            best, most = interval, brought / taken_s
    return best
