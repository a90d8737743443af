"""HFedMS-Plus: HFedMS's chains and layer-wise rounds with what an ablation left of the rest, and with settings by rule.
No paper has it. What each part brings is in docs/results.md.

As HFedMS-D (hfedms.py), but for this:

    groups     do not grow: chains stay as long as the air allows. M is the least number of groups of which a share
               kappa makes enough chains: three, so that there is something to average, or as many as the channels of
               all cells carry at once, so that none is idle. No chain is a single sensor for that.
    T          only the first cycles have calibration rounds, for they help while the extractor is young. Theirs is the
               number of rounds that brings most for its airtime: each calibration round brings a share of what a full
               round does (GAINS) and takes its own airtime, and only a cycle that has any takes that of the scatter.
               Then every round is a full one. Short chains have no calibration.
    server     after long chains the server takes a share of its last step again, 1 - 3/n after n of them have arrived:
               the mean of many is a small and certain step, that of three is large and rough, and is taken as it is.
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
_LEAST_CHAINS, _SHORTEST_CHAIN = 3, 2
LONG_CHAIN = 6  # sensors
_SLACK = 1e-9  # so that 3 / 0.3 is 10


class HFedMSPlusSettings(ClusteredGroupsSettings):
    plan_keys: ClassVar[frozenset[str]] = ClusteredGroupsSettings.plan_keys | {
        "groups", "cycle", "calibrated_cycles", "scatter", "leftover", "solver", "draw", "class_counts",
    }  # fmt: skip

    decisive: ClassVar[Mapping[str, tuple[float | str, ...]]] = {"learning_rate": (0.05,)}

    name: Literal["hfedms-plus"] = "hfedms-plus"
    learning_rate: PositiveFloat = 0.05
    """The rate of the sensors' optimiser."""
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
    channels = float((network.uplink_channels[cells] + network.downlink_channels[cells]).sum())
    wanted = _enough_groups(settings, len(sensors), channels) if settings.groups == "auto" else settings.groups
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
    return max(0.0, 1.0 - _LEAST_CHAINS / max(1, chains))


def _scatter(network: NetworkView, cells: SensorIds) -> ScatterMode:
    return "broadcast" if bool(network.can_multicast[cells].all()) else "unicast"


def _fewest_groups(settings: HFedMSPlusSettings, sensors: int) -> int:
    """Return the least M of which a share kappa is three groups, or all sensors if these are fewer."""
    return max(1, min(sensors, ceil(_LEAST_CHAINS / settings.sample_ratio - _SLACK)))


def _enough_groups(settings: HFedMSPlusSettings, sensors: int, channels: float) -> int:
    fewest = _fewest_groups(settings, sensors)
    busy = min(channels / settings.sample_ratio, sensors / _SHORTEST_CHAIN)
    return max(fewest, floor(busy + _SLACK))


class Airtimes(NamedTuple):
    """What the parts of a cycle take on the air for each participant, at the sensors' median rates."""

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
    uplink_s, downlink_s = (
        BITS_PER_BYTE / float(np.median(rates[sensors])) for rates in (network.uplink_bps, network.downlink_bps)
    )
    whole, classifier = (settings.compression.leg_bytes(each) for each in (model.contents, model.classifier_contents))
    scattered = whole.downlink * (1.0 if scatter == "unicast" else 1.0 / participants)
    return Airtimes(
        full_s=whole.relay * (uplink_s + downlink_s),
        scatter_s=scattered * downlink_s,
        calibration_s=classifier.relay * (uplink_s + downlink_s),
    )


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
