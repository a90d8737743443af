"""HFedMS: Zeng, Li, Yu, Zhang, Luo, Li, Niyato, "HFedMS: Heterogeneous Federated Learning With Memorable Data
Semantics in Industrial Metaverse", IEEE Transactions on Cloud Computing, 2023.

STP (sequential-to-parallel training): within a group sensors train one after the other, and groups train side by side.
The number of groups grows with the cycle (schedule.py). LASP: the first round of a cycle of T rounds synchronises the
full model, the others only the classifier. SCC (semantic compression and compensation): between cycles a sensor keeps
up to Q semantic vectors, and it calibrates the classifier on them and on its new batch. HFedMS-S is T = 1: no
calibration rounds, no memory, no scatter. HFedMS-D is T > 1.

At each full round all sensors report their class counts (with `class_counts: once` only at the first), the groups are
formed anew by inter-cluster grouping (grouping/), and m of them are drawn for the cycle. After that round the merged
model is scattered to the participants, who extract the semantics of their batch with it.
"""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import ClassVar, Literal, TypeVar

import numpy as np
from pydantic import model_validator

from hfedms_sim.rounds import Group, Payload, Plan, PlanContext, RoundRecord, Samples, Scatter, WorkStep
from hfedms_sim.scenario import TRAINING_PASSES, ModelSpec, NonNegativeFloat, PositiveInt
from hfedms_sim.schedule import closes_after, cycle_of, group_count, invited, position_in_cycle
from hfedms_sim.strategies.base import ClassCounts, SensorIds, Strategy
from hfedms_sim.strategies.costs import Costs, optimiser_multiply_adds, plain_costs
from hfedms_sim.strategies.grouped import (
    ClusteredGroupsSettings,
    class_counts_report,
    grouped,
    kept_counts,
    of_those,
    reported_counts,
)
from hfedms_sim.strategies.workload import Groupings, Workload
from hfedms_sim.units import BYTES_PER_PARAMETER

_LABEL_BYTES = 1


class ChainSettings(ClusteredGroupsSettings):
    """Sequential-to-parallel training (STP): groups of sensors train in chains; the number of groups grows."""

    decisive: ClassVar[Mapping[str, tuple[float | str, ...]]] = {"learning_rate": (0.03, 0.1), "alpha": (0, 2)}
    plan_keys: ClassVar[frozenset[str]] = ClusteredGroupsSettings.plan_keys | {
        "growth", "alpha", "beta", "leftover", "order", "solver", "draw", "class_counts",
    }  # fmt: skip

    growth: Literal["log", "linear", "exp"] = "log"
    """How the number of groups grows with the cycle."""
    alpha: NonNegativeFloat = 2.0
    """Growth rate."""
    beta: PositiveInt = 10
    """Number of groups in the first cycle."""
    order: Literal["cycle", "round"] = "cycle"
    """A chain's order is shuffled at each regrouping, or in each round."""
    class_counts: Literal["cycle", "once"] = "cycle"
    """Sensors report the class counts that groups are formed by in every cycle, or in the first one only."""


class HFedMSStaticSettings(ChainSettings):
    name: Literal["hfedms-s"] = "hfedms-s"


