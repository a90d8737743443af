"""What a strategy is: one object that plans rounds, says what they cost, and names who learns from them.

    state = strategy.start()
    each round: the report it asks for, if any -> plan(state, context) -> the world plays it ->
    state = update(state, plan, record)

A plan may read class counts, records and the network (`PlanContext`), never a tensor, and a metric only if the strategy
says so (`needs_metrics`). What shipped strategies are made of is all there is: one from outside is written in the same
way.
"""

from abc import ABC, abstractmethod
from collections.abc import Callable
from typing import ClassVar, Generic, NamedTuple, TypeVar

import numpy as np
from numpy.typing import NDArray

from hfedms_sim.rounds import Group, NetworkView, Payload, Plan, PlanContext, RoundRecord, WorkStep
from hfedms_sim.scenario import LocalTraining, ModelSpec
from hfedms_sim.schedule import invited
from hfedms_sim.seeds import Draws
from hfedms_sim.strategies.costs import Costs, plain_costs
from hfedms_sim.strategies.workload import Workload

Own = TypeVar("Own", bound=LocalTraining)
State = TypeVar("State")
ClassCounts = NDArray[np.int64]  # sensors x classes
SensorIds = NDArray[np.int64]
LocalSizes = Callable[[SensorIds], NDArray[np.int64]]


class Factory(NamedTuple):
    """What a strategy knows before the first round."""

    model: ModelSpec
    sensors: SensorIds
    """Those that can take part."""
    draws: Draws
    local_sizes: LocalSizes
    """How many train samples each of some sensors owns."""
    network: Callable[[], NetworkView]
    """The network as it is now; worked out when asked for."""


class Strategy(ABC, Generic[Own, State]):
    """A published algorithm. `Own` are its settings, `State` is what it remembers from round to round."""

    paper: ClassVar[str]
    rule: ClassVar[str]
    """In one formula; w is the server's model, w_k what sensor k makes of it, n_k how many samples it has."""
    Settings: ClassVar[type[LocalTraining]]
    """What a scenario may say under `strategy`; its field `name` has the strategy's name as default."""
    learner: ClassVar[str] = "hfedms_sim.learning.learner:ChainLearner"
    """MODULE:CLASS of what learns from the rounds; text, because importing it loads torch."""
    needs_metrics: ClassVar[bool] = False
    """Whether its plans read what the model has measured: then nothing can be played without training."""

    def __init__(self, settings: Own, factory: Factory) -> None:
        self.settings = settings
        self.factory = factory

    @classmethod
    def costs(cls, settings: Own, model: ModelSpec) -> Costs:
        """Return what a participant of a full round costs."""
        return plain_costs(settings, model)

    @classmethod
    def workload(cls, settings: Own, sensors: int, rounds: int) -> Workload:
        """Return what a whole run asks of this many sensors; by default that those invited to a round train in it."""
        each_round = invited(settings, sensors)
        return Workload(rounds * each_round, each_round)

    def full_plan(self, round_number: int, cycle: int, groups: tuple[Group, ...], total_groups: int) -> Plan:
        """Return a round in which every sensor of these groups trains the whole model; `replace` adds what is more."""
        costs = self.costs(self.settings, self.factory.model)
        return Plan(
            round=round_number,
            cycle=cycle,
            phase="full",
            groups=groups,
            total_groups=total_groups,
            payload=Payload("model", costs.model_bytes),
            work=(WorkStep("train", costs.training_multiply_adds * self.settings.epochs),),
            memory_fill={},
            reuse_batch=False,
            scatter=None,
            trained_parameters=costs.parameters,
            extra_uplink_bytes=costs.extra_uplink_bytes,
            relay_bytes=costs.relay_bytes,
            uplink_bytes=costs.uplink_bytes,
        )

    @abstractmethod
    def start(self) -> State:
        """Return the state before the first round."""

    def report(self, state: State) -> Payload | None:
        """Return what every sensor sends before the coming round is planned; None: nothing."""
        return None

    @abstractmethod
    def plan(self, state: State, context: PlanContext) -> Plan:
        """Return the coming round."""

    @abstractmethod
    def update(self, state: State, plan: Plan, record: RoundRecord) -> State:
        """Return the state for the round after this one."""
