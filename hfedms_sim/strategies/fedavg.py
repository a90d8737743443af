"""FedAvg: McMahan, Moore, Ramage, Hampson, Agueera y Arcas, "Communication-Efficient Learning of Deep Networks from
Decentralized Data", AISTATS 2017.

Each round floor(kappa K) sensors, drawn anew, pull the model, train on what they capture, and push it: w <- sum_k
(n_k / n) w_k. On the clock that is chains of length one. Its plan is also that of the algorithms that differ from it
in the sensors' loss or in the server's mean.
"""

from dataclasses import replace
from typing import ClassVar, Literal, TypeVar

from hfedms_sim.rounds import Group, Plan, PlanContext, RoundRecord
from hfedms_sim.scenario import LocalTraining, ServerWeights
from hfedms_sim.schedule import closes_after, invited
from hfedms_sim.strategies.base import Strategy


class AveragingSettings(LocalTraining):
    """Every participant trains alone, from the server's model; the server averages."""

    relays: ClassVar[bool | None] = False

    weights: ServerWeights = "samples"
    """How the server averages: every result the same, by the samples behind it, or by its sensors' local train sets."""


class FedAvgSettings(AveragingSettings):
    name: Literal["fedavg"] = "fedavg"


Own = TypeVar("Own", bound=AveragingSettings)


class Averaging(Strategy[Own, int]):
    """The state is the number of the coming round."""

    def start(self) -> int:
        return 1

    def plan(self, state: int, context: PlanContext) -> Plan:
        sensors = self.participants(state, context)
        return self._planned(state, context, tuple(Group(number, (each,)) for number, each in enumerate(sensors)))

    def _planned(self, state: int, context: PlanContext, groups: tuple[Group, ...], edge_rounds: int = 0) -> Plan:
        invited_count = sum(len(group.sensors) for group in groups)
        return replace(
            self.full_plan(state, state, groups, total_groups=len(self.factory.sensors)),
            closes_after=closes_after(self.settings, len(context.sensors), invited_count),
            edge_rounds=edge_rounds,
        )

    def participants(self, state: int, context: PlanContext) -> list[int]:
        """Return who takes part in the coming round."""
        size = invited(self.settings, len(context.sensors))
        drawn: list[int] = self.factory.draws.subset("selection", context.sensors, size, state).tolist()
        return drawn

    def update(self, state: int, plan: Plan, record: RoundRecord) -> int:
        return state + 1


class FedAvg(Averaging[FedAvgSettings]):
    paper = "McMahan et al., Communication-Efficient Learning of Deep Networks from Decentralized Data, AISTATS 2017"
    rule = "w <- sum_k (n_k / n) w_k"
    Settings: ClassVar = FedAvgSettings
