"""Work without a barrier: what strategies with windows of arrivals share (docs/windows.md).

At most C = floor(kappa K) sensors are under way at once. Whoever arrives is replaced at once, by a sensor drawn anew of
those that are idle; when so many have arrived that the server makes a new model, the window is closed, and whoever
starts after that starts from the new one. A sensor starts at most once in a window, so at most once from each model.

How stale an arrival is counts the models that the server has made since the one it started from, t. It then counts
s(t) of what it would count otherwise:

    constant     1
    polynomial   (1 + t)^-a
    hinge        1 if t <= b, else 1 / (a (t - b) + 1)
"""

from abc import abstractmethod
from collections.abc import Sequence
from dataclasses import replace
from typing import Any, ClassVar, Literal, TypeVar

import numpy as np

from hfedms_sim.rounds import Group, Plan, PlanContext, RoundRecord, Singles
from hfedms_sim.scenario import LocalTraining, NonNegativeFloat
from hfedms_sim.schedule import selected
from hfedms_sim.strategies.base import Strategy
from hfedms_sim.strategies.workload import Workload

StalenessLaw = Literal["constant", "polynomial", "hinge"]
_UNUSED: dict[StalenessLaw, frozenset[str]] = {
    "constant": frozenset({"staleness_exponent", "staleness_slope", "staleness_limit"}),
    "polynomial": frozenset({"staleness_slope", "staleness_limit"}),
    "hinge": frozenset({"staleness_exponent"}),
}
"""Settings of the other laws."""


class WindowSettings(LocalTraining):
    """Sensors train and arrive on their own; there is no barrier."""

    can_over_select: ClassVar[bool] = False
    relays: ClassVar[bool | None] = False

    staleness: StalenessLaw = "polynomial"
    """How an arrival loses weight that started from an older model: not at all, by a power, or beyond a limit."""
    staleness_exponent: NonNegativeFloat = 0.5
    """a of the polynomial law."""
    staleness_slope: NonNegativeFloat = 10.0
    """a of the hinge."""
    staleness_limit: NonNegativeFloat = 4.0
    """b of the hinge: up to here an arrival counts in full."""

    def learning_settings(self) -> dict[str, Any]:
        """Return the settings that decide what is learnt; those of other laws of staleness do not."""
        decisive = super().learning_settings()
        return {key: value for key, value in decisive.items() if key not in _UNUSED[self.staleness]}

    def weight_of(self, staleness: int) -> float:
        """Return s(t), what an arrival counts that is so stale."""
        if self.staleness == "polynomial":
            return float((1.0 + staleness) ** -self.staleness_exponent)
        if self.staleness == "hinge" and staleness > self.staleness_limit:
            return 1.0 / (self.staleness_slope * (staleness - self.staleness_limit) + 1.0)
        return 1.0


Own = TypeVar("Own", bound=WindowSettings)


class Windowed(Strategy[Own, int]):
    """Sensors that train alone. The state is the number of the coming window."""

    @classmethod
    @abstractmethod
    def awaited(cls, settings: Own) -> int:
        """Return after how many arrivals the server makes a new model."""

    @classmethod
    def workload(cls, settings: Own, sensors: int, rounds: int) -> Workload:
        """Return what all arrivals are worth, and whoever is under way at the end."""
        under_way = selected(settings.sample_ratio, sensors)
        return Workload(rounds * cls.awaited(settings) + under_way, under_way)

    def start(self) -> int:
        return 1

    def plan(self, state: int, context: PlanContext) -> Plan:
        starting, waiting = self._draw(state, context)
        return replace(
            self.full_plan(state, state, starting, total_groups=len(self.factory.sensors)),
            closes_after=self.awaited(self.settings),
            carries_over=True,
            standby=waiting,
        )

    def _draw(self, window: int, context: PlanContext) -> tuple[tuple[Group, ...], Sequence[Group]]:
        """Return who starts now, and who is next: those that are idle first, then whoever is back by then."""
        idle, busy, draws = context.sensors, context.under_way, self.factory.draws
        concurrency = selected(self.settings.sample_ratio, len(idle) + len(busy))
        free = max(0, concurrency - context.chains_under_way)
        drawn = draws.order("selection", idle, window)
        starting = Singles(np.sort(drawn[:free]))
        following = np.append(drawn[free:], draws.order("selection", busy, window))
        return tuple(starting), Singles(following, len(starting))

    def update(self, state: int, plan: Plan, record: RoundRecord) -> int:
        return state + 1
