"""recommend: with which algorithm, over which radio? What it needs is imported when it runs."""

from contextlib import suppress
from math import inf
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from hfedms_sim.commands import completion
from hfedms_sim.commands.campaigns import listed
from hfedms_sim.commands.terminal import console, notice, option_of, resumable, say
from hfedms_sim.errors import InputError
from hfedms_sim.units import SECONDS_PER_HOUR, parse_seconds

if TYPE_CHECKING:
    from hfedms_sim.recommendation import Answer, Choice, Question

_ALL = "all"
_FIRST_SEEDS = 3


@click.command()
@click.argument("scenario", shell_complete=completion.scenarios)
@click.option(
    "--accuracy", type=float, required=True, metavar="A", help="How accurate the model has to be, such as 0.8."
)
@click.option("--within", metavar="TIME", help="How soon in simulated time, such as 12h or 7d.")
@click.option("--battery", metavar="TIME", help="How long the first battery to be empty lasts, such as 1y.")
@click.option(
    "--strategies",
    metavar="A,B,...",
    help="Strategies to try; 'all': every one there is.  [default: six that differ most]",
    shell_complete=completion.listed(completion.strategies),
)
@click.option(
    "--profiles",
    metavar="A,B,...",
    help="Network profiles to try (names or paths); 'all': every shipped one.  [default: the scenario's]",
    shell_complete=completion.listed(completion.profiles),
)
@click.option(
    "--price",
    "prices",
    multiple=True,
    metavar="RADIO=AMOUNT",
    help="What a megabyte costs on one of the radios; then cost is money. One for each radio.",
)
@click.option(
    "--codec",
    type=click.Choice(["none", "float16", "int8"]),
    help="How everybody sends numbers.  [default: as each strategy has it]",
)
@click.option("--seeds", metavar="N,N,...", help="Seeds of the race; the first is searched with.  [default: three]")
@click.option("--rounds", type=int, metavar="N", help="How many rounds to play at most.")
@click.option("--set", "overrides", multiple=True, metavar="KEY=VALUE", help="Override any key; repeatable.")
@click.option("--budget-hours", type=float, metavar="N", help="Processor hours that training may take, as estimated.")
@click.option("--jobs", type=click.IntRange(min=1), default=1, show_default=True, metavar="N", help="Processes.")
@click.option("--ray", metavar="ADDRESS", help="Play trials as tasks of a Ray cluster, or 'local'.")
@click.option("--out", type=click.Path(path_type=Path), metavar="DIR", help="Where to.")
@click.option("--resume", is_flag=True, help="Go on with the unfinished search in --out.")
@click.option("--allow-large", is_flag=True, help="Also trials whose memory is estimated not to suffice.")
@click.option("--quiet", is_flag=True, help="No progress, no tables: the answer alone.")
def recommend(scenario: str, **options: Any) -> None:
    """Recommend a strategy, its settings and a radio for SCENARIO.

    Candidates are timed first, then trained further and further, as long as they can win. Ends with the one that is
    soonest as accurate as is asked for, how sure that is, and why not the others.
    """
    from hfedms_sim.campaign import Options, workers_for
    from hfedms_sim.recommendation import CampaignPlayer, recommend, require_place
    from hfedms_sim.report.progress.campaign import trial_progress

    if options["resume"] and options["out"] is None:
        raise InputError("--resume needs --out DIR, the search to go on with")
    question = _question(scenario, options)
    choice = _choice(question, options)
    directory: Path = options["out"] or _fresh(question)
    if options["out"] is not None:
        require_place(directory, question, choice, resume=options["resume"])
    quiet = options["quiet"]
    player = CampaignPlayer(
        question,
        directory,
        lambda chosen: workers_for(options["jobs"], options["ray"], chosen),
        Options(allow_large=options["allow_large"]),
        on_notice=notice,
        said=lambda error: error.said(option_of),
    )
    with resumable(directory), trial_progress(console(stderr=True), quiet) as on_standing:
        player.on_standing = on_standing
        answer = recommend(player, choice, on_step=lambda line: None if quiet else say(line, err=True))
    _show(answer, directory, quiet)


def _question(scenario: str, options: dict[str, Any]) -> "Question":
    from hfedms_sim.recommendation import Goal, Question

    goal = Goal(options["accuracy"], _seconds("within", options), _seconds("battery", options))
    prices = dict(_price(text) for text in options["prices"])
    return Question(scenario, goal, options["rounds"], options["overrides"], prices, options["codec"])


def _price(text: str) -> tuple[str, float]:
    radio, _, amount = text.rpartition("=")
    with suppress(ValueError):
        if radio and 0 <= float(amount) < inf:
            return radio, float(amount)
    raise InputError(f"--price {text!a:.60}: must be a radio and what a megabyte costs, such as lte-cat-m2=0.4")


def _seconds(option: str, options: dict[str, Any]) -> float | None:
    text: str | None = options[option]
    seconds = None if text is None else parse_seconds(text)
    if text is not None and seconds is None:
        raise InputError(f"--{option} {text!a:.60}: must be a time, such as 90min, 12h, 7d or 1y")
    return seconds


def _choice(question: "Question", options: dict[str, Any]) -> "Choice":
    from hfedms_sim.campaign.grid import parse_seeds
    from hfedms_sim.recommendation import STRATEGIES_TRIED, Choice
    from hfedms_sim.strategies import STRATEGIES
    from hfedms_sim.system.files import shipped_files

    budget_hours: float | None = options["budget_hours"]
    if budget_hours is not None and not budget_hours > 0:
        raise InputError(f"--budget-hours {budget_hours:g}: must be above 0")
    strategies = [*STRATEGIES] if options["strategies"] == _ALL else listed("strategies", options["strategies"])
    profiles = (
        [*shipped_files("network_profiles")] if options["profiles"] == _ALL else listed("profiles", options["profiles"])
    )
    first = question.base.seed
    seeds = parse_seeds(options["seeds"]) if options["seeds"] else range(first, first + _FIRST_SEEDS)
    budget_s = None if budget_hours is None else budget_hours * SECONDS_PER_HOUR
    return Choice(tuple(strategies or STRATEGIES_TRIED), tuple(profiles), tuple(seeds), budget_s)


def _fresh(question: "Question") -> Path:
    from hfedms_sim.run_directory import RunDirectory

    made = RunDirectory.fresh(Path("runs"), f"{question.base.name}-recommend")
    made.unlock()
    return made.path


def _show(answer: "Answer", directory: Path, quiet: bool) -> None:
    from hfedms_sim.report.energy import EXTRAPOLATED, extrapolated_line
    from hfedms_sim.report.exhibits import table_text, write_exhibits

    figure = answer.figure
    write_exhibits(answer.tables, () if figure is None else (figure,), directory)
    if not quiet:
        for table in answer.tables:
            if table.rows:
                console().print(table_text(table))
    for line in answer.lines():
        say(line)
    if (uncertain := extrapolated_line(answer.extrapolated)) is not None:
        say(uncertain.removeprefix(f"{EXTRAPOLATED} "))
    if answer.best is not None:
        say(f"To run it: hfedms-sim run {directory / 'recommended.yaml'}")
    say(f"All of it: {directory}")
