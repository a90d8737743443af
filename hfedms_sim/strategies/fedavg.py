"""FedAvg: McMahan, Moore, Ramage, Hampson, Agueera y Arcas, "Communication-Efficient Learning of Deep Networks from
Decentralized Data", AISTATS 2017.

Each round floor(kappa K) sensors, drawn anew, pull the model, train on what they capture, and push it: w <- sum_k
(n_k / n) w_k. On the clock that is chains of length one. Its plan is also that of the algorithms that differ from it
in the sensors' loss or in the server's mean; what they cost more is in overheads.py.
"""

from hfedms_sim.overheads import extra_uplink_bytes, fusion_parameters, model_bytes, training_multiply_adds
from hfedms_sim.rounds import Group, Payload, Plan, RoundRecord, WorkStep
from hfedms_sim.scenario import AveragingSettings, ModelSpec
from hfedms_sim.schedule import selected
from hfedms_sim.seeds import Draws
from hfedms_sim.strategies.base import Algorithm, ClassCounts, SensorIds


class FedAvg:
    """The state is the number of the coming round."""

    def __init__(self, settings: AveragingSettings, model: ModelSpec, sensors: SensorIds, draws: Draws) -> None:
        self._settings = settings
        self._model = model
        self._sensors = sensors
        self._draws = draws

    def start(self) -> int:
        return 1

    def report(self, state: int) -> None:
        return None

    def plan(self, state: int, counts: ClassCounts | None) -> Plan:
        settings, model = self._settings, self._model
        size = selected(settings.sample_ratio, len(self._sensors))
        clients = self._draws.subset("selection", self._sensors, size, state).tolist()
        return Plan(
            round=state,
            cycle=state,
            phase="full",
            groups=tuple(Group(number, (client,)) for number, client in enumerate(clients)),
            total_groups=len(self._sensors),
            payload=Payload("model", model_bytes(settings, model)),
            work=(WorkStep("train", training_multiply_adds(settings, model) * settings.epochs),),
            memory={},
            reuse_batch=False,
            scatter=None,
            trained_parameters=model.parameters + fusion_parameters(settings, model),
            extra_uplink_bytes=extra_uplink_bytes(settings),
        )

    def after(self, state: int, plan: Plan, record: RoundRecord) -> int:
        return state + 1


ALGORITHM = Algorithm(
    paper="McMahan et al., Communication-Efficient Learning of Deep Networks from Decentralized Data, AISTATS 2017",
    rule="w <- sum_k (n_k / n) w_k",
    planner=FedAvg,
)
