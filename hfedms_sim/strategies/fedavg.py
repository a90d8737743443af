"""FedAvg: McMahan, Moore, Ramage, Hampson, Agueera y Arcas, "Communication-Efficient Learning of Deep Networks from
Decentralized Data", AISTATS 2017.

Each round floor(kappa K) sensors, drawn anew, pull the model, train on what they capture, and push it: w <- sum_k
(n_k / n) w_k. On the clock that is chains of length one.
"""

from hfedms_sim.rounds import Group, Payload, Plan, RoundRecord, WorkStep
from hfedms_sim.scenario import TRAINING_PASSES, FedAvgSettings, ModelSpec
from hfedms_sim.schedule import selected
from hfedms_sim.seeds import Draws
from hfedms_sim.strategies.base import ClassCounts, SensorIds


class FedAvg:
    """The state is the number of the coming round."""

    def __init__(self, settings: FedAvgSettings, model: ModelSpec, sensors: SensorIds, draws: Draws) -> None:
        self._settings = settings
        self._model = model
        self._sensors = sensors
        self._draws = draws

    def start(self) -> int:
        return 1

    def report(self, state: int) -> None:
        return None

    def plan(self, state: int, counts: ClassCounts | None) -> Plan:
        size = selected(self._settings.sample_ratio, len(self._sensors))
        clients = self._draws.subset("selection", self._sensors, size, state).tolist()
        train = WorkStep("train", TRAINING_PASSES * self._model.multiply_adds * self._settings.epochs)
        return Plan(
            round=state,
            cycle=state,
            phase="full",
            groups=tuple(Group(number, (client,)) for number, client in enumerate(clients)),
            payload=Payload("model", self._model.model_bytes),
            work=(train,),
            memory={},
            reuse_batch=False,
            scatter=None,
            trained_parameters=self._model.parameters,
        )

    def after(self, state: int, plan: Plan, record: RoundRecord) -> int:
        return state + 1
