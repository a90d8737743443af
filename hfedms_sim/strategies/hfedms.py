"""HFedMS: Zeng, Li, Yu, Zhang, Luo, Li, Niyato, "HFedMS: Heterogeneous Federated Learning With Memorable Data
Semantics in Industrial Metaverse", IEEE Transactions on Cloud Computing, 2023.

STP: groups of sensors train one after the other, groups side by side; the number of groups grows with the cycle
(schedule.py). LASP: the first round of a cycle of T rounds synchronises the full model, the others only the
classifier. SCC: between cycles a sensor keeps up to Q semantic vectors and calibrates the classifier on them and
its new batch. HFedMS-S is T = 1: no calibration rounds, no memory, no scatter. HFedMS-D is T > 1.

At each full round all sensors report their class counts (with `class_counts: once` only at the first), the groups are
formed anew by inter-cluster grouping (grouping/), and m of them are drawn for the cycle. After it the merged model is
scattered to the participants, who extract the semantics of their batch with it.
"""

from collections.abc import Mapping
from dataclasses import dataclass, replace

import numpy as np

from hfedms_sim.closed_form import REPORT_BYTES
from hfedms_sim.overheads import optimiser_multiply_adds
from hfedms_sim.rounds import Group, Payload, Plan, RoundRecord, Samples, Scatter, WorkStep
from hfedms_sim.scenario import TRAINING_PASSES, HFedMSDynamicSettings, HFedMSStaticSettings, ModelSpec
from hfedms_sim.schedule import cycle_of, group_count, interval, position_in_cycle, selected
from hfedms_sim.seeds import Draws
from hfedms_sim.strategies.base import Algorithm, ClassCounts, SensorIds
from hfedms_sim.strategies.grouped import grouped


@dataclass(frozen=True, slots=True)
class HFedMSState:
    """`memory`: vectors each sensor holds; `captured`: what each participant of the cycle has captured in it.

    `seen`: all raw samples the oracle keeps; empty for anybody else. `stored`: who has stored a cycle. `counts`: the
    class counts of the only report, where there is but one.
    """

    round: int
    groups: tuple[Group, ...]
    memory: Mapping[int, int]
    captured: Mapping[int, Samples]
    seen: Mapping[int, frozenset[tuple[int, int]]]
    stored: frozenset[int] = frozenset()
    counts: ClassCounts | None = None


class HFedMSStatic:
    """STP alone. What a cycle's rounds are made of is in `_full_plan`; HFedMS-D adds calibration rounds."""

    def __init__(
        self, settings: HFedMSStaticSettings | HFedMSDynamicSettings, model: ModelSpec, sensors: SensorIds, draws: Draws
    ) -> None:
        self._chain_settings = settings
        self._interval = interval(settings)
        self._model = model
        self._sensors = sensors
        self._draws = draws

    def start(self) -> HFedMSState:
        return HFedMSState(round=1, groups=(), memory={}, captured={}, seen={})

    def report(self, state: HFedMSState) -> Payload | None:
        due = position_in_cycle(state.round, self._interval) == 0 and state.counts is None
        return Payload("report", REPORT_BYTES) if due else None

    def plan(self, state: HFedMSState, counts: ClassCounts | None) -> Plan:
        return self._full_plan(state, counts, passes=TRAINING_PASSES, scatter=None)

    def after(self, state: HFedMSState, plan: Plan, record: RoundRecord) -> HFedMSState:
        return self._next(state, plan)

    def _next(self, state: HFedMSState, plan: Plan) -> HFedMSState:
        """Return the state for the next round, but for what the memory holds."""
        counts = state.counts if plan.counts is None else plan.counts
        return replace(state, round=state.round + 1, groups=plan.groups, counts=counts)

    def _full_plan(self, state: HFedMSState, counts: ClassCounts | None, passes: int, scatter: Scatter | None) -> Plan:
        cycle = cycle_of(state.round, self._interval)
        counts = counts if state.counts is None else state.counts
        groups, distance = self._draw_groups(cycle, counts)
        moments = optimiser_multiply_adds(self._chain_settings, self._model.parameters)
        multiply_adds = (passes * self._model.multiply_adds + moments) * self._chain_settings.epochs
        return Plan(
            round=state.round,
            cycle=cycle,
            phase="full",
            groups=groups,
            total_groups=self._group_count(cycle),
            payload=Payload("model", self._model.model_bytes),
            work=(WorkStep("train", multiply_adds),),
            memory=state.memory,
            reuse_batch=False,
            scatter=scatter,
            trained_parameters=self._model.parameters,
            group_distance=distance,
            counts=counts if self._chain_settings.class_counts == "once" else None,
        )

    def _draw_groups(self, cycle: int, counts: ClassCounts | None) -> tuple[tuple[Group, ...], int]:
        """Those that take part in the cycle, and how unlike all of them are."""
        settings = self._chain_settings
        count = self._group_count(cycle)
        groups, distance = grouped(settings, self._sensors, counts, count, self._draws, cycle)
        chosen = self._draws.subset("selection", np.arange(count), selected(settings.sample_ratio, count), cycle)
        return tuple(Group(number, groups[group]) for number, group in enumerate(chosen)), distance

    def _group_count(self, cycle: int) -> int:
        """Return M, how many groups are formed in the cycle."""
        return group_count(self._chain_settings, cycle, len(self._sensors))


