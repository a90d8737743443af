"""Plans rounds: the strategy with its state, and what it may know of the data."""

from collections.abc import Mapping
from time import perf_counter
from typing import Any

import numpy as np

from hfedms_sim.data import Batches
from hfedms_sim.errors import InputError
from hfedms_sim.lineage import Metrics
from hfedms_sim.rounds import Plan, PlanContext, RoundRecord
from hfedms_sim.scenario import ModelSpec, Scenario
from hfedms_sim.strategies import Strategy, make_strategy, path_of
from hfedms_sim.world.world import World


class Planner:
    def __init__(self, scenario: Scenario, model: ModelSpec, batches: Batches, world: World) -> None:
        self.wall_s = 0.0
        self._settings = scenario.strategy
        self._world = world
        self._batches = batches
        self._strategy: Strategy[Any, Any] = make_strategy(
            scenario, model, world.covered, batches.local_sizes, world.network
        )
        self._state = self._strategy.start()
        self._metrics: Mapping[str, float | None] = {}

    @property
    def needs_metrics(self) -> bool:
        """Whether plans read what the model has measured."""
        return self._strategy.needs_metrics

    def note(self, metrics: Metrics) -> None:
        """Note what the model measures after the last round."""
        if self.needs_metrics:
            self._metrics = metrics._asdict()

    def plan(self) -> Plan:
        """The coming round; where the strategy asks for reports, the world plays them first."""
        report = self._strategy.report(self._state)
        captures = None if report is None else self._world.report(report)
        started = perf_counter()
        counts = None if captures is None else self._batches.counts(captures)
        sensors = self._world.expected if captures is None else np.array(list(captures), dtype=np.int64)
        under_way = self._world.expected_back, self._world.chains_under_way
        context = PlanContext(counts, self._world.network, sensors, *under_way, self._metrics)
        plan = self._strategy.plan(self._state, context)
        self.wall_s += perf_counter() - started
        self._require_payload(plan)
        self._require_idle(plan)
        self._require_declared(plan)
        return plan

    def _require_payload(self, plan: Plan) -> None:
        """Refuse a plan whose transfers have no size: no radio could say how long they take."""
        if plan.payload.size_bytes < 1 or plan.extra_uplink_bytes < 0:
            sent = f"{plan.payload.size_bytes} bytes and {plan.extra_uplink_bytes} more up"
            raise InputError(f"{path_of(type(self._strategy))}: plan sends {sent}; must be at least 1 and 0")

    def _require_idle(self, plan: Plan) -> None:
        """Refuse a plan for sensors that are still under way, or that does not let them go on."""
        if not self._world.chains_under_way:
            return
        path = path_of(type(self._strategy))
        if not plan.carries_over:
            raise InputError(f"{path}: plan of round {plan.round} awaits everybody, but chains of earlier ones go on")
        busy = set(self._world.under_way.tolist())
        for group in plan.groups:
            for sensor in busy.intersection(group.sensors):
                raise InputError(f"{path}: plan of round {plan.round} starts sensor {sensor}, which is under way")
            busy.update(group.sensors)

    def _require_declared(self, plan: Plan) -> None:
        """Refuse chains of several sensors where the settings have said that nobody relays, so that codecs fit."""
        settings, has_chains = self._settings, not plan.edge_rounds and any(len(each) > 1 for _, each in plan.groups)
        if has_chains and not settings.relays and not settings.compression.is_off:
            what = "plans chains of several sensors, and its settings say relays = False"
            raise InputError(f"{path_of(type(self._strategy))}: {what}; with compression they must say True")

    def after(self, plan: Plan, record: RoundRecord) -> None:
        self._state = self._strategy.update(self._state, plan, record)
