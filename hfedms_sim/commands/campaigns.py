"""compare and sweep: the same scenario many times over. What they need is imported when they run."""

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from hfedms_sim.commands import completion
from hfedms_sim.commands.closing_tables import print_campaign
from hfedms_sim.commands.terminal import console, notice, option_of, resumable
from hfedms_sim.errors import InputError, RunError
from hfedms_sim.stopping import has_diverged

if TYPE_CHECKING:
    from hfedms_sim.campaign import Axes, Campaign, TrialResult


def _campaign_options(command: Callable[..., None]) -> Callable[..., None]:
    """Add the options that both commands have."""
    options = [
        click.option(
            "--profiles",
            metavar="A,B,...",
            help="Network profiles (names or paths), not the scenario's own.",
            shell_complete=completion.listed(completion.profiles),
        ),
        click.option(
            "--strategies",
            metavar="A,B,...",
            help="Strategies, with the settings that each also has.",
            shell_complete=completion.listed(completion.strategies),
        ),
        click.option("--seeds", metavar="N,N,...", help="Repetitions of every trial; ranges such as 1:5."),
        click.option("--rounds", type=int, metavar="N", help="How many rounds to play."),
        click.option("--set", "overrides", multiple=True, metavar="KEY=VALUE", help="Override any key; repeatable."),
        click.option("--timing-only", is_flag=True, help="Play the clock without training."),
        click.option(
            "--jobs", type=click.IntRange(min=1), default=1, show_default=True, metavar="N", help="Processes."
        ),
        click.option("--ray", metavar="ADDRESS", help="Play trials as tasks of a Ray cluster, or 'local'."),
        click.option(
            "--threads",
            type=click.IntRange(min=1),
            default=1,
            show_default=True,
            metavar="N",
            help="Threads of each trial's training.",
        ),
        click.option("--out", type=click.Path(path_type=Path), metavar="DIR", help="Campaign directory."),
        click.option("--resume", is_flag=True, help="Go on with the unfinished campaign in --out."),
        click.option("--allow-infeasible", is_flag=True, help="Also trials whose first round takes over 30 days."),
        click.option("--allow-large", is_flag=True, help="Also trials whose memory is estimated not to suffice."),
        click.option("--quiet", is_flag=True, help="No progress, no table."),
    ]
    for option in reversed(options):
        command = option(command)
    return command


@click.command()
@click.argument("scenario", shell_complete=completion.scenarios)
@_campaign_options
def compare(scenario: str, **options: Any) -> None:
    """Compare network profiles, and strategies, on SCENARIO.

    Every combination of profile, strategy and seed is a trial. What trials have in common is trained once.
    """
    _run_campaign("compare", scenario, (), **options)


@click.command()
@click.argument("scenario", shell_complete=completion.scenarios)
@click.option(
    "--grid",
    multiple=True,
    required=True,
    metavar="KEY=V1,V2,...",
    help="Values of a key; ranges such as 1:9:2; repeatable.",
)
@_campaign_options
def sweep(scenario: str, grid: tuple[str, ...], **options: Any) -> None:
    """Run SCENARIO with every combination of the values of the grid."""
    _run_campaign("sweep", scenario, grid, **options)


def _run_campaign(name: str, scenario: str, grid: tuple[str, ...], **options: Any) -> None:
    from hfedms_sim.campaign import Campaign, Options, campaign_directory, conduct, trials_of, workers_for
    from hfedms_sim.report.progress.campaign import trial_progress

    if options["resume"] and options["out"] is None:
        raise InputError("--resume needs --out DIR, the campaign to go on with")
    trials = trials_of(scenario, _axes(grid, options))
    chosen = Options(**{name: options[name] for name in ("timing_only", "threads", "allow_infeasible", "allow_large")})
    workers = workers_for(options["jobs"], options["ray"], chosen)  # before a directory is made: there may be no Ray
    directory = campaign_directory(f"{trials[0].scenario.name}-{name}", options["out"], options["resume"])
    campaign = Campaign(directory, trials, chosen, on_notice=notice, said=lambda error: error.said(option_of))
    quiet = options["quiet"]
    with resumable(directory.path), trial_progress(console(stderr=True), quiet) as on_standing:
        campaign.on_standing = on_standing
        results = conduct(campaign, workers)
    if not quiet:
        name, where = trials[0].scenario.name, directory.path
        print_campaign(results, campaign.refusals, name, where, timing_only=chosen.timing_only)
    _conclude(campaign, results, quiet)


def _conclude(campaign: "Campaign", results: "list[TrialResult]", quiet: bool) -> None:
    for trial in (each.trial.name for each in results if has_diverged(each.summary)):
        notice(f"{trial}: training diverged")
    if quiet:  # else the table has them
        for trial, why in campaign.refused.items():
            notice(f"{trial}: refused, {why}")
    for trial, why in campaign.failed.items():
        notice(f"{trial}: failed, {why}")
    if campaign.failed:
        raise RunError(f"{len(campaign.failed)} of {len(campaign.trials)} trials failed; --resume tries them again")


def _axes(grid: tuple[str, ...], options: dict[str, Any]) -> "Axes":
    from hfedms_sim.campaign import Axes
    from hfedms_sim.campaign.grid import parse_grid, parse_seeds

    return Axes(
        profiles=listed("profiles", options["profiles"]),
        strategies=listed("strategies", options["strategies"]),
        seeds=parse_seeds(options["seeds"]) if options["seeds"] else (),
        grid=[parse_grid(each) for each in grid],
        rounds=options["rounds"],
        overrides=options["overrides"],
    )


def listed(option: str, text: str | None) -> list[str]:
    """Return the names that stand in a text with commas between them."""
    names = [] if text is None else [name.strip() for name in text.split(",")]
    if not all(names):
        raise InputError(f"--{option} {text!a:.60}: has an empty name")
    return names
