"""One run in progress: the world, the strategy's planner and, unless it is timing-only, the trainer.

A round: the sensors report if the strategy asks, the strategy plans, the world plays the plan on the simulated
clock, the learner trains what the record says, the strategy takes note.
"""

import gc
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from math import isfinite
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from hfedms_sim.closed_form import exact_seconds, exact_traffic
from hfedms_sim.data import Batches, Dataset, open_dataset
from hfedms_sim.errors import InputError
from hfedms_sim.limits import Limits
from hfedms_sim.lineage import LineageStore, Metrics
from hfedms_sim.provenance import package_version
from hfedms_sim.rounds import Plan, RoundRecord, lineage_after, lineage_root
from hfedms_sim.scenario import Scenario
from hfedms_sim.seeds import Draws
from hfedms_sim.simulation.battery import energy_summary
from hfedms_sim.simulation.engines import engine_of, instruction_set, require_runnable
from hfedms_sim.simulation.lineage_trainer import LineageTrainer
from hfedms_sim.simulation.milestones import Milestones, Spent
from hfedms_sim.simulation.occupancy import occupancy_of
from hfedms_sim.simulation.planner import Planner
from hfedms_sim.strategies import code_digest, strategy_of
from hfedms_sim.trace import Trace
from hfedms_sim.units import format_seconds
from hfedms_sim.world import RoundCost, World

if TYPE_CHECKING:
    from hfedms_sim.simulation.trainer import Trainer

LEARNING_VERSION = 1  # changes whenever the same lineage would learn something else

_NOT_MEASURED = (None,) * 6  # accuracy, loss, percentiles, probe
_NO_JOULES = (None,) * 7  # by state


class Progress(NamedTuple):
    round: int
    rounds: int
    simulated_s: float
    accuracy: float | None
    """Of the last evaluation; None before it, and in timing-only runs."""
    trained: int = 0
    """How many rounds were trained so far, not found in a store."""


class Session:
    """`store`: where what is learnt is looked up and kept; None: nothing is learnt, the run is timing-only."""

    def __init__(
        self, scenario: Scenario, trace: Trace, *, threads: int, device: str, store: LineageStore | None
    ) -> None:
        self._scenario = scenario
        self._trace = trace
        dataset = open_dataset(
            scenario.data, sensors=scenario.sensors.count, types=scenario.sensors.types, seed=scenario.seed
        )
        batches = _batches(scenario, dataset)
        self._world = World(scenario, trace, _limiting_sizes(scenario, dataset))
        self.cells = occupancy_of(self._world)
        self._planner = Planner(scenario, batches, self._world)
        self._milestones = Milestones(scenario.targets)
        settings = _lineage_settings(scenario, dataset, threads, device)
        self._lineage = lineage_root(settings) if store is None else store.claim(settings)
        self.trainer = None if store is None else _trainer(scenario, dataset, batches, threads, device, store)
        self._rounds_played = 0
        self._updated_parameters = 0
        self._stopped: str | None = None

    def play(self, on_round: Callable[[Progress], None], longest_first_round_s: float) -> None:
        """All rounds, or until the accuracy to stop at is reached or the training has diverged."""
        rounds = self._scenario.rounds
        for number in range(1, rounds + 1):
            with _collector_paused():
                plan, record, cost = self._play_round(number)
            if number == 1 and record.end_s > longest_first_round_s:
                takes = format_seconds(record.end_s)
                raise InputError(
                    f"the first round takes {takes} of simulated time; --allow-infeasible goes on all the same"
                )
            metrics = self._learn(record)
            self._rounds_played = number
            self._trace.rounds.append(_round_row(plan, record, cost, metrics, self._lineage))
            on_round(Progress(number, rounds, record.end_s, self._milestones.final_accuracy, self.rounds_trained))
            if self._stopped is not None:
                break
        self._world.end_run()

    def summary(self, wall_s: float, limits: Limits) -> dict[str, Any]:
        scenario, world, reached = self._scenario, self._world, self._milestones
        up, down = world.payload_bytes["up"], world.payload_bytes["down"]
        played = scenario.model_copy(update={"rounds": self._rounds_played})
        traffic = exact_traffic(played)
        return {
            "scenario": scenario.name,
            "strategy": scenario.strategy.name,
            "profile": scenario.profile_names,
            "seed": scenario.seed,
            "rounds": self._rounds_played,
            "stopped": self._stopped,
            "simulated_s": world.now_s,
            "wall_s": wall_s,
            "coverage": {"sensors": scenario.sensors.count, "covered": len(world.covered)},
            "final_accuracy": reached.final_accuracy,
            "best_accuracy": reached.best_accuracy,
            "final_loss": reached.final_loss,
            "bytes": {"up": up, "down": down, "total": up + down},
            "energy_j": world.energy_j,
            **energy_summary(scenario, world, self._rounds_played),
            "cells": [
                cell._asdict() | {"directions": limits.directions(number)} for number, cell in enumerate(self.cells)
            ],
            "limited_by": limits.summary(),
            "targets": reached.summary(),
            "closed_form": {
                "bytes": None if traffic is None else traffic.total_bytes,
                "seconds": exact_seconds(played),
            },
            "lineage": self._lineage,
        }

    def wall_s(self, rounds_s: float) -> dict[str, float]:
        """By phase, of the seconds that all rounds took, without their checkpoints."""
        spent_s = {"plan": self._planner.wall_s, "learn": 0.0, "evaluate": 0.0}
        if self.trainer is not None:
            spent_s |= {"learn": self.trainer.learn_s, "evaluate": self.trainer.evaluate_s}
        return spent_s | {"play": rounds_s - sum(spent_s.values())}

    @property
    def checkpoint_s(self) -> float:
        return 0.0 if self.trainer is None else self.trainer.checkpoint_s

    @property
    def rounds_trained(self) -> int:
        return 0 if self.trainer is None else self.trainer.rounds_trained

    @property
    def rounds_reused(self) -> int:
        """Those whose learning was found in the store."""
        return 0 if self.trainer is None else max(0, self._rounds_played - self.trainer.rounds_trained)

    def _play_round(self, number: int) -> tuple[Plan, RoundRecord, RoundCost]:
        """The plan, what became of it, and what it cost."""
        world = self._world
        world.begin_round(number)
        plan = self._planner.plan()
        record = world.play(plan)
        cost = world.end_round()
        self._planner.after(plan, record)
        self._lineage = lineage_after(self._lineage, record)
        self._updated_parameters += plan.trained_parameters * sum(each.trained for each in record.participations)
        return plan, record, cost

    def _learn(self, record: RoundRecord) -> Metrics | None:
        """Metrics if the round was evaluated."""
        if self.trainer is None:
            return None
        if not self.trainer.learn(record, self._lineage):
            self._note_divergence(record, "a weight")
            return None
        scenario = self._scenario
        if record.round % scenario.evaluate_every and record.round != scenario.rounds:
            return None
        metrics = self.trainer.evaluate()
        if metrics.loss is not None and not isfinite(metrics.loss):
            self._note_divergence(record, "the loss")
            return None
        if metrics.accuracy is not None:
            total_bytes = sum(self._world.payload_bytes.values())
            spent = Spent(record.round, record.end_s, total_bytes, self._world.energy_j, self._updated_parameters)
            self._milestones.note(metrics.accuracy, metrics.loss, spent)
            if scenario.stop_at is not None and metrics.accuracy >= scenario.stop_at:
                self._stopped = f"accuracy {scenario.stop_at:g} reached in round {record.round}"
        return metrics

    def _note_divergence(self, record: RoundRecord, what: str) -> None:
        self._stopped = f"diverged in round {record.round}: {what} is not finite"
        detail = f"{what} is not finite; a lower strategy.learning_rate may help"
        self._trace.faults.append((record.end_s, "diverged", "learning", record.round, detail))


