"""The command line: which commands there are, and how errors end. What a command needs is imported when it runs."""

import os
import sys
from collections.abc import Sequence
from typing import Any, NoReturn

import click

from hfedms_sim.commands.campaigns import compare, sweep
from hfedms_sim.commands.catalogue import list_command
from hfedms_sim.commands.check import check, schema
from hfedms_sim.commands.explain import explain
from hfedms_sim.commands.paper import paper
from hfedms_sim.commands.plot import plot
from hfedms_sim.commands.recommend import recommend
from hfedms_sim.commands.report import report
from hfedms_sim.commands.run import run_command
from hfedms_sim.commands.show import show
from hfedms_sim.commands.terminal import (
    INTERRUPTED_EXIT_CODE,
    TRACEBACK,
    give_up_output,
    option_of,
    own_mistake,
    say,
    say_error,
    speak_any_encoding,
)
from hfedms_sim.commands.trace import trace
from hfedms_sim.commands.validate import validate
from hfedms_sim.commands.verify import verify
from hfedms_sim.errors import InputError, RunError
from hfedms_sim.system.machine import not_enough_memory


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
        from hfedms_sim.foreign_code import import_outside

        for module in modules:
            import_outside(module)
    if context.invoked_subcommand is None:
        say(context.get_help())


for command in (
    run_command,
    trace,
    check,
    schema,
    list_command,
    show,
    compare,
    explain,
    sweep,
    recommend,
    paper,
    plot,
    report,
    validate,
    verify,
):
    main.add_command(command)

if __name__ == "__main__":
    main()
