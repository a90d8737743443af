"""One run in progress: the world, the strategy's planner and, unless it is timing-only, the learner.

A round: the sensors report if the strategy asks, the strategy plans, the world plays the plan on the simulated clock,
the strategy takes note of the record, and the learner trains what it says.
"""

import gc
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from math import isfinite
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from hfedms_sim.closed_form import exact_seconds, exact_traffic
from hfedms_sim.data import Dataset, batches_of
from hfedms_sim.errors import ALLOW_INFEASIBLE, TIMING_ONLY, InputError
from hfedms_sim.learning import LEARNING_VERSION
from hfedms_sim.limits import Limits
from hfedms_sim.lineage import LineageStore, Metrics
from hfedms_sim.rounds import Plan, RoundRecord, empty_plan, lineage_after, lineage_root
from hfedms_sim.scenario import Scenario
from hfedms_sim.schedule import cycle_of
from hfedms_sim.simulation.battery import energy_summary
from hfedms_sim.simulation.engines import Computing, instruction_set
from hfedms_sim.simulation.milestones import CostSoFar, Milestones
from hfedms_sim.simulation.occupancy import occupancy_of
from hfedms_sim.simulation.parts import Parts, lineage_data
from hfedms_sim.simulation.planner import Planner
from hfedms_sim.simulation.progress import Progress
from hfedms_sim.simulation.remembering_learner import RememberingLearner
from hfedms_sim.stopping import Stopped
from hfedms_sim.system.provenance import package_version
from hfedms_sim.trace import RoundRow, Trace
from hfedms_sim.units import format_seconds
from hfedms_sim.world.faults.conditions import Stalled
from hfedms_sim.world.world import RoundCost, World


class PlayedRound(NamedTuple):
    """One round on the simulated clock: what was meant to happen, what did, and what it cost."""

    plan: Plan
    """Which sensors form a chain, what each hop carries, who computes what."""
    record: RoundRecord
    """When the round began and ended, what each sensor captured, whether it trained and whose model arrived."""
    cost: RoundCost
    """Bytes in both directions, joules where the radio's currents are known."""


