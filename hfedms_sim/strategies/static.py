"""Static groups: what HFedMS's regrouping is compared with.

`static-groups` is the paper's benchmark, after Astraea (Duan et al., IEEE TPDS 2021): M = beta random groups, formed
once. `static-icg` forms them once by inter-cluster grouping, from the first round's class counts. Membership and
order never change; each round floor(kappa M) groups are drawn, train in chains and are averaged, as in HFedMS-S.
Sensors that fit into no group never train.
"""

from dataclasses import dataclass

import numpy as np

from hfedms_sim.closed_form import REPORT_BYTES
from hfedms_sim.grouping import random_groups
from hfedms_sim.overheads import training_multiply_adds
from hfedms_sim.rounds import Group, Payload, Plan, RoundRecord, WorkStep
from hfedms_sim.scenario import FixedGroupsSettings, ModelSpec, StaticICGSettings
from hfedms_sim.schedule import selected
from hfedms_sim.seeds import Draws
from hfedms_sim.strategies.base import Algorithm, ClassCounts, SensorIds
from hfedms_sim.strategies.grouped import grouped

_ONCE = 1  # the cycle that the draws of the only grouping are keyed by


@dataclass(frozen=True, slots=True)
class StaticState:
    round: int
    groups: tuple[tuple[int, ...], ...]
    """All of them, each in its order; empty before the first round."""


class StaticGroups:
    def __init__(self, settings: FixedGroupsSettings, model: ModelSpec, sensors: SensorIds, draws: Draws) -> None:
        self._settings = settings
        self._model = model
        self._sensors = sensors
        self._draws = draws

    def start(self) -> StaticState:
        return StaticState(1, ())

    def report(self, state: StaticState) -> Payload | None:
        asks = isinstance(self._settings, StaticICGSettings) and state.round == 1
        return Payload("report", REPORT_BYTES) if asks else None

    def plan(self, state: StaticState, counts: ClassCounts | None) -> Plan:
        groups, distance = (state.groups, None) if state.groups else self._form(counts)
        size = selected(self._settings.sample_ratio, len(groups))
        chosen = self._draws.subset("selection", np.arange(len(groups)), size, state.round).tolist()
        settings, model = self._settings, self._model
        return Plan(
            round=state.round,
            cycle=state.round,
            phase="full",
            groups=tuple(Group(number, groups[group]) for number, group in enumerate(chosen)),
            total_groups=len(groups),
            payload=Payload("model", model.model_bytes),
            work=(WorkStep("train", training_multiply_adds(settings, model) * settings.epochs),),
            memory={},
            reuse_batch=False,
            scatter=None,
            trained_parameters=model.parameters,
            group_distance=distance,
            formed=groups,
        )

    def after(self, state: StaticState, plan: Plan, record: RoundRecord) -> StaticState:
        return StaticState(state.round + 1, plan.formed)

    def _form(self, counts: ClassCounts | None) -> tuple[tuple[tuple[int, ...], ...], int | None]:
        """The groups, and how unlike they are where that is known."""
        settings, sensors = self._settings, self._sensors
        number = min(settings.beta, len(sensors))
        if isinstance(settings, StaticICGSettings):
            groups, distance = grouped(settings, sensors, counts, number, self._draws, _ONCE)
            return tuple(groups), distance
        formed = random_groups(sensors, number, self._draws, cycle=_ONCE, leftover=settings.leftover)
        return tuple(tuple(group.tolist()) for group in formed), None


_RULE = "w <- mean over the drawn groups of the last sensor's model; groups and order are fixed"

STATIC_GROUPS = Algorithm(
    paper="the HFedMS paper's benchmark, after Duan et al., Self-Balancing Federated Learning, IEEE TPDS 2021",
    rule=_RULE,
    planner=StaticGroups,
)
STATIC_ICG = Algorithm(
    paper="Zeng et al., HFedMS, IEEE Transactions on Cloud Computing 2023 (inter-cluster grouping, once)",
    rule=_RULE,
    planner=StaticGroups,
)
