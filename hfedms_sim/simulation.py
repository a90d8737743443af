"""run(scenario) -> RunResult: the only place where the world and the learning side meet.

A round: the sensors report if the strategy asks, the strategy plans, the world plays the plan on the simulated
clock, the learner trains what the record says, the strategy takes note. Training is not built yet, so a run is
timing-only.
"""

import gc
import platform
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from math import inf
from pathlib import Path
from time import perf_counter
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from hfedms_sim.closed_form import exact_seconds, exact_traffic
from hfedms_sim.data import Batches, Dataset, open_dataset
from hfedms_sim.errors import InputError, RunError
from hfedms_sim.feasibility import LONGEST_FIRST_ROUND_S
from hfedms_sim.provenance import now, package_version, provenance_of
from hfedms_sim.result import RunDirectory, RunResult
from hfedms_sim.rounds import Plan, RoundRecord, lineage_after, lineage_root
from hfedms_sim.scenario import Scenario
from hfedms_sim.seeds import Draws
from hfedms_sim.strategies import Strategy, make_strategy
from hfedms_sim.trace import Trace
from hfedms_sim.units import format_seconds
from hfedms_sim.world import World

LEARNING_VERSION = 0  # changes whenever the same lineage would learn something else


class Progress(NamedTuple):
    round: int
    rounds: int
    simulated_s: float


def run(
    scenario: Scenario,
    *,
    timing_only: bool,
    allow_infeasible: bool = False,
    out: RunDirectory | Path | str | None = None,
    on_round: Callable[[Progress], None] = lambda progress: None,
) -> RunResult:
    """Plays the scenario. `out` is the run directory; None keeps the tables in memory.

    A first round of more than 30 simulated days is refused unless allowed: such a run is rarely what was meant.
    """
    require_timing_only(timing_only)
    directory = out if isinstance(out, RunDirectory) or out is None else RunDirectory.at(Path(out))
    started = perf_counter()
    provenance = provenance_of(scenario.seed)
    try:
        if directory is not None:
            directory.begin(scenario, provenance)
        with Trace(None if directory is None else directory.path) as trace:
            dataset = open_dataset(
                scenario.data, sensors=scenario.sensors.count, types=scenario.sensors.types, seed=scenario.seed
            )
            world = World(scenario, trace, _limiting_sizes(scenario, dataset))
            planner = _Planner(scenario, dataset, world)
            built = perf_counter()
            longest_s = inf if allow_infeasible else LONGEST_FIRST_ROUND_S
            lineage = _play_rounds(scenario, dataset, planner, world, trace, on_round, longest_s)
            played = perf_counter()
        summary = _summary(scenario, world, lineage, perf_counter() - started)
        provenance |= {
            "ended": now(),
            "wall_s": {
                "start": built - started,
                "plan": planner.wall_s,
                "play": played - built - planner.wall_s,
                "write": perf_counter() - played,
            },
        }
        if directory is not None:
            directory.write_json("summary.json", summary)
            directory.write_json("provenance.json", provenance)
    except OSError as error:
        where = error.filename or (directory.path if directory else "run")
        raise RunError(f"{where}: cannot be written ({error.strerror or error})") from None
    except InputError:
        if directory is not None:
            directory.abandon()
        raise
    finally:
        if directory is not None:
            directory.unlock()
    tables = {recorder.table.name: recorder.gathered() for recorder in trace.recorders} if directory is None else None
    return RunResult(scenario, summary, provenance, tables, None if directory is None else directory.path)


def require_timing_only(timing_only: bool) -> None:
    if not timing_only:
        raise InputError("training is not built yet: add --timing-only for simulated time, bytes and the trace")


def _limiting_sizes(scenario: Scenario, dataset: Dataset) -> NDArray[np.int64] | None:
    """How many samples each sensor owns, unless all own more than a capture takes."""
    stream = scenario.stream
    if stream.arrival == "static" or stream.batch > dataset.least_train_samples:
        return dataset.train_sizes(np.arange(scenario.sensors.count))
    return None


class _Planner:
    """The strategy with its state, and what it knows of the data: the class counts that the sensors report."""

    def __init__(self, scenario: Scenario, dataset: Dataset, world: World) -> None:
        stream = scenario.stream
        self.wall_s = 0.0
        self._world = world
        self._strategy: Strategy[Any] = make_strategy(scenario, world.covered)
        self._state = self._strategy.start()
        self._batches = Batches(
            dataset, Draws(scenario.seed), stream.batch, static=stream.arrival == "static", augment=stream.augment
        )

    def plan(self) -> Plan:
        """The coming round; where the strategy asks for reports, the world plays them first."""
        report = self._strategy.report(self._state)
        captures = None if report is None else self._world.report(report)
        started = perf_counter()
        counts = None if captures is None else self._batches.counts(captures)
        plan = self._strategy.plan(self._state, counts)
        self.wall_s += perf_counter() - started
        return plan

    def after(self, plan: Plan, record: RoundRecord) -> None:
        self._state = self._strategy.after(self._state, plan, record)