class Session:
    """`store`: where what is learnt is looked up and kept; None: nothing is learnt, the run is timing-only."""

    def __init__(
        self, scenario: Scenario, parts: Parts, trace: Trace, *, threads: int, device: str, store: LineageStore | None
    ) -> None:
        self._scenario = scenario
        self._model = parts.model
        self._trace = trace
        batches = batches_of(scenario, parts.dataset)
        self.world = World(scenario, trace, _limiting_sizes(scenario, parts.dataset))
        self.cells = occupancy_of(self.world)
        self._planner = Planner(scenario, parts.model, batches, self.world)
        if store is None and self._planner.needs_metrics and scenario.rounds > 1:
            reads = "plans by what the model has measured, so its rounds cannot be played without training: leave out "
            raise InputError(f"strategy.name = {scenario.strategy.name}: {reads}", TIMING_ONLY)
        self._milestones = Milestones(scenario.targets)
        computing = Computing.of(scenario, parts.model, threads, device)
        settings = lineage_settings(scenario, parts, computing)
        self._lineage = lineage_root(settings) if store is None else store.claim(settings)
        self.learner = None if store is None else RememberingLearner(scenario, parts, batches, computing, store)
        self._rounds_played = self._rounds_learnt = 0
        self._updated_parameters = 0
        self._stopped: Stopped | None = None
        self._void_rounds = 0

    def play(self, on_round: Callable[[Progress], None], longest_first_round_s: float) -> None:
        """All rounds, or until the accuracy to stop at is reached or the training has diverged."""
        for played in self.played_rounds(longest_first_round_s):
            plan, record, _ = played
            is_learnt = bool(plan.groups or record.chains or record.phase == "calibration")
            metrics = self._learn(record, is_learnt)
            self._rounds_played = record.round
            under_way = self.world.chains_under_way if plan.carries_over else None
            measured = (metrics or Metrics())._asdict()
            row = RoundRow.of(plan, record, played.cost.columns(), measured, self._lineage, under_way)
            self._trace.rounds.append(row)
            on_round(self._progress(record, metrics))
            if self._stopped is not None:
                break
        self.world.end_run()

    def played_rounds(self, longest_first_round_s: float) -> Iterator[PlayedRound]:
        """Play one round after the other on the simulated clock, each when it is asked for."""
        for number in range(1, self._scenario.rounds + 1):
            try:
                with _collector_paused():
                    played = self._play_round(number)
            except Stalled as reason:
                yield self._round_without_anybody(number, str(reason))
                return
            if number == 1 and (first_s := played.record.end_s - played.record.start_s) > longest_first_round_s:
                takes = f"the first round takes {format_seconds(first_s)} of simulated time; "
                raise InputError(takes, ALLOW_INFEASIBLE, " goes on all the same")
            yield played
            self._note_progress(played.record)
            if self._stopped is not None:
                return

    def summary(self, wall_s: float, limits: Limits) -> dict[str, Any]:
        scenario, world, reached = self._scenario, self.world, self._milestones
        up, down = world.payload_bytes["up"], world.payload_bytes["down"]
        played = scenario.model_copy(update={"rounds": self._rounds_played})
        traffic = exact_traffic(played, self._model)
        return {
            "scenario": scenario.name,
            "strategy": scenario.strategy.name,
            "profile": scenario.profile_names,
            "seed": scenario.seed,
            "rounds": self._rounds_played,
            "stopped": None if self._stopped is None else self._stopped._asdict(),
            "simulated_s": world.now_s,
            "wall_s": wall_s,
            "coverage": {"sensors": scenario.sensors.count, "covered": len(world.covered)},
            "final_accuracy": reached.final_accuracy,
            "best_accuracy": reached.best_accuracy,
            "final_loss": reached.final_loss,
            "bytes": {"up": up, "down": down, "total": up + down},
            "energy_j": world.energy_j,
            **energy_summary(scenario, world, self._rounds_played),
            "faults": dict(sorted(world.faults.by_kind.items())),
            "cells": [
                cell._asdict() | {"directions": limits.directions(number)} for number, cell in enumerate(self.cells)
            ],
            "limited_by": limits.summary(),
            "targets": reached.summary(),
            "closed_form": {
                "bytes": None if traffic is None else traffic.total_bytes,
                "seconds": exact_seconds(played, self._model),
            },
            "lineage": self._lineage,
        }

    def wall_s(self, rounds_s: float) -> dict[str, float]:
        """Return the seconds that all rounds took, without their checkpoints, by what was done in them."""
        spent_s = {"plan": self._planner.wall_s, "learn": 0.0, "evaluate": 0.0}
        if self.learner is not None:
            spent_s |= {"learn": self.learner.learn_s, "evaluate": self.learner.evaluate_s}
        return spent_s | {"play": rounds_s - sum(spent_s.values())}

    @property
    def checkpoint_s(self) -> float:
        return 0.0 if self.learner is None else self.learner.checkpoint_s

    @property
    def rounds_trained(self) -> int:
        return 0 if self.learner is None else self.learner.rounds_trained

    @property
    def rounds_reused(self) -> int:
        """Those whose learning was found in the store."""
        return 0 if self.learner is None else max(0, self._rounds_learnt - self.learner.rounds_trained)

    def _progress(self, record: RoundRecord, metrics: Metrics | None) -> Progress:
        sent, reached = self.world.payload_bytes, self._milestones
        return Progress(
            round=record.round,
            rounds=self._scenario.rounds,
            simulated_s=record.end_s,
            accuracy=reached.final_accuracy,
            trained=self.rounds_trained,
            loss=reached.final_loss,
            is_evaluated=metrics is not None and metrics.accuracy is not None,
            phase=record.phase,
            uplink_bytes=sent["up"],
            downlink_bytes=sent["down"],
            energy_j=self.world.energy_j,
            updated_parameters=self._updated_parameters,
        )

    def _play_round(self, number: int) -> PlayedRound:
        world = self.world
        world.begin_round(number)
        plan = self._planner.plan()
        record = world.play(plan)
        cost = world.end_round()
        self._planner.after(plan, record)
        self._lineage = lineage_after(self._lineage, record)
        self._updated_parameters += plan.trained_parameters * sum(each.trained for each in record.participations)
        return PlayedRound(plan, record, cost)

    def _round_without_anybody(self, number: int, reason: str) -> PlayedRound:
        """End the run with a void round that could not be planned: nothing is learnt from it."""
        self._stopped = Stopped.stalled(reason, number)
        cycle = cycle_of(number, self._scenario.strategy.cycle_rounds)
        self.world.faults.note("void", f"round {number}", reason)
        return PlayedRound(empty_plan(number, cycle), self.world.without_anybody(number, cycle), self.world.end_round())

    def _learn(self, record: RoundRecord, is_learnt: bool) -> Metrics | None:
        """Learn a round and return what the model measures then, if the round is evaluated.

        `is_learnt`: False for a round in which nobody was to take part, from which there is nothing to learn.
        """
        if self.learner is None:
            return None
        if is_learnt:
            self._rounds_learnt += 1
            if not self.learner.learn(record, self._lineage):
                self._note_divergence(record, "a weight")
                return None
        scenario = self._scenario
        is_last = record.round == scenario.rounds or self._is_over(record)
        is_due = is_last or (is_learnt and record.round % scenario.evaluate_every == 0)
        if not is_due or not self._rounds_learnt:
            return None
        metrics = self.learner.evaluate()
        if metrics.loss is not None and not isfinite(metrics.loss):
            self._note_divergence(record, "the loss")
            return None
        self._planner.note(metrics)
        if metrics.accuracy is not None:
            total_bytes = sum(self.world.payload_bytes.values())
            spent = CostSoFar(record.round, record.end_s, total_bytes, self.world.energy_j, self._updated_parameters)
            self._milestones.note(metrics.accuracy, metrics.loss, spent)
            if scenario.stop_at is not None and metrics.accuracy >= scenario.stop_at:
                self._stopped = Stopped.at_target(scenario.stop_at, record.round)
        return metrics

    def _note_progress(self, record: RoundRecord) -> None:
        """End the run if its time is over or it makes none: too many void rounds in a row, or nobody is left.

        Calibration rounds without anybody follow from a void full round, and do not count.
        """
        after_s = self._scenario.stop_after_s
        if after_s is not None and self._is_over(record) and self._stopped is None:
            self._stopped = Stopped.out_of_time(after_s, record.round)
        if self._stopped is not None or (record.phase == "calibration" and not record.chains):
            return
        if record.under_way and not record.chains:  # a window that was closed before anybody could be back
            return
        self._void_rounds = self._void_rounds + 1 if record.is_void else 0
        if record.is_void and self.world.is_deserted:
            self._stopped = Stopped.stalled("every sensor is gone for ever", record.round)
        elif self._void_rounds >= self._scenario.recovery.void_rounds:
            self._stopped = Stopped.stalled(f"{self._void_rounds} void rounds in a row", record.round)

    def _is_over(self, record: RoundRecord) -> bool:
        """Return whether the simulated time to stop after is over with this round."""
        after_s = self._scenario.stop_after_s
        return after_s is not None and record.end_s >= after_s

    def _note_divergence(self, record: RoundRecord, what: str) -> None:
        self._stopped = Stopped.diverged(what, record.round)
        detail = f"{self._stopped.detail}; a lower strategy.learning_rate may help"
        self.world.faults.note("diverged", "learning", detail)


