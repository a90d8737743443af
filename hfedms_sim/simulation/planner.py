"""Plans rounds: the strategy with its state, and what it may know of the data."""

from time import perf_counter
from typing import Any

from hfedms_sim.data import Batches
from hfedms_sim.rounds import Plan, PlanContext, RoundRecord
from hfedms_sim.scenario import Scenario
from hfedms_sim.strategies import Strategy, make_strategy
from hfedms_sim.world import World


class Planner:
    def __init__(self, scenario: Scenario, batches: Batches, world: World) -> None:
        self.wall_s = 0.0
        self._world = world
        self._batches = batches
        self._strategy: Strategy[Any, Any] = make_strategy(scenario, world.covered, batches.local_sizes)
        self._state = self._strategy.start()

    def plan(self) -> Plan:
        """The coming round; where the strategy asks for reports, the world plays them first."""
        report = self._strategy.report(self._state)
        captures = None if report is None else self._world.report(report)
        started = perf_counter()
        counts = None if captures is None else self._batches.counts(captures)
        plan = self._strategy.plan(self._state, PlanContext(counts, self._world.network))
        self.wall_s += perf_counter() - started
        return plan

    def after(self, plan: Plan, record: RoundRecord) -> None:
        self._state = self._strategy.update(self._state, plan, record)
