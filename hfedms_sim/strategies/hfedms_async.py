"""HFedMS-Async: the chains of HFedMS without a barrier. No paper has it; it asks what a barrier costs where machines
are unequal.

Groups are formed as in HFedMS-S (hfedms.py), of the sensors that are idle: as many of the M groups of the cycle as is
their share. At most m = floor(kappa M) chains are under way. A chain that has come back is mixed into the model at
once, as in FedAsync (w <- (1 - a) w + a w_chain, a = mixing x s(staleness)), and the next group starts from that model.
A cycle has m arrivals, as many as a round of HFedMS-S has chains; then the idle sensors report, and are grouped anew,
by the M of the next cycle. If no group is left before that, they are grouped anew by the same M.
Left out: calibration rounds, and with them the semantic memory, which need a model that all sensors of a cycle share.
"""

from dataclasses import dataclass, replace
from typing import ClassVar, Literal

import numpy as np

from hfedms_sim.rounds import Group, Payload, Plan, PlanContext, RoundRecord
from hfedms_sim.schedule import group_count, selected
from hfedms_sim.strategies.base import ClassCounts, SensorIds, Strategy
from hfedms_sim.strategies.fedasync import MixingSettings
from hfedms_sim.strategies.grouped import class_counts_report, grouped, kept_counts, of_those, reported_counts
from hfedms_sim.strategies.hfedms import ChainSettings, groupings_of
from hfedms_sim.strategies.workload import Workload

_COUNTED_CYCLES = 1_000  # one by one, in a workload


class HFedMSAsyncSettings(ChainSettings, MixingSettings):
    name: Literal["hfedms-async"] = "hfedms-async"


@dataclass(frozen=True, slots=True)
class AsyncState:
    """`left`: arrivals until the cycle ends; `waiting`: its groups that have not started; `counts`: see HFedMSState."""

    round: int
    cycle: int = 0
    left: int = 0
    total_groups: int = 0
    waiting: tuple[Group, ...] = ()
    counts: ClassCounts | None = None

    @property
    def regroups(self) -> bool:
        """Whether the coming window begins with new groups."""
        return self.left == 0 or not self.waiting


class HFedMSAsync(Strategy[HFedMSAsyncSettings, AsyncState]):
    paper = "after Zeng et al., HFedMS, IEEE Transactions on Cloud Computing 2023, and Xie et al., FedAsync, 2019"
    rule = "as hfedms-s, but each chain that arrives: w <- (1 - a) w + a w_chain with a = mixing s(staleness)"
    Settings: ClassVar = HFedMSAsyncSettings
    learner = "hfedms_sim.strategies.learners.fedasync:MixingLearner"

    @classmethod
    def workload(cls, settings: HFedMSAsyncSettings, sensors: int, rounds: int) -> Workload:
        """Return cycles of m arrivals each, of chains that become shorter as there are more groups."""
        trainings = cycles = windows = 0
        while windows < rounds:
            cycles += 1
            groups = group_count(settings.growth, settings.alpha, settings.beta, cycles, sensors)
            arrivals = min(selected(settings.sample_ratio, groups), rounds - windows)
            if cycles > _COUNTED_CYCLES:  # the rest as if groups did not grow any more
                arrivals, cycles = rounds - windows, cycles + (rounds - windows) // arrivals
            windows += arrivals
            trainings += arrivals * (sensors // groups)
        under_way = selected(settings.sample_ratio, sensors)
        reports = (cycles if settings.class_counts == "cycle" else 1) * sensors
        return Workload(trainings, under_way, reports=reports, groupings=groupings_of(settings, sensors, cycles))

    def start(self) -> AsyncState:
        return AsyncState(round=1)

    def report(self, state: AsyncState) -> Payload | None:
        is_due = state.regroups and state.counts is None
        return class_counts_report(self.factory.model.classes) if is_due else None

    def plan(self, state: AsyncState, context: PlanContext) -> Plan:
        settings = self.settings
        cycle, total, waiting, distance, counts = state.cycle, state.total_groups, state.waiting, None, None
        if state.regroups:
            sensors, known = reported_counts(self.factory.sensors, state.counts, context)
            cycle, everybody = cycle + (state.left == 0), len(context.sensors) + len(context.under_way)
            total = group_count(settings.growth, settings.alpha, settings.beta, cycle, max(1, everybody))
            waiting, distance = self._formed(state.round, sensors, known, total * len(sensors) // max(1, everybody))
            if settings.class_counts == "once" and state.counts is None:
                counts = kept_counts(self.factory.sensors, sensors, known)
        free = max(0, selected(settings.sample_ratio, total) - context.chains_under_way)
        waiting = of_those(waiting, context.sensors)
        return replace(
            self.full_plan(state.round, cycle, waiting[:free], total_groups=total),
            group_distance=distance,
            counts=counts,
            closes_after=1,
            carries_over=True,
            standby=waiting[free:],
        )

    def _formed(
        self, round_number: int, sensors: SensorIds, counts: ClassCounts, number: int
    ) -> tuple[tuple[Group, ...], int | None]:
        """Return this many groups of these sensors, at least one, in the order in which they start.

        Draws are keyed by the round: a cycle may group more than once.
        """
        if not len(sensors):
            return (), None
        draws = self.factory.draws
        groups, distance = grouped(self.settings, sensors, counts, max(1, number), draws, round_number)
        order = draws.order("selection", np.arange(len(groups)), round_number).tolist()
        return tuple(Group(place, groups[group]) for place, group in enumerate(order)), distance

    def update(self, state: AsyncState, plan: Plan, record: RoundRecord) -> AsyncState:
        """Count the arrivals of the cycle, and leave out the groups on standby that have started.

        Those that go on are left out of the next plan, because their sensors are under way.
        """
        left = selected(self.settings.sample_ratio, plan.total_groups) if plan.cycle > state.cycle else state.left
        over = {number for number, begun in zip(record.numbers, record.started, strict=True) if begun == record.round}
        return AsyncState(
            round=state.round + 1,
            cycle=plan.cycle,
            left=max(0, left - record.arrivals),
            total_groups=plan.total_groups,
            waiting=tuple(group for group in plan.standby if group.number not in over),
            counts=state.counts if plan.counts is None else plan.counts,
        )