def _limiting_sizes(scenario: Scenario, dataset: Dataset) -> NDArray[np.int64] | None:
    """How many samples each sensor owns, unless all own more than a capture takes."""
    stream = scenario.stream
    if stream.arrival == "static" or stream.batch > dataset.least_train_samples:
        return dataset.train_sizes(np.arange(scenario.sensors.count))
    return None


@contextmanager
def _collector_paused() -> Iterator[None]:
    """Pause the garbage collector while a round is played, and put it back as it was.

    What a round allocates lives until its end, or while its chains are under way, and has no cycles. Looking for
    garbage in it would cost a round of a million sensors more than half its time, and find none. So what is left of it
    is not looked at when the round has ended either: it counts as old. (Freezing and thawing moves everything to the
    oldest generation; where somebody has frozen objects, it would thaw theirs.)
    """
    was_enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_enabled:
            if not gc.get_freeze_count():
                gc.freeze()
                gc.unfreeze()
            gc.enable()


def lineage_settings(scenario: Scenario, parts: Parts, computing: Computing) -> dict[str, Any]:
    """Return everything but the rounds themselves that decides what is learnt, or to which last bit."""
    return {
        **parts.outside.digests(),
        **({"module": parts.model.fingerprint} if parts.model.fingerprint else {}),
        "data": lineage_data(parts.dataset),
        "augment": scenario.stream.augment,
        "arrival": "static" if scenario.stream.arrival == "static" else "stream",
        "batch": scenario.stream.batch,
        "model": scenario.model,
        "strategy": scenario.strategy.learning_settings(),
        "seed": scenario.seed,
        **computing._asdict(),
        "instruction_set": instruction_set(computing.engine),
        "torch": package_version("torch"),
        "learning_version": LEARNING_VERSION,
    }