class HFedMSDynamicSettings(ChainSettings):
    plan_keys: ClassVar[frozenset[str]] = ChainSettings.plan_keys | {"new_batch", "scatter"}
    decisive: ClassVar[Mapping[str, tuple[float | str, ...]]] = {
        **ChainSettings.decisive,
        "interval": (3, 5),
        "scatter": ("unicast", "broadcast"),
    }

    name: Literal["hfedms-d"] = "hfedms-d"
    interval: PositiveInt = 5
    """T: the first of every T rounds synchronises the full model, the others only the classifier."""
    memory: PositiveInt = 200
    """Q: semantic vectors a sensor keeps."""
    new_batch: Literal["round", "cycle"] = "round"
    """Calibration rounds capture a new batch each, or reuse the cycle's first."""
    scc: Literal["on", "off", "oracle"] = "on"
    """Semantic memory; off: train on the new batch only; oracle: keep every raw sample."""
    compensation: Literal["class", "global", "off"] = "class"
    """Drift of stored vectors: per class, one for all classes, or ignored."""
    absent_class: Literal["batch-mean", "zero"] = "batch-mean"
    """Drift of a class that the batch lacks."""
    clamp_semantics: bool = False
    """Cut compensated vectors at zero, as the ReLU did."""
    storage: Literal["overall", "per-class"] = "overall"
    """Keep the Q vectors nearest their class mean, overall or by a quota per class."""
    storage_mean: Literal["candidates", "batch"] = "candidates"
    """The class mean they are compared with."""
    calibration_epochs: PositiveInt = 1
    """Passes over the calibration set."""
    first_time: Literal["calibrate", "skip"] = "calibrate"
    """A sensor that has not stored a cycle yet calibrates, or passes the classifier on."""
    initial_memory: Literal["empty", "local-set"] = "empty"
    """What a sensor remembers at first: nothing, or its local train set through the initial extractor."""
    distillation: NonNegativeFloat = 0.0
    """Weight of a distillation term in full rounds."""
    scatter: Literal["unicast", "broadcast"] = "unicast"
    """The merged model goes to each participant, or once per cell to all."""

    @model_validator(mode="after")
    def _the_oracle_has_no_semantic_memory_to_begin_with(self) -> "HFedMSDynamicSettings":
        if self.initial_memory != "empty" and self.scc == "oracle":
            raise ValueError(
                f"initial_memory: {self.initial_memory} fills the semantic memory, and scc: oracle has none;"
                " allowed: empty"
            )
        return self

    @model_validator(mode="after")
    def _the_teacher_is_not_relayed(self) -> "HFedMSDynamicSettings":
        if self.distillation and self.compression.relay != "none":
            raise ValueError(
                f"compression.relay = {self.compression.relay}: distillation: {self.distillation:g} needs the server's"
                " model at every sensor of a chain, and those after the first have a relayed one; allowed: none"
            )
        return self

    @property
    def has_initial_memory(self) -> bool:
        return self.initial_memory == "local-set" and self.scc == "on" and self.interval > 1

    @property
    def cycle_rounds(self) -> int:
        return self.interval


@dataclass(frozen=True, slots=True)
class HFedMSState:
    """What the strategy remembers from round to round."""

    round: int
    groups: tuple[Group, ...]
    """The cycle's groups, without the sensors that have missed the scatter: those lack the cycle's extractor, and sit
    out its calibration rounds."""
    memory: Mapping[int, int]
    """How many semantic vectors each sensor holds (raw samples with `scc: oracle`)."""
    captured: Mapping[int, Samples]
    """What each participant of the cycle has captured in it."""
    seen: Mapping[int, frozenset[tuple[int, int]]]
    """All raw samples that each sensor keeps with `scc: oracle`; else empty."""
    stored: frozenset[int] = frozenset()
    """The sensors that have stored a cycle, at any time of the run."""
    counts: ClassCounts | None = None
    """The class counts of the first report with `class_counts: once`; else None."""
    total_groups: int = 0
    calibrated: frozenset[int] = frozenset()
    """The sensors that have calibrated in this cycle."""


Own = TypeVar("Own", bound=ChainSettings)


