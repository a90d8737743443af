"""run: one scenario, played and, unless told otherwise, trained."""

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from hfedms_sim.commands import completion
from hfedms_sim.commands.closing_tables import print_run
from hfedms_sim.commands.terminal import console, notice, resumable, say
from hfedms_sim.errors import InputError, RunError
from hfedms_sim.stopping import has_diverged, has_stalled, stopped_of

if TYPE_CHECKING:
    from hfedms_sim.run_directory import RunDirectory
    from hfedms_sim.scenario import Scenario


def _scenario_options(command: Callable[..., None]) -> Callable[..., None]:
    options = [
        click.option(
            "--profile",
            metavar="P",
            help="Put every cell on this network profile (name or path).",
            shell_complete=completion.profiles,
        ),
        click.option(
            "--strategy",
            metavar="S",
            help="Another strategy, with the settings that it also has.",
            shell_complete=completion.strategies,
        ),
        click.option("--rounds", type=int, metavar="N", help="How many rounds to play."),
        click.option("--seed", type=int, metavar="N", help="Seed of every random draw."),
        click.option("--set", "overrides", multiple=True, metavar="KEY=VALUE", help="Override any key; repeatable."),
    ]
    for option in reversed(options):
        command = option(command)
    return command


@click.command("run")
@click.argument("scenario", shell_complete=completion.scenarios)
@_scenario_options
@click.option("--timing-only", is_flag=True, help="Play the clock without training.")
@click.option("--out", type=click.Path(path_type=Path), metavar="DIR", help="Run directory; default runs/NAME-NNN.")
@click.option("--resume", is_flag=True, help="Go on with the unfinished run in --out.")
@click.option(
    "--learn-from",
    multiple=True,
    type=click.Path(path_type=Path),
    metavar="RUN",
    help="Take finished rounds from this run; repeatable.",
)
@click.option("--allow-infeasible", is_flag=True, help="Go on even if the first round takes over 30 simulated days.")
@click.option("--allow-large", is_flag=True, help="Go on even if memory or disk are estimated not to suffice.")
@click.option(
    "--threads",
    type=click.IntRange(min=1),
    default=1,
    show_default=True,
    metavar="N",
    help="Threads that training uses.",
)
@click.option(
    "--device",
    type=click.Choice(["cpu", "cuda", "auto"]),
    default="cpu",
    show_default=True,
    help="Where training computes; auto: an accelerator if there is one.",
)
@click.option("--quiet", is_flag=True, help="No progress, no table.")
def run_command(  # noqa: PLR0913 (one for each option)
    scenario: str,
    timing_only: bool,
    threads: int,
    device: str,
    out: Path | None,
    resume: bool,
    learn_from: tuple[Path, ...],
    allow_infeasible: bool,
    allow_large: bool,
    quiet: bool,
    **changes: Any,
) -> None:
    """Run SCENARIO (a shipped name or a path to a YAML file)."""
    from hfedms_sim.feasibility import radio_costs
    from hfedms_sim.loading import load_scenario
    from hfedms_sim.report.progress.run import round_progress
    from hfedms_sim.simulation import estimate_of, parts_of, run

    loaded = load_scenario(scenario, **changes)
    parts = parts_of(loaded)
    directory = _run_directory(loaded, out, resume, learn_from)
    if timing_only:
        directory.require_untrained()
    if not quiet:
        for cost in radio_costs(loaded, parts.model):
            say(cost, err=True)
        say(estimate_of(loaded, parts, timing_only=timing_only), err=True)
    told = round_progress(console(stderr=True), loaded, quiet, timing_only=timing_only)
    with resumable(directory.path), told as on_round:
        result = run(
            loaded,
            parts=parts,
            timing_only=timing_only,
            threads=threads,
            device=device,
            allow_infeasible=allow_infeasible,
            allow_large=allow_large,
            out=directory,
            learn_from=learn_from,
            on_round=on_round,
            on_notice=notice,
        )
    if not quiet:
        print_run(result)
    if has_diverged(result.summary):
        raise RunError(f"training {stopped_of(result.summary)}; a lower strategy.learning_rate may help")
    if has_stalled(result.summary):
        raise RunError(f"the run {stopped_of(result.summary)}")


def _run_directory(scenario: "Scenario", out: Path | None, resume: bool, learn_from: Sequence[Path]) -> "RunDirectory":
    from hfedms_sim.loading import READABLE
    from hfedms_sim.run_directory import RunDirectory, learning_of

    for run in learn_from:
        learning_of(run)  # refuses what is no run before a directory is made
    if resume and out is None:
        raise InputError("--resume needs --out DIR, the run to go on with")
    if out is None:
        return RunDirectory.fresh(Path("runs"), scenario.name)
    return RunDirectory.resumed(out, scenario, READABLE) if resume else RunDirectory.at(out)
