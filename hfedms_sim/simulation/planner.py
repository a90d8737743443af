"""Plans rounds: the strategy with its state, and what it may know of the data."""

from time import perf_counter
from typing import Any

import numpy as np

from hfedms_sim.data import Batches
from hfedms_sim.errors import InputError
from hfedms_sim.rounds import Plan, PlanContext, RoundRecord
from hfedms_sim.scenario import ModelSpec, Scenario
from hfedms_sim.strategies import Strategy, make_strategy, path_of
from hfedms_sim.world import World


class Planner:
    def __init__(self, scenario: Scenario, model: ModelSpec, batches: Batches, world: World) -> None:
        self.wall_s = 0.0
        self._settings = scenario.strategy
        self._world = world
        self._batches = batches
        self._strategy: Strategy[Any, Any] = make_strategy(scenario, model, world.covered, batches.local_sizes)
        self._state = self._strategy.start()

    def plan(self) -> Plan:
        """The coming round; where the strategy asks for reports, the world plays them first."""
        report = self._strategy.report(self._state)
        captures = None if report is None else self._world.report(report)
        started = perf_counter()
        counts = None if captures is None else self._batches.counts(captures)
        sensors = self._world.expected if captures is None else np.array(list(captures), dtype=np.int64)
        plan = self._strategy.plan(self._state, PlanContext(counts, self._world.network, sensors))
        self.wall_s += perf_counter() - started
        self._require_payload(plan)
        self._require_declared(plan)
        return plan

    def _require_payload(self, plan: Plan) -> None:
        """Refuse a plan whose transfers have no size: no radio could say how long they take."""
        if plan.payload.size_bytes < 1 or plan.extra_uplink_bytes < 0:
            sent = f"{plan.payload.size_bytes} bytes and {plan.extra_uplink_bytes} more up"
            raise InputError(f"{path_of(type(self._strategy))}: plan sends {sent}; must be at least 1 and 0")

    def _require_declared(self, plan: Plan) -> None:
        """Refuse chains of several sensors where the settings have said that nobody relays, so that codecs fit."""
        settings = self._settings
        if not settings.relays and not settings.compression.is_off and any(len(each) > 1 for _, each in plan.groups):
            what = "plans chains of several sensors, and its settings say relays = False"
            raise InputError(f"{path_of(type(self._strategy))}: {what}; with compression they must say True")

    def after(self, plan: Plan, record: RoundRecord) -> None:
        self._state = self._strategy.update(self._state, plan, record)