def groupings_of(settings: ChainSettings, sensors: int, cycles: int) -> Groupings:
    """Return how often sensors are grouped in this many cycles, and into how many groups."""
    first, typical = (
        group_count(settings.growth, settings.alpha, settings.beta, cycle, sensors) for cycle in (1, (cycles + 1) // 2)
    )
    return Groupings(cycles, first, typical)


class SequentialToParallel(Strategy[Own, HFedMSState]):
    """STP alone: every round is a full one (`_full_plan`). HFedMS-D adds calibration rounds."""

    @classmethod
    def workload(cls, settings: Own, sensors: int, rounds: int) -> Workload:
        """Return the work of the whole run: a full round in each cycle, the other rounds calibration.

        In each round the same share of all sensors takes part.
        """
        each_round = invited(settings, sensors)
        cycles = cycle_of(rounds, settings.cycle_rounds)
        return Workload(
            trainings=cycles * each_round,
            side_by_side=each_round,
            calibrations=(rounds - cycles) * each_round,
            reports=(cycles if settings.class_counts == "cycle" else 1) * sensors,
            scattered=cycles * each_round if settings.cycle_rounds > 1 else 0,
            groupings=groupings_of(settings, sensors, cycles),
        )

    def start(self) -> HFedMSState:
        return HFedMSState(round=1, groups=(), memory={}, captured={}, seen={})

    def report(self, state: HFedMSState) -> Payload | None:
        due = position_in_cycle(state.round, self.settings.cycle_rounds) == 0 and state.counts is None
        return class_counts_report(self.factory.model.classes) if due else None

    def plan(self, state: HFedMSState, context: PlanContext) -> Plan:
        return self._full_plan(state, context, scatter=None)

    def update(self, state: HFedMSState, plan: Plan, record: RoundRecord) -> HFedMSState:
        return self._next(state, plan)

    def _next(self, state: HFedMSState, plan: Plan) -> HFedMSState:
        """Return the state for the next round; what concerns the memory is left as it was."""
        counts = state.counts if plan.counts is None else plan.counts
        groups = plan.groups if plan.phase == "full" else state.groups
        return replace(state, round=state.round + 1, groups=groups, counts=counts, total_groups=plan.total_groups)

    def _full_plan(self, state: HFedMSState, context: PlanContext, scatter: Scatter | None) -> Plan:
        cycle = cycle_of(state.round, self.settings.cycle_rounds)
        sensors, counts = reported_counts(self.factory.sensors, state.counts, context)
        groups: tuple[Group, ...] = ()
        distance, count = None, 0
        if len(sensors):  # else nobody is there whose class counts are known
            count = self._group_count(cycle, len(sensors))
            groups, distance = self._draw_groups(cycle, sensors, counts, count)
        is_only_report = self.settings.class_counts == "once" and state.counts is None
        return replace(
            self.full_plan(state.round, cycle, groups, total_groups=count),
            memory_fill=state.memory,
            scatter=scatter,
            group_distance=distance,
            counts=kept_counts(self.factory.sensors, sensors, counts) if is_only_report else None,
            closes_after=closes_after(self.settings, count, len(groups)),
        )

    def _draw_groups(
        self, cycle: int, sensors: SensorIds, counts: ClassCounts, count: int
    ) -> tuple[tuple[Group, ...], int]:
        """Return the groups that take part in the cycle, and how unlike all groups are, drawn or not."""
        settings, draws = self.settings, self.factory.draws
        groups, distance = grouped(settings, sensors, counts, count, draws, cycle)
        chosen = draws.subset("selection", np.arange(count), invited(settings, count), cycle)
        return tuple(Group(number, groups[group]) for number, group in enumerate(chosen)), distance

    def _group_count(self, cycle: int, sensors: int) -> int:
        """Return M, how many groups are formed of this many sensors in the cycle."""
        return group_count(self.settings.growth, self.settings.alpha, self.settings.beta, cycle, sensors)


class HFedMSS(SequentialToParallel[HFedMSStaticSettings]):
    paper = "Zeng et al., HFedMS, IEEE Transactions on Cloud Computing 2023 (static data, T = 1)"
    rule = "w <- mean over the drawn groups of the last sensor's model; regrouped each cycle, into more groups"
    Settings: ClassVar = HFedMSStaticSettings


class HFedMSD(SequentialToParallel[HFedMSDynamicSettings]):
    paper = "Zeng et al., HFedMS, IEEE Transactions on Cloud Computing 2023 (streaming data, T > 1)"
    rule = "as hfedms-s in one of T rounds; in the others classifier <- mean, trained on new and remembered semantics"
    Settings: ClassVar = HFedMSDynamicSettings
    learner = "hfedms_sim.strategies.learners.hfedms:CalibratingLearner"

    @classmethod
    def workload(cls, settings: HFedMSDynamicSettings, sensors: int, rounds: int) -> Workload:
        """Return the work of the chains, and with it what sensors remember and calibrate with once they were drawn."""
        chains = super().workload(settings, sensors, rounds)
        if settings.scc == "off" or settings.cycle_rounds == 1:
            return chains
        passes = settings.calibration_epochs * settings.memory * chains.calibrations
        who = sensors if settings.has_initial_memory else min(sensors, chains.trainings)
        return chains._replace(remembered=settings.memory * who, remembered_passes=passes)

    @classmethod
    def costs(cls, settings: HFedMSDynamicSettings, model: ModelSpec) -> Costs:
        """Return the costs of a full round; distillation adds the teacher's forward pass.

        A sensor with a semantic memory holds Q vectors with their labels, and the extractor in whose space they are.
        """
        vector_bytes = BYTES_PER_PARAMETER * model.semantic_size + _LABEL_BYTES
        memory_bytes = settings.memory * vector_bytes + BYTES_PER_PARAMETER * model.extractor_parameters
        remembers = settings.interval > 1 and settings.scc == "on"
        return plain_costs(
            settings,
            model,
            extra_multiply_adds=model.multiply_adds if settings.distillation else 0,
            frozen_bytes=memory_bytes if remembers else 0,
        )

    def start(self) -> HFedMSState:
        if not self.settings.has_initial_memory:
            return super().start()
        sensors = self.factory.sensors
        held = dict(zip(sensors.tolist(), self.factory.local_sizes(sensors).tolist(), strict=True))
        return replace(super().start(), memory=held)

    def plan(self, state: HFedMSState, context: PlanContext) -> Plan:
        if position_in_cycle(state.round, self.settings.cycle_rounds) > 0:
            return self._calibration_plan(state, context)
        return self._full_plan(state, context, self._scatter() if self.settings.cycle_rounds > 1 else None)

    def update(self, state: HFedMSState, plan: Plan, record: RoundRecord) -> HFedMSState:
        """Count what SCC will hold: at the cycle's end all that was captured in it becomes a candidate, and Q stay.

        What counts is what a sensor captured in the rounds in which it handed over. The full round counts only if the
        sensor got the scatter, without which it cannot extract. The same batch captured again makes new candidates; the
        oracle keeps raw samples, and each once. A sensor that captured nothing stores nothing, and keeps its memory as
        it was.
        """
        following = self._next(state, plan)
        if self.settings.cycle_rounds == 1:
            return following
        if plan.phase == "full":
            groups = _who_got_the_scatter(plan.groups, record)
            following = replace(following, groups=groups, calibrated=frozenset())
        else:
            calibrated = state.calibrated.union(each.sensor for each in record.participations if each.captured)
            following = replace(following, calibrated=calibrated)
        if self.settings.scc == "off":
            return following
        captured = _captured_in_cycle(state, plan, record)
        is_last = position_in_cycle(state.round, self.settings.cycle_rounds) == self.settings.cycle_rounds - 1
        return self._store(following, captured) if is_last else replace(following, captured=captured)

    def _store(self, state: HFedMSState, captured: Mapping[int, Samples]) -> HFedMSState:
        """Return the state after all sensors have stored what they captured in the cycle."""
        memory, seen = dict(state.memory), dict(state.seen)
        storing = {sensor: samples for sensor, samples in captured.items() if any(count for _, count in samples)}
        for sensor, samples in storing.items():
            if self.settings.scc == "oracle":
                seen[sensor] = seen.get(sensor, frozenset()) | frozenset(samples)
                memory[sensor] = sum(count for _, count in seen[sensor])
            else:
                candidates = memory.get(sensor, 0) + sum(count for _, count in samples)
                memory[sensor] = min(self.settings.memory, candidates)
        return replace(state, memory=memory, captured={}, seen=seen, stored=state.stored | storing.keys())

    def _scatter(self) -> Scatter:
        extract = WorkStep("extract", self.factory.model.extractor_multiply_adds)
        return Scatter(
            Payload("scatter", self.costs(self.settings, self.factory.model).model_bytes),
            self.settings.scatter,
            work=() if self.settings.scc == "off" else (extract,),
        )

    def _calibration_plan(self, state: HFedMSState, context: PlanContext) -> Plan:
        cycle = cycle_of(state.round, self.settings.cycle_rounds)
        groups = of_those(self._ordered(state), context.sensors)
        sent = self.settings.compression.leg_bytes(self.factory.model.classifier_contents)
        return Plan(
            round=state.round,
            cycle=cycle,
            phase="calibration",
            groups=groups,
            total_groups=state.total_groups,
            payload=Payload("classifier", sent.downlink),
            work=self._calibration_work(),
            memory_fill=state.memory,
            reuse_batch=self.settings.new_batch == "cycle",
            scatter=None,
            trained_parameters=self.factory.model.classifier_parameters,
            never_stored=_sensors_of(groups) - state.stored if self._skips else frozenset(),
            first_calibrations=_sensors_of(groups) - state.calibrated,
            relay_bytes=sent.relay,
            uplink_bytes=sent.uplink,
        )

    @property
    def _skips(self) -> bool:
        """Whether sensors that have never stored a cycle do not calibrate."""
        return self.settings.first_time == "skip" and self.settings.scc != "off"

    def _calibration_work(self) -> tuple[WorkStep, ...]:
        """Extract the batch's semantics, the first time in a cycle also with the backup extractor; then calibrate."""
        settings, extraction = self.settings, self.factory.model.extractor_multiply_adds
        steps = [WorkStep("extract", extraction)]
        if settings.scc == "on" and settings.compensation != "off":
            steps.append(WorkStep("extract", extraction, needs_memory=True, is_once_a_cycle=True))
        if settings.scc == "oracle":
            steps.append(WorkStep("extract", extraction, over_batch=False, over_memory=True, is_once_a_cycle=True))
        model = self.factory.model
        moments = optimiser_multiply_adds(settings, model.classifier_parameters)
        multiply_adds = (TRAINING_PASSES * model.classifier_multiply_adds + moments) * settings.calibration_epochs
        steps.append(WorkStep("calibrate", multiply_adds, over_memory=True, needs_stored_cycle=self._skips))
        return tuple(steps)

    def _ordered(self, state: HFedMSState) -> tuple[Group, ...]:
        if self.settings.order == "cycle":
            return state.groups
        shuffled = []
        for group in state.groups:
            keys = self.factory.draws.bits("order", group.sensors, state.round).tolist()
            by_key = sorted(zip(keys, group.sensors, strict=True))
            shuffled.append(Group(group.number, tuple(sensor for _, sensor in by_key)))
        return tuple(shuffled)


def _sensors_of(groups: tuple[Group, ...]) -> frozenset[int]:
    return frozenset(sensor for group in groups for sensor in group.sensors)


def _captured_in_cycle(state: HFedMSState, plan: Plan, record: RoundRecord) -> dict[int, Samples]:
    """Return what each sensor has captured in the cycle up to this round, as far as it could extract it."""
    captured = {} if plan.phase == "full" else dict(state.captured)
    for each in record.participations:
        if plan.phase != "full" or each.got_scatter:
            captured[each.sensor] = (*captured.get(each.sensor, ()), *each.samples)
    return captured


def _who_got_the_scatter(groups: tuple[Group, ...], record: RoundRecord) -> tuple[Group, ...]:
    """Return the groups, in their planned order, with only the sensors that have the cycle's extractor."""
    received = [each.sensor for each in record.participations if each.got_scatter]
    return of_those(groups, np.array(received, dtype=np.int64))
