"""run(scenario) -> RunResult: plays a scenario, and writes the run directory if there is to be one."""

from collections.abc import Callable, Collection, Sequence
from contextlib import nullcontext
from dataclasses import replace
from functools import partial
from math import inf
from pathlib import Path
from time import perf_counter

from hfedms_sim.data import Dataset
from hfedms_sim.feasibility import LONGEST_FIRST_ROUND_S
from hfedms_sim.limits import limits_of
from hfedms_sim.lineage import LineageStore
from hfedms_sim.result import RunResult
from hfedms_sim.run_directory import RunDirectory, learning_of
from hfedms_sim.scenario import LocalTraining, Scenario
from hfedms_sim.simulation.engines import device_of
from hfedms_sim.simulation.estimate import estimate_of
from hfedms_sim.simulation.finite_figures import require_finite
from hfedms_sim.simulation.occupancy import empty_cells_notice
from hfedms_sim.simulation.output import output_at
from hfedms_sim.simulation.parts import AnyModel, Parts, parts_of, with_objects
from hfedms_sim.simulation.predictions import predictions_of
from hfedms_sim.simulation.progress import Progress
from hfedms_sim.simulation.session import Session
from hfedms_sim.strategies import AnyStrategy
from hfedms_sim.system.provenance import now, provenance_of
from hfedms_sim.trace import thinning_of


def run(  # noqa: PLR0913 (a run has many settings, all by name)
    scenario: Scenario,
    *,
    strategy: LocalTraining | AnyStrategy | None = None,
    model: AnyModel | None = None,
    data: Dataset | None = None,
    parts: Parts | None = None,
    timing_only: bool = False,
    threads: int = 1,
    device: str = "cpu",
    allow_infeasible: bool = False,
    allow_large: bool = False,
    out: RunDirectory | Path | str | None = None,
    learn_from: Sequence[Path | str] = (),
    pins: Collection[str] = (),
    on_round: Callable[[Progress], None] = lambda progress: None,
    on_notice: Callable[[str], None] = lambda line: None,
) -> RunResult:
    """Play a scenario on the simulated clock and train what its sensors captured.

    Arguments:
        scenario: what to play; `load_scenario` makes it.
        strategy: settings to use instead of the scenario's, or a strategy's class for its defaults.
        model: a network to use instead of the one it names: a `Model`, or a function of input shape and classes.
        data: a `Dataset` to use instead of the one it names.
        parts: what the scenario's names stand for, where that is open already.
        timing_only: play the clock without training: same times, bytes and joules, no accuracy, and no torch.
        threads: threads that training uses. Results depend on it, in the last bits.
        device: where training computes: `cpu`, `cuda`, or `auto` for an accelerator if there is one.
        allow_infeasible: go on even if the first round takes more than 30 simulated days, rarely what was meant.
        allow_large: go on even if it is estimated to need more memory, or room on the disk, than there is.
        out: the run directory to make; None keeps the tables and the model in memory.
        learn_from: run directories. What they have learnt under the same lineage is not learnt again.
        pins: lineages whose states are kept for other runs.
        on_round: called after every round with a `Progress`: what is spent so far, and how good the model is.
        on_notice: called with a line about what was found damaged, and about cells without sensors.

    Returns:
        The `RunResult`: tables, summary, costs to an accuracy, the model.

    Raises:
        InputError: the scenario cannot be played, or `out` cannot be used; nothing is left of a new directory.
        RunError: the run could not be completed, because a disk is full for instance.

    Example:

        result = run(load_scenario("quickstart", rounds=20), out="runs/mine")
        result.time_to_accuracy(0.5)  # simulated seconds, or None
    """
    scenario = with_objects(scenario, strategy, model, data)
    output = output_at(out)
    started = perf_counter()
    with output:
        parts = parts or parts_of(scenario, model, data)
        provenance = provenance_of(scenario.seed) | {"timing_only": timing_only, "outside": parts.outside.paths()}
        others = [learning_of(Path(other)) for other in learn_from]
        if not allow_large:
            estimate_of(scenario, parts, timing_only=timing_only).require_room(output.directory)
        output.begin(scenario, provenance)
        stored = nullcontext() if timing_only else LineageStore(output.learning, others, pins=pins, on_notice=on_notice)
        with stored as store:
            with output.open_trace(thinning_of(scenario)) as trace:
                session = Session(scenario, parts, trace, threads=threads, device=device_of(device), store=store)
                if notice := empty_cells_notice(session.cells):
                    on_notice(f"{scenario.name}: {notice}")
                built = perf_counter()
                session.play(on_round, inf if allow_infeasible else LONGEST_FIRST_ROUND_S)
                played = perf_counter()
                checkpoint_s = session.checkpoint_s
            if session.learner is not None:
                output.save_model(session.learner.finish())
        limits = limits_of(scenario, output.tables())
        summary = session.summary(perf_counter() - started, limits)
        require_finite(summary)
        wall_s = {"start": built - started} | session.wall_s(played - built - checkpoint_s)
        provenance |= {
            "ended": now(),
            "wall_s": wall_s | {"write": perf_counter() - played + checkpoint_s},
            "rounds_trained": session.rounds_trained,
            "rounds_reused": session.rounds_reused,
        }
        finished = output.finish(scenario, summary, provenance)
    by_name = model is None and data is None
    return replace(finished, predict=predictions_of if by_name else partial(predictions_of, parts=parts))
