"""Run directories again: a finished one is read, an unfinished one is gone on with."""

from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path

from hfedms_sim.data import DATA_SETTINGS, Dataset
from hfedms_sim.errors import Argument, InputError
from hfedms_sim.loading import READABLE, load_scenario
from hfedms_sim.result import RunResult, is_finished, read_json
from hfedms_sim.result import open_run as open_known_run
from hfedms_sim.run_directory import RunDirectory
from hfedms_sim.scenario import load_scenario as load_known_scenario
from hfedms_sim.scenario.yaml_io import read_yaml
from hfedms_sim.simulation.parts import AnyModel, parts_of, with_objects
from hfedms_sim.simulation.predictions import predictions_of
from hfedms_sim.simulation.progress import Progress
from hfedms_sim.simulation.run import run
from hfedms_sim.strategies import SETTINGS
from hfedms_sim.summary import checked_provenance
from hfedms_sim.system.checksums import Checksums


def open_run(directory: Path | str, *, model: AnyModel | None = None, data: Dataset | None = None) -> RunResult:
    """Return a finished run as it was left in its directory. Tables are read when they are asked for.

    Arguments:
        directory: the run directory, such as `runs/quickstart-001`, or a trial of a campaign.
        model, data: the objects that were passed to `run`, if any were; only predictions need them.

    Returns:
        The `RunResult` that `run` has returned.

    Raises:
        InputError: there is no finished run, a file is damaged, or the run needs a strategy that is not known here.

    Example:

        open_run("runs/quickstart-001").rounds["end_s"]
    """
    directory = Path(directory)
    try:
        opened = open_known_run(directory, READABLE)
    except InputError:
        require_outside_parts(directory)
        raise
    scenario = opened.scenario.loaded_by(load_scenario)
    by_name = model is None and data is None
    predict = predictions_of if by_name else partial(predictions_of, parts=parts_of(scenario, model, data))
    return replace(opened, scenario=scenario, predict=predict)


def resume(
    directory: Path | str,
    *,
    model: AnyModel | None = None,
    data: Dataset | None = None,
    threads: int = 1,
    device: str = "cpu",
    allow_infeasible: bool = False,
    learn_from: Sequence[Path | str] = (),
    on_round: Callable[[Progress], None] = lambda progress: None,
) -> RunResult:
    """Go on with the unfinished run in a directory, to the same result as if it had never been interrupted.

    The clock is played again, rounds that were learnt are not learnt again. The scenario is the directory's own; a run
    that was timing-only stays so. A finished run is only opened.

    Arguments:
        directory: the run directory that `run(..., out=directory)` has begun.
        model, data: the objects that were passed to `run`, if any were.
        threads, device, allow_infeasible, learn_from, on_round: as for `run`; the first two must be as they were.

    Returns:
        The `RunResult` of the whole run.

    Raises:
        InputError: there is no run to go on with, or it cannot be gone on with like this.
        RunError: the run could not be completed.

    Example:

        resume("runs/mine").time_to_accuracy(0.5)
    """
    path = Path(directory)
    if is_finished(path):
        return open_run(path)
    if not (path / "scenario.yaml").is_file() or not (path / "provenance.json").is_file():
        raise InputError(f"{path}: no run to resume, it has no scenario.yaml and provenance.json")
    require_outside_parts(path)
    checksums = Checksums(path)
    for name in ("scenario.yaml", "provenance.json"):
        checksums.require(name)
    scenario = load_known_scenario(path / "scenario.yaml", READABLE).loaded_by(load_scenario)
    return run(
        scenario,
        model=model,
        data=data,
        timing_only=bool(read_json(path / "provenance.json").get("timing_only")),
        threads=threads,
        device=device,
        allow_infeasible=allow_infeasible,
        out=RunDirectory.resumed(path, with_objects(scenario, None, model, data), READABLE),
        learn_from=learn_from,
        on_round=on_round,
    )


def require_outside_parts(directory: Path) -> None:
    """Say which code of somebody else's a run needs, if that is what is missing."""
    checksums = Checksums(directory)
    try:
        for name in ("provenance.json", "scenario.yaml"):
            checksums.require(name)
        outside = checked_provenance(read_json(directory / "provenance.json")).get("outside", {})
        scenario = read_yaml(directory / "scenario.yaml")
        needs = (
            ("strategy", "strategy", scenario["strategy"]["name"], SETTINGS),
            ("data", "data set", scenario["data"]["set"], DATA_SETTINGS),
        )
    except (InputError, LookupError, TypeError, ValueError, RecursionError):
        return
    for key, word, name, known in needs:
        if outside.get(key) and isinstance(name, str) and name not in known:
            module = str(outside[key]).partition(":")[0]
            needed = f"{directory}: needs the {word} '{name}', which is {outside[key]}"
            raise InputError(f"{needed}: install its package, or ", Argument("import"), f" {module}")