def _batches(scenario: Scenario, dataset: Dataset) -> Batches:
    stream = scenario.stream
    static = stream.arrival == "static"
    return Batches(dataset, Draws(scenario.seed), stream.batch, static=static, augment=stream.augment)


def _limiting_sizes(scenario: Scenario, dataset: Dataset) -> NDArray[np.int64] | None:
    """How many samples each sensor owns, unless all own more than a capture takes."""
    stream = scenario.stream
    if stream.arrival == "static" or stream.batch > dataset.least_train_samples:
        return dataset.train_sizes(np.arange(scenario.sensors.count))
    return None


def _trainer(
    scenario: Scenario, dataset: Dataset, batches: Batches, threads: int, device: str, store: LineageStore
) -> LineageTrainer:
    require_runnable(engine_of(scenario, device), device)

    def make() -> "Trainer":
        from hfedms_sim.simulation.trainer import Trainer  # here: it loads torch

        return Trainer(scenario, dataset, batches, threads, device)

    return LineageTrainer(make, store, model_bytes=scenario.model_spec.model_bytes, probe_round=scenario.probe_round)


@contextmanager
def _collector_paused() -> Iterator[None]:
    """Pause the garbage collector while a round is played, and put it back as it was.

    What a round allocates lives until its end and has no cycles. Looking for garbage in it would cost a round of a
    million sensors more than half its time, and find none.
    """
    was_enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_enabled:
            gc.enable()


def _round_row(
    plan: Plan, record: RoundRecord, cost: RoundCost, metrics: Metrics | None, lineage: str
) -> tuple[object, ...]:
    trained = sum(participation.trained for participation in record.participations)
    return (
        record.round, record.cycle, record.phase, record.start_s, record.end_s,
        len(plan.groups), plan.total_groups, plan.participants, plan.participants - trained,
        plan.group_distance,
        *cost[:-1],
        *(_NO_JOULES if cost.by_state_j is None else cost.by_state_j),
        trained * plan.trained_parameters,
        *(_NOT_MEASURED if metrics is None else metrics),
        lineage,
    )  # fmt: skip


def _lineage_settings(scenario: Scenario, dataset: Dataset, threads: int, device: str) -> dict[str, Any]:
    """Everything but the rounds themselves that decides what is learnt, or to which last bit."""
    engine = engine_of(scenario, device)
    outside = code_digest(strategy_of(scenario.strategy))
    return {
        **({} if outside is None else {"outside_code": outside}),
        "data": dataset.content,
        "augment": scenario.stream.augment,
        "arrival": "static" if scenario.stream.arrival == "static" else "stream",
        "batch": scenario.stream.batch,
        "model": scenario.model,
        "strategy": scenario.strategy.learning_settings(),
        "seed": scenario.seed,
        "engine": engine,
        "threads": threads,
        "device": device,
        "instruction_set": instruction_set(engine),
        "torch": package_version("torch"),
        "learning_version": LEARNING_VERSION,
    }
