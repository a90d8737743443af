"""compare and sweep as functions of Python: the same campaigns as the commands', with tables for an answer."""

import shutil
import tempfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from os import PathLike
from pathlib import Path
from typing import Any

from hfedms_sim.campaign.campaign import Campaign, TrialResult
from hfedms_sim.campaign.csv_tables import write_tables
from hfedms_sim.campaign.directory import campaign_directory
from hfedms_sim.campaign.grid import axes_of_mapping
from hfedms_sim.campaign.result import CampaignResult
from hfedms_sim.campaign.standing import Standing
from hfedms_sim.campaign.tasks import Options
from hfedms_sim.campaign.trials import Axes, Trial, trials_of
from hfedms_sim.campaign.workers import HereWorkers, Workers, workers_for
from hfedms_sim.errors import InputError, RunError
from hfedms_sim.scenario import NetworkProfile, Source

OnProgress = Callable[[Standing], None]


def compare(  # noqa: PLR0913 (as the command)
    scenario: Source,
    *,
    profiles: Sequence[str | PathLike[str] | NetworkProfile] = (),
    strategies: Sequence[str] = (),
    seeds: Sequence[int] = (),
    timing_only: bool = False,
    jobs: int = 1,
    ray: str | None = None,
    threads: int = 1,
    allow_infeasible: bool = False,
    allow_large: bool = False,
    out: Path | str | None = None,
    resume: bool = False,
    on_progress: OnProgress = lambda standing: None,
) -> CampaignResult:
    """Compare network profiles and strategies on a scenario. What trials have in common is trained once.

    Every combination of profile, strategy and seed is a trial; what is not given is as the scenario has it.

    Arguments:
        scenario: a scenario, or what `load_scenario` takes for one.
        profiles: network profiles for all cells: shipped names, paths, or what `load_profile` returns.
        strategies: strategies by name, each with those of the scenario's settings that it also has.
        seeds: repetitions of every trial.
        timing_only: play the clock without training.
        jobs: processes. 1: all trials are played in this one; more: a script needs `if __name__ == "__main__":`.
        ray: address of a Ray cluster, or `local`, to play trials as its tasks.
        threads: threads of each trial's training.
        allow_infeasible: also play trials whose first round takes more than 30 simulated days.
        allow_large: also play trials that are estimated to need more memory than there is for each process.
        out: the campaign's directory. None: a temporary one, removed when the result is not used any more.
        resume: go on with the unfinished campaign in `out`, which must be the same in all of it.
        on_progress: called with a `Standing` at every trial's end; with several processes about twice a second.

    Returns:
        The `CampaignResult`: `trials`, `targets`, `comparison`, `rounds` as DataFrames, and `runs()`.

    Raises:
        InputError: an argument cannot be used, or every trial is refused for the same reason.
        RunError: a trial failed. The others are finished in `out`, and `resume` tries it again.

    Example:

        compared = compare("quickstart", profiles=["lte-cat-m2", "wifi-halow"], timing_only=True)
        compared.trials.set_index("profile")["simulated_s"]
    """
    axes = Axes(profiles, strategies, seeds)
    options = Options(timing_only, threads, allow_infeasible, allow_large)
    trials, workers = trials_of(scenario, axes), _workers(jobs, ray, options)
    return _conducted("compare", trials, options, workers, out, resume, on_progress)


def sweep(  # noqa: PLR0913 (as the command)
    scenario: Source,
    grid: Mapping[str, Sequence[Any]],
    *,
    profiles: Sequence[str | PathLike[str] | NetworkProfile] = (),
    strategies: Sequence[str] = (),
    seeds: Sequence[int] = (),
    timing_only: bool = False,
    jobs: int = 1,
    ray: str | None = None,
    threads: int = 1,
    allow_infeasible: bool = False,
    allow_large: bool = False,
    out: Path | str | None = None,
    resume: bool = False,
    on_progress: OnProgress = lambda standing: None,
) -> CampaignResult:
    """Run a scenario with every combination of the values of a grid. What trials have in common is trained once.

    Arguments:
        scenario: a scenario, or what `load_scenario` takes for one.
        grid: the values of each key, by dotted key: `{"strategy.interval": [1, 3, 5]}`.
        profiles, strategies, seeds: multiply the grid further; as for `compare`.
        timing_only, jobs, ray, threads, allow_infeasible, allow_large, out, resume, on_progress: as for `compare`.

    Returns:
        The `CampaignResult`, with a column for each key of the grid.

    Raises:
        InputError: an argument cannot be used, or every trial is refused for the same reason.
        RunError: a trial failed. The others are finished in `out`, and `resume` tries it again.

    Example:

        swept = sweep("quickstart", {"strategy.interval": [1, 3, 5]}, timing_only=True)
        swept.trials[["strategy.interval", "simulated_s", "bytes"]]
    """
    axes = Axes(profiles, strategies, seeds, axes_of_mapping(grid))
    options = Options(timing_only, threads, allow_infeasible, allow_large)
    trials, workers = trials_of(scenario, axes), _workers(jobs, ray, options)
    return _conducted("sweep", trials, options, workers, out, resume, on_progress)


def _conducted(
    name: str,
    trials: Sequence[Trial],
    options: Options,
    workers: Workers,
    out: Path | str | None,
    resume: bool,
    on_progress: OnProgress,
) -> CampaignResult:
    if resume and out is None:
        raise InputError("resume=True needs out, the directory of the campaign to go on with")
    with _place(name, out) as place:
        campaign = Campaign(campaign_directory(name, place, resume), trials, options, on_progress)
        played = conduct(campaign, workers)
        campaign.require_played()
    return CampaignResult(place, tuple(each.trial.name for each in played), is_temporary=out is None)


@contextmanager
def _place(name: str, out: Path | str | None) -> Iterator[Path]:
    """Give the campaign's directory; a temporary one is removed if the campaign does not come to its end."""
    if out is not None:
        yield Path(out)
        return
    parent = Path(tempfile.mkdtemp(prefix="hfedms-sim-"))
    try:
        yield parent / name
    except BaseException:
        shutil.rmtree(parent, ignore_errors=True)
        raise


def _workers(jobs: int, ray: str | None, options: Options) -> Workers:
    """Return where trials are played: in this process, unless there are to be several or a cluster's."""
    for argument, number in (("jobs", jobs), ("threads", options.threads)):
        if number < 1:
            raise InputError(f"{argument} = {number}: must be at least 1")
    return HereWorkers() if jobs == 1 and ray is None else workers_for(jobs, ray, options)


def conduct(campaign: Campaign, workers: Workers) -> list[TrialResult]:
    """Play what is not finished, write the tables, and return the trials that have not failed, in their order.

    If every single trial is refused for one and the same reason, that is an InputError, and nothing is left of a new
    directory.
    """
    results = campaign.run(workers)
    if campaign.common_fault is not None:
        campaign.directory.abandon()
        raise InputError(campaign.common_fault)
    try:
        write_tables(results, campaign.directory.path, campaign.refusals)
    except OSError as error:
        raise RunError(f"{campaign.directory.path}: cannot be written ({error.strerror or error})") from None
    return results
