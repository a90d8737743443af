"""What a strategy is: a planner over an explicit state. It sees counts and records, never the clock.

state = strategy.start() each round: the report it asks for, if any -> plan(state, counts) -> the world plays ->
state = after(state, plan, record)
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Protocol, TypeVar

import numpy as np
from numpy.typing import NDArray

from hfedms_sim.rounds import Payload, Plan, RoundRecord

State = TypeVar("State")
ClassCounts = NDArray[np.int64]  # sensors x classes
SensorIds = NDArray[np.int64]  # those that can take part
LocalSizes = Callable[[SensorIds], NDArray[np.int64]]  # how many train samples each of them owns


class Strategy(Protocol[State]):
    def start(self) -> State:
        """Before the first round."""

    def report(self, state: State) -> Payload | None:
        """What every sensor sends before the coming round is planned; None: nothing."""

    def plan(self, state: State, counts: ClassCounts | None) -> Plan:
        """The coming round. `counts` are the reported class counts, where a data set knows them."""

    def after(self, state: State, plan: Plan, record: RoundRecord) -> State:
        """The state for the round after `record`."""


@dataclass(frozen=True)
class Algorithm:
    """A published algorithm and how its rounds are planned; how it learns from them is in learners.py."""

    paper: str
    rule: str
    """In one formula; w is the server's model, w_k what sensor k makes of it, n_k how many samples it has."""
    planner: Callable[..., Strategy[Any]]
