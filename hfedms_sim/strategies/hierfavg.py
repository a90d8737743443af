"""HierFAVG: Liu, Zhang, Song, Letaief, "Client-Edge-Cloud Hierarchical Federated Learning", ICC 2020.

Each round floor(kappa K) sensors are drawn, as in FedAvg. Base stations average their own sensors n times before the
server averages base stations: server -> base station, then n times base station -> its sensors, training, -> base
station and mean; then base station -> server. Cells go on without waiting for each other until the round's end. So the
backbone carries one model a cell and direction, and the air is that of the cells alone. With one cell and n = 1 it is
FedAvg.

The paper's kappa_1 are a sensor's local steps (here `epochs` over what it captures), its kappa_2 is `edge_rounds`. A
base station counts at the server by all samples that its sensors have trained on in the round.
"""

from typing import Annotated, ClassVar, Literal

from pydantic import Field

from hfedms_sim.rounds import Group, Plan, PlanContext
from hfedms_sim.strategies.fedavg import Averaging, AveragingSettings
from hfedms_sim.strategies.workload import Workload


class HierFAVGSettings(AveragingSettings):
    can_over_select: ClassVar[bool] = False

    name: Literal["hierfavg"] = "hierfavg"
    edge_rounds: Annotated[int, Field(ge=1, le=1000)] = 2
    """How often a base station averages its sensors before the server averages base stations."""


class HierFAVG(Averaging[HierFAVGSettings]):
    paper = "Liu et al., Client-Edge-Cloud Hierarchical Federated Learning, ICC 2020"
    rule = "n times in each cell: w_c <- sum_k (n_k / n_c) w_k;  then w <- sum_c (n_c / n) w_c"
    Settings: ClassVar = HierFAVGSettings
    learner = "hfedms_sim.strategies.learners.hierfavg:HierarchicalLearner"

    @classmethod
    def workload(cls, settings: HierFAVGSettings, sensors: int, rounds: int) -> Workload:
        """Return FedAvg's, whose sensors train as often as base stations average."""
        averaged = super().workload(settings, sensors, rounds)
        return averaged._replace(trainings=settings.edge_rounds * averaged.trainings)

    def plan(self, state: int, context: PlanContext) -> Plan:
        sensors = self.participants(state, context)
        by_cell: dict[int, list[int]] = {}
        for cell, sensor in zip(context.network().cell[sensors].tolist(), sensors, strict=True):
            by_cell.setdefault(cell, []).append(sensor)
        teams = tuple(Group(number, tuple(team)) for number, (_, team) in enumerate(sorted(by_cell.items())))
        return self._planned(state, context, teams, self.settings.edge_rounds)
