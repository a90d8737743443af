"""The command line: parses, calls, prints. What a command needs is imported when it runs, so that --help is quick."""

import os
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, NoReturn

import click

from hfedms_sim.commands import completion
from hfedms_sim.commands.campaigns import compare, sweep
from hfedms_sim.commands.catalogue import list_command
from hfedms_sim.commands.closing import print_run
from hfedms_sim.commands.explain import explain
from hfedms_sim.commands.paper import paper
from hfedms_sim.commands.plot import plot
from hfedms_sim.commands.report import report
from hfedms_sim.commands.show import show
from hfedms_sim.commands.terminal import (
    INTERRUPTED_EXIT_CODE,
    TRACEBACK,
    console,
    give_up_output,
    notice,
    option_of,
    own_mistake,
    resumable,
    say,
    say_error,
    speak_any_encoding,
)
from hfedms_sim.commands.validate import validate
from hfedms_sim.commands.verify import verify
from hfedms_sim.errors import InputError, RunError
from hfedms_sim.stopping import has_diverged, has_stalled, stopped_of
from hfedms_sim.system.machine import not_enough_memory

if TYPE_CHECKING:
    from hfedms_sim.run_directory import RunDirectory
    from hfedms_sim.scenario import Scenario


class _OneLineErrors(click.Group):
    """Whatever goes wrong for a reason the user can act on is one line on stderr, and an exit code."""

    def main(
        self,
        args: Sequence[str] | None = None,
        prog_name: str | None = None,
        complete_var: str | None = None,
        standalone_mode: bool = True,
        **extra: Any,
    ) -> Any:
        if not standalone_mode:
            return super().main(args, prog_name, complete_var, standalone_mode=False, **extra)
        speak_any_encoding()
        try:
            code = super().main(args, prog_name, complete_var, standalone_mode=False, **extra)
        except click.ClickException as error:
            _fail(f"{error.format_message()} (see hfedms-sim --help)", error.exit_code)
        except (InputError, RunError) as error:
            _fail(error.said(option_of), error.exit_code)
        except (click.Abort, KeyboardInterrupt):
            _fail("interrupted", INTERRUPTED_EXIT_CODE)
        except OSError as error:  # nobody reads what we print, or nowhere to print it
            _fail(f"cannot write the output ({error.strerror})", RunError.exit_code)
        except Exception as error:
            told = not_enough_memory(error)
            if told is None and TRACEBACK in os.environ:
                raise
            _fail(str(told) if told else own_mistake(error), RunError.exit_code)
        sys.exit(code if isinstance(code, int) else 0)


def _fail(message: str, exit_code: int) -> NoReturn:
    try:
        say_error(message)
        sys.stdout.flush()
    except OSError:
        give_up_output()
    sys.exit(exit_code)


@click.group(
    cls=_OneLineErrors,
    invoke_without_command=True,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 120},
)
@click.version_option(package_name="hfedms_sim", message="hfedms-sim %(version)s")
@click.option(
    "--import",
    "modules",
    multiple=True,
    metavar="MODULE",
    help="Import a module that defines strategies, networks or data sets of your own; repeatable.",
)
@click.pass_context
def main(context: click.Context, modules: tuple[str, ...]) -> None:
    """How long, how many bytes and how many joules until a federated model is good enough, over which radio?"""
    if modules:
        from hfedms_sim.outside import import_outside

        for module in modules:
            import_outside(module)
    if context.invoked_subcommand is None:
        say(context.get_help())


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


@main.command("run")
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


@main.command()
@click.argument("run", type=click.Path(path_type=Path))
@click.option(
    "--format",
    "trace_format",
    type=click.Choice(["csv", "parquet", "perfetto"]),
    required=True,
    help="csv and parquet: a directory of tables; perfetto: a file for ui.perfetto.dev.",
)
@click.option("--out", type=click.Path(path_type=Path), metavar="PATH", help="Where to; default inside RUN.")
def trace(run: Path, trace_format: Any, out: Path | None) -> None:
    """Export the timing trace of the finished run in directory RUN."""
    from hfedms_sim.simulation import open_run
    from hfedms_sim.trace import export_trace

    open_run(run)
    say(export_trace(run, trace_format, out))


@main.command()
@click.argument("files", nargs=-1, required=True, metavar="FILE...")
def check(files: tuple[str, ...]) -> None:
    """Check scenario or profile files; exit code 2 if any has a problem.

    A scenario is checked by playing its first round without training: what is ok here, 'run' starts. What a run of it
    will take is estimated.
    """
    from hfedms_sim.simulation.preflight import checked_file

    found = {file: checked_file(file) for file in files}
    for file, (problems, estimate) in found.items():
        for line in problems:
            say_error(line.said(option_of))
        if not problems:
            say(f"{file}: ok")
        if estimate is not None:
            say(f"{file}: a run takes {estimate}", err=True)
    if any(each.problems for each in found.values()):
        sys.exit(InputError.exit_code)


@main.command()
def schema() -> None:
    """Print the JSON Schema of scenario files, for editors."""
    import json

    from hfedms_sim.loading import CHOICES
    from hfedms_sim.scenario import scenario_schema

    say(json.dumps(scenario_schema(CHOICES), indent=2))


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


main.add_command(list_command)
main.add_command(show)
main.add_command(compare)
main.add_command(explain)
main.add_command(sweep)
main.add_command(paper)
main.add_command(plot)
main.add_command(report)
main.add_command(validate)
main.add_command(verify)

if __name__ == "__main__":
    main()
