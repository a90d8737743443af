"""Static groups: what HFedMS's regrouping is compared with.

`static-groups` is the paper's benchmark, after Astraea (Duan et al., IEEE TPDS 2021): M = beta random groups, formed
once. `static-icg` forms them once by inter-cluster grouping, from the first round's class counts. Membership and
order never change; each round floor(kappa M) groups are drawn, train in chains and are averaged, as in HFedMS-S.
Sensors that fit into no group never train.
"""

from abc import abstractmethod
from dataclasses import dataclass, replace
from typing import ClassVar, Literal, TypeVar

import numpy as np

from hfedms_sim.grouping import random_groups
from hfedms_sim.rounds import Group, Payload, Plan, PlanContext, RoundRecord
from hfedms_sim.scenario import LocalTraining, PositiveInt
from hfedms_sim.schedule import closes_after, invited
from hfedms_sim.strategies.base import Strategy
from hfedms_sim.strategies.grouped import ClusteredGroupsSettings, class_counts_report, grouped, of_those
from hfedms_sim.strategies.workload import Groupings, Workload

_ONCE = 1  # the cycle that the draws of the only grouping are keyed by
_RULE = "w <- mean over the drawn groups of the last sensor's model; groups and order are fixed"


class FixedGroupsSettings(LocalTraining):
    """Chains in groups that are formed once and never change, in membership or order."""

    plan_keys: ClassVar[frozenset[str]] = LocalTraining.plan_keys | {"beta", "leftover"}
    relays: ClassVar[bool | None] = True

    beta: PositiveInt = 10
    """Number of groups."""
    leftover: Literal["drop", "spread"] = "drop"
    """Sensors that fit into no group of equal size: never take part, or join the smallest groups."""


class StaticGroupsSettings(FixedGroupsSettings):
    name: Literal["static-groups"] = "static-groups"


class StaticICGSettings(FixedGroupsSettings, ClusteredGroupsSettings):
    plan_keys: ClassVar[frozenset[str]] = FixedGroupsSettings.plan_keys | {"solver", "draw"}

    name: Literal["static-icg"] = "static-icg"


@dataclass(frozen=True, slots=True)
class StaticState:
    round: int
    groups: tuple[tuple[int, ...], ...]
    """All of them, each in its order; empty before the first round."""


Groups = tuple[tuple[int, ...], ...]
Own = TypeVar("Own", bound=FixedGroupsSettings)


class FixedGroups(Strategy[Own, StaticState]):
    """Chains in fixed groups; how these are formed is what the two strategies differ in."""

    @abstractmethod
    def _form(self, context: PlanContext) -> tuple[Groups, int | None]:
        """Return the groups, and how unlike they are where that is known."""

    @classmethod
    def workload(cls, settings: Own, sensors: int, rounds: int) -> Workload:
        """Return chains of equal length in the drawn groups."""
        groups = min(settings.beta, sensors)
        each_round = invited(settings, groups) * (sensors // groups)
        return Workload(rounds * each_round, each_round)

    def start(self) -> StaticState:
        return StaticState(1, ())

    def plan(self, state: StaticState, context: PlanContext) -> Plan:
        settings, draws = self.settings, self.factory.draws
        groups, distance = (state.groups, None) if state.groups else self._form(context)
        size = invited(settings, len(groups))
        chosen = draws.subset("selection", np.arange(len(groups)), size, state.round).tolist()
        drawn = of_those((Group(number, groups[group]) for number, group in enumerate(chosen)), context.sensors)
        return replace(
            self.full_plan(state.round, state.round, drawn, total_groups=len(groups)),
            group_distance=distance,
            formed=groups,
            closes_after=closes_after(settings, len(groups), size),
        )

    def update(self, state: StaticState, plan: Plan, record: RoundRecord) -> StaticState:
        return StaticState(state.round + 1, plan.formed)


class StaticGroups(FixedGroups[StaticGroupsSettings]):
    paper = "the HFedMS paper's benchmark, after Duan et al., Self-Balancing Federated Learning, IEEE TPDS 2021"
    rule = _RULE
    Settings: ClassVar = StaticGroupsSettings

    def _form(self, context: PlanContext) -> tuple[Groups, int | None]:
        sensors, draws = self.factory.sensors, self.factory.draws
        number = min(self.settings.beta, len(sensors))
        formed = random_groups(sensors, number, draws, cycle=_ONCE, leftover=self.settings.leftover)
        return tuple(tuple(group.tolist()) for group in formed), None


class StaticICG(FixedGroups[StaticICGSettings]):
    paper = "Zeng et al., HFedMS, IEEE Transactions on Cloud Computing 2023 (inter-cluster grouping, once)"
    rule = _RULE
    Settings: ClassVar = StaticICGSettings

    @classmethod
    def workload(cls, settings: StaticICGSettings, sensors: int, rounds: int) -> Workload:
        """Return that of fixed groups, and the one report they are formed by."""
        chains, groups = super().workload(settings, sensors, rounds), min(settings.beta, sensors)
        return chains._replace(reports=sensors, groupings=Groupings(1, groups, groups))

    def report(self, state: StaticState) -> Payload | None:
        return class_counts_report(self.factory.model.classes) if state.round == 1 else None

    def _form(self, context: PlanContext) -> tuple[Groups, int | None]:
        counts, sensors = context.counts, context.sensors
        number = min(self.settings.beta, len(sensors))
        groups, distance = grouped(self.settings, sensors, counts, number, self.factory.draws, _ONCE)
        return tuple(groups), distance