def _play_rounds(
    scenario: Scenario,
    dataset: Dataset,
    planner: _Planner,
    world: World,
    trace: Trace,
    on_round: Callable[[Progress], None],
    longest_first_round_s: float,
) -> str:
    """Returns the lineage after the last round."""
    lineage = lineage_root(_lineage_settings(scenario, dataset))
    for number in range(1, scenario.rounds + 1):
        with _collector_paused():
            plan, record, cost = _play_round(number, planner, world)
            planner.after(plan, record)
            lineage = lineage_after(lineage, record)
            trace.rounds.append(_round_row(plan, record, cost, lineage))
        if number == 1 and record.end_s > longest_first_round_s:
            takes = format_seconds(record.end_s)
            raise InputError(
                f"the first round takes {takes} of simulated time; --allow-infeasible goes on all the same"
            )
        on_round(Progress(number, scenario.rounds, record.end_s))
    return lineage


class _RoundCost(NamedTuple):
    uplink_bytes: int
    downlink_bytes: int
    retransmitted_bytes: int
    energy_j: float | None
    baseline_energy_j: float | None


def _play_round(number: int, planner: _Planner, world: World) -> tuple[Plan, RoundRecord, _RoundCost]:
    """The plan, what became of it, and what it cost."""
    before = (world.payload_bytes["up"], world.payload_bytes["down"], world.retransmitted_bytes)
    world.begin(number)
    plan = planner.plan()
    record = world.play(plan)
    after = (world.payload_bytes["up"], world.payload_bytes["down"], world.retransmitted_bytes)
    up, down, again = (now - then for now, then in zip(after, before, strict=True))
    energy = world.end_round()
    return plan, record, _RoundCost(up, down, again, *((None, None) if energy is None else energy))


@contextmanager
def _collector_paused() -> Iterator[None]:
    """What a round allocates lives until its end and has no cycles.

    Looking for garbage in it would cost a round of a million sensors more than half its time, and find none.
    """
    was_enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_enabled:
            gc.enable()


def _round_row(plan: Plan, record: RoundRecord, cost: _RoundCost, lineage: str) -> tuple[object, ...]:
    trained = sum(participation.trained for participation in record.participations)
    return (
        record.round, record.cycle, record.phase, record.start_s, record.end_s,
        len(plan.groups), plan.participants, plan.participants - trained,
        plan.group_distance,
        *cost,
        trained * plan.trained_parameters,
        None, None, None, None, None, None,  # accuracy, loss, percentiles, probe
        lineage,
    )  # fmt: skip


def _lineage_settings(scenario: Scenario, dataset: Dataset) -> dict[str, Any]:
    """Everything but the rounds themselves that decides what is learnt, or to which last bit."""
    return {
        "data": dataset.content,
        "augment": scenario.stream.augment,
        "arrival": scenario.stream.arrival,
        "model": scenario.model,
        "strategy": scenario.strategy.learning_settings(),
        "seed": scenario.seed,
        "engine": scenario.engine,
        "threads": 1,
        "device": "cpu",
        "instruction_set": platform.machine(),
        "torch": package_version("torch"),
        "learning_version": LEARNING_VERSION,
    }


def _summary(scenario: Scenario, world: World, lineage: str, wall_s: float) -> dict[str, Any]:
    up, down = world.payload_bytes["up"], world.payload_bytes["down"]
    traffic = exact_traffic(scenario)
    return {
        "scenario": scenario.name,
        "strategy": scenario.strategy.name,
        "profile": scenario.profile_names,
        "seed": scenario.seed,
        "rounds": scenario.rounds,
        "simulated_s": world.env.now,
        "wall_s": wall_s,
        "final_accuracy": None,
        "best_accuracy": None,
        "final_loss": None,
        "bytes": {"up": up, "down": down, "total": up + down},
        "energy_j": world.energy_j,
        "targets": [
            {"accuracy": target, "round": None, "simulated_s": None, "bytes": None, "energy_j": None}
            for target in scenario.targets
        ],
        "closed_form": {
            "bytes": None if traffic is None else traffic.total_bytes,
            "seconds": exact_seconds(scenario),
        },
        "lineage": lineage,
    }