class HFedMSDynamic(HFedMSStatic):
    """`remembered`: how many vectors each sensor's memory holds before the run, if any."""

    def __init__(
        self,
        settings: HFedMSDynamicSettings,
        model: ModelSpec,
        sensors: SensorIds,
        draws: Draws,
        remembered: Mapping[int, int] | None = None,
    ) -> None:
        super().__init__(settings, model, sensors, draws)
        self._settings = settings
        self._remembered = remembered or {}

    def start(self) -> HFedMSState:
        return replace(super().start(), memory=self._remembered)

    def plan(self, state: HFedMSState, counts: ClassCounts | None) -> Plan:
        if position_in_cycle(state.round, self._interval) > 0:
            return self._calibration_plan(state)
        passes = TRAINING_PASSES + (1 if self._settings.distillation else 0)  # the teacher's forward pass
        return self._full_plan(state, counts, passes, self._scatter() if self._interval > 1 else None)

    def after(self, state: HFedMSState, plan: Plan, record: RoundRecord) -> HFedMSState:
        """Counts what SCC will hold: at the cycle's end all that was captured in it becomes a candidate, and Q stay.

        The same batch captured again makes new candidates; the oracle keeps raw samples, and each once. Who captured
        nothing stores nothing, and keeps its memory as it was.
        """
        following = self._next(state, plan)
        if self._interval == 1 or self._settings.scc == "off":
            return following
        captured = {} if plan.phase == "full" else dict(state.captured)
        for participation in record.participations:
            captured[participation.sensor] = (*captured.get(participation.sensor, ()), *participation.samples)
        if position_in_cycle(state.round, self._interval) < self._interval - 1:
            return replace(following, captured=captured)
        memory, seen = dict(state.memory), dict(state.seen)
        storing = {sensor: samples for sensor, samples in captured.items() if any(count for _, count in samples)}
        for sensor, samples in storing.items():
            if self._settings.scc == "oracle":
                seen[sensor] = seen.get(sensor, frozenset()) | frozenset(samples)
                memory[sensor] = sum(count for _, count in seen[sensor])
            else:
                candidates = memory.get(sensor, 0) + sum(count for _, count in samples)
                memory[sensor] = min(self._settings.memory, candidates)
        return replace(following, memory=memory, captured={}, seen=seen, stored=state.stored | storing.keys())

    def _scatter(self) -> Scatter:
        extract = WorkStep("extract", self._model.extractor_multiply_adds)
        return Scatter(
            Payload("scatter", self._model.model_bytes),
            self._settings.scatter,
            work=() if self._settings.scc == "off" else (extract,),
        )

    def _calibration_plan(self, state: HFedMSState) -> Plan:
        cycle, groups = cycle_of(state.round, self._interval), self._ordered(state)
        return Plan(
            round=state.round,
            cycle=cycle,
            phase="calibration",
            groups=groups,
            total_groups=self._group_count(cycle),
            payload=Payload("classifier", self._model.classifier_bytes),
            work=self._calibration_work(first=position_in_cycle(state.round, self._interval) == 1),
            memory=state.memory,
            reuse_batch=self._settings.new_batch == "cycle",
            scatter=None,
            trained_parameters=self._model.classifier_parameters,
            newcomers=self._newcomers(groups, state) if self._skips else frozenset(),
        )

    @property
    def _skips(self) -> bool:
        """Whether a sensor's first cycle passes without calibration."""
        return self._settings.first_time == "skip" and self._settings.scc != "off"

    @staticmethod
    def _newcomers(groups: tuple[Group, ...], state: HFedMSState) -> frozenset[int]:
        return frozenset(sensor for group in groups for sensor in group.sensors) - state.stored

    def _calibration_work(self, first: bool) -> tuple[WorkStep, ...]:
        """Extract the batch's semantics, the first time also with the backup extractor; then train the classifier."""
        settings, model = self._settings, self._model
        steps = [WorkStep("extract", model.extractor_multiply_adds)]
        if first and settings.scc == "on" and settings.compensation != "off":
            steps.append(WorkStep("extract", model.extractor_multiply_adds, needs_memory=True))
        if first and settings.scc == "oracle":
            steps.append(WorkStep("extract", model.extractor_multiply_adds, over_batch=False, over_memory=True))
        moments = optimiser_multiply_adds(settings, model.classifier_parameters)
        multiply_adds = (TRAINING_PASSES * model.classifier_multiply_adds + moments) * settings.calibration_epochs
        steps.append(WorkStep("calibrate", multiply_adds, over_memory=True, skips_newcomers=self._skips))
        return tuple(steps)

    def _ordered(self, state: HFedMSState) -> tuple[Group, ...]:
        if self._settings.order == "cycle":
            return state.groups
        shuffled = []
        for group in state.groups:
            keys = self._draws.bits("order", group.sensors, state.round).tolist()
            by_key = sorted(zip(keys, group.sensors, strict=True))
            shuffled.append(Group(group.number, tuple(sensor for _, sensor in by_key)))
        return tuple(shuffled)


STATIC = Algorithm(
    paper="Zeng et al., HFedMS, IEEE Transactions on Cloud Computing 2023 (static data, T = 1)",
    rule="w <- mean over the drawn groups of the last sensor's model; regrouped each cycle, into more groups",
    planner=HFedMSStatic,
)
DYNAMIC = Algorithm(
    paper="Zeng et al., HFedMS, IEEE Transactions on Cloud Computing 2023 (streaming data, T > 1)",
    rule="as hfedms-s every T-th round; between them classifier <- mean, trained on new and remembered semantics",
    planner=HFedMSDynamic,
)
