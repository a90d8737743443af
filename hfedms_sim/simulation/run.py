"""run(scenario) -> RunResult: plays a scenario, and writes the run directory if there is to be one."""

from collections.abc import Callable, Sequence
from math import inf
from pathlib import Path
from time import perf_counter

from hfedms_sim.errors import InputError, RunError
from hfedms_sim.feasibility import LONGEST_FIRST_ROUND_S
from hfedms_sim.limits import limits_of
from hfedms_sim.lineage import LineageStore
from hfedms_sim.provenance import now, provenance_of
from hfedms_sim.result import RunDirectory, RunResult, learning_of
from hfedms_sim.scenario import Scenario
from hfedms_sim.simulation.engines import device_of
from hfedms_sim.simulation.occupancy import empty_cells_notice
from hfedms_sim.simulation.session import Progress, Session
from hfedms_sim.strategies import code_digest, path_of, strategy_of
from hfedms_sim.trace import Trace


def run(
    scenario: Scenario,
    *,
    timing_only: bool = False,
    threads: int = 1,
    device: str = "cpu",
    allow_infeasible: bool = False,
    out: RunDirectory | Path | str | None = None,
    learn_from: Sequence[Path | str] = (),
    on_round: Callable[[Progress], None] = lambda progress: None,
) -> RunResult:
    """Plays the scenario and trains what its sensors captured; timing-only: plays it without training.

    `out` is the run directory; None keeps the tables in memory. What it or one of the runs `learn_from` has learnt
    under the same lineage is not learnt again; timing-only refuses a directory that was trained. A first round of more
    than 30 simulated days is refused unless allowed: such a run is rarely what was meant.
    """
    directory = out if isinstance(out, RunDirectory) or out is None else RunDirectory.at(Path(out))
    started = perf_counter()
    provenance = provenance_of(scenario.seed) | {"timing_only": timing_only, "outside": _outside(scenario)}
    store: LineageStore | None = None
    try:
        others = [learning_of(Path(other)) for other in learn_from]
        if directory is not None:
            if timing_only:
                directory.require_untrained()
            directory.begin(scenario, provenance)
        if not timing_only:
            store = _store(directory, others)
        with Trace(None if directory is None else directory.path) as trace:
            session = Session(scenario, trace, threads=threads, device=device_of(device), store=store)
            if directory is not None and (notice := empty_cells_notice(session.cells)):
                directory.on_notice(f"{scenario.name}: {notice}")
            built = perf_counter()
            session.play(on_round, inf if allow_infeasible else LONGEST_FIRST_ROUND_S)
            played = perf_counter()
            checkpoint_s = session.checkpoint_s
        if directory is not None and session.trainer is not None:
            session.trainer.finish(directory.learning / "model.safetensors")
        limits = limits_of(scenario, trace.tables() if directory is None else directory.path)
        summary = session.summary(perf_counter() - started, limits)
        wall_s = {"start": built - started} | session.wall_s(played - built - checkpoint_s)
        provenance |= {
            "ended": now(),
            "wall_s": wall_s | {"write": perf_counter() - played + checkpoint_s},
            "rounds_trained": session.rounds_trained,
            "rounds_reused": session.rounds_reused,
        }
        if directory is not None:
            directory.write_json("provenance.json", provenance)
            directory.write_json("summary.json", summary)  # last: with it the run is finished
    except OSError as error:
        where = error.filename or (directory.path if directory else "run")
        raise RunError(f"{where}: cannot be written ({error.strerror or error})") from None
    except InputError:
        if directory is not None:
            directory.abandon()
        raise
    finally:
        if store is not None:
            store.close()
        if directory is not None:
            directory.unlock()
    if directory is None:
        return RunResult(scenario, summary, provenance, trace.tables())
    return RunResult(scenario, summary, provenance, None, directory.path)


def _store(directory: RunDirectory | None, others: Sequence[Path]) -> LineageStore:
    if directory is None:
        return LineageStore(None, others)
    return LineageStore(directory.learning, others, pins=directory.pins, on_notice=directory.on_notice)


def _outside(scenario: Scenario) -> dict[str, str | None]:
    """Return where the parts of a run are that do not ship, as MODULE:CLASS; None for those that do."""
    strategy = strategy_of(scenario.strategy)
    return {"strategy": None if code_digest(strategy) is None else path_of(strategy)}
