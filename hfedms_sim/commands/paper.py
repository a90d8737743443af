"""paper: the HFedMS paper's experiments by name. What it needs is imported when it runs."""

import shlex
import sys
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from hfedms_sim.commands.terminal import console, notice, resumable, say
from hfedms_sim.errors import InputError, RunError

if TYPE_CHECKING:
    from hfedms_sim.paper.conduct import Conductor
    from hfedms_sim.paper.experiment import Experiment, ExperimentOutcome
    from hfedms_sim.paper.study import Study

_NAMES = (
    "parameters", "settings", "benchmarks", "efficiency", "grouping", "static-curves", "growth", "forgetting", "scc",
    "intervals", "tune", "readings", "availability", "ablation", "lead", "all", "verdicts",
)  # fmt: skip


def _paper_options(command: Callable[..., None]) -> Callable[..., None]:
    options = [
        click.option(
            "--scale",
            type=click.Choice(["smoke", "factory", "full"]),
            default="smoke",
            show_default=True,
            help="Minutes on glyphs; the paper's factory with a small network; the paper's size.",
        ),
        click.option("--data", type=click.Path(path_type=Path), metavar="PATH", help="A data set instead of glyphs."),
        click.option(
            "--reading",
            type=click.Choice(["text", "program"]),
            default="text",
            show_default=True,
            help="As the paper says it, or as its authors' program does it.",
        ),
        click.option("--seeds", metavar="N,N,...", help="Instead of the scale's; ranges such as 1:3."),
        click.option("--tuned", type=click.Path(path_type=Path), metavar="FILE", help="Tuned settings of your own."),
        click.option(
            "--jobs", type=click.IntRange(min=1), default=1, show_default=True, metavar="N", help="Processes."
        ),
        click.option("--ray", metavar="ADDRESS", help="Play trials as tasks of a Ray cluster, or 'local'."),
        click.option(
            "--out",
            type=click.Path(path_type=Path),
            metavar="DIR",
            multiple=True,
            help="Where to; each experiment has a directory in it. verdicts: where from, repeatable.",
        ),
        click.option("--resume", is_flag=True, help="Go on with what is in --out."),
        click.option("--without-training", is_flag=True, help="Only what needs no training, or is finished in --out."),
        click.option("--allow-large", is_flag=True, help="Also trials whose memory is estimated not to suffice."),
        click.option("--quiet", is_flag=True, help="No progress, no tables."),
    ]
    for option in reversed(options):
        command = option(command)
    return command


@click.command()
@click.argument("name", type=click.Choice(_NAMES), required=False, metavar="[NAME]")
@_paper_options
def paper(name: str | None, **options: Any) -> None:
    """Conduct the HFedMS paper's experiment NAME: published figures beside ours, and its claims judged.

    Without a name: list the experiments and what each costs. 'all': every table and figure of the paper. 'tune': choose
    every strategy's settings with the same budget. 'readings': what each difference between the paper's text and its
    authors' program is worth. 'ablation' and 'lead': what the parts of hfedms-plus bring, and how far it is ahead of
    tuned rivals. 'verdicts': every claim at the largest scale it was tested at, of the directories --out.
    """
    from hfedms_sim.paper.catalogue import EXPERIMENTS, PAPER, listing
    from hfedms_sim.paper.tuned import read_tuned
    from hfedms_sim.report.exhibits import table_text

    if name is None:
        console().print(table_text(listing(read_tuned(options["tuned"]))))
    elif name == "verdicts":
        _verdicts(options["out"])
    else:
        _conduct(list(PAPER.values()) if name == "all" else [EXPERIMENTS[name]], options)


def _verdicts(directories: tuple[Path, ...]) -> None:
    from hfedms_sim.paper.verdicts import judged, judged_table
    from hfedms_sim.report.exhibits import table_text

    if not directories:
        raise InputError("paper verdicts needs --out DIR, the experiments to read; repeatable")
    console().print(table_text(judged_table(judged(directories))))


def _conduct(experiments: "list[Experiment]", options: dict[str, Any]) -> None:
    from hfedms_sim.report.progress.campaign import trial_progress

    study = _study(options)
    if study.reading != "text" and any(each.name == "readings" for each in experiments):
        raise InputError("paper readings plays both readings; leave --reading out")
    conductor = _conductor(study, options)
    for experiment in experiments:
        conductor.require_place(experiment, options["resume"])
    quiet = options["quiet"]
    if not quiet and not options["without_training"]:
        _estimate(conductor, experiments, options["jobs"])
    with resumable(conductor.directory):
        for experiment in experiments:
            if not quiet:
                say(f"{experiment.name}: {experiment.title}", err=True)
            with trial_progress(console(stderr=True), quiet) as on_standing:
                conductor.on_standing = on_standing
                outcome = conductor.conduct(experiment)
            _show(outcome, conductor.path_of(experiment), quiet)
    for trial, why in conductor.failures.items():
        notice(f"{trial}: failed, {why}")
    if conductor.failures:
        raise RunError(f"{len(conductor.failures)} trials failed; --resume tries them again")


def _study(options: dict[str, Any]) -> "Study":
    from hfedms_sim.campaign.grid import parse_seeds
    from hfedms_sim.paper.scales import SCALES
    from hfedms_sim.paper.study import Study, require_data
    from hfedms_sim.paper.tuned import read_tuned

    scale = SCALES[options["scale"]]
    require_data(scale, options["data"])
    seeds = parse_seeds(options["seeds"]) if options["seeds"] else ()
    return Study(scale, options["data"], tuple(seeds), options["reading"], read_tuned(options["tuned"]))


def _conductor(study: "Study", options: dict[str, Any]) -> "Conductor":
    from hfedms_sim.campaign import Options, workers_for
    from hfedms_sim.paper.conduct import Conductor
    from hfedms_sim.run_directory import RunDirectory

    outs: tuple[Path, ...] = options["out"]
    if len(outs) > 1:
        raise InputError("--out: given twice; only 'paper verdicts' takes several")
    if options["resume"] and not outs:
        raise InputError("--resume needs --out DIR, the experiments to go on with")
    if outs:
        directory = outs[0]
    else:
        made = RunDirectory.fresh(Path("runs"), f"paper-{study.scale.name}")
        made.unlock()
        directory = made.path
    chosen = Options(allow_large=options["allow_large"])
    return Conductor(
        study,
        directory,
        lambda: workers_for(options["jobs"], options["ray"], chosen),
        shlex.join(["hfedms-sim", *sys.argv[1:]]),
        chosen,
        options["without_training"],
        on_notice=notice,
    )


def _estimate(conductor: "Conductor", experiments: "list[Experiment]", jobs: int) -> None:
    from hfedms_sim.units import format_seconds

    seconds = conductor.unfinished_seconds(experiments) / jobs
    if seconds:
        say(f"about {format_seconds(seconds)} at most with --jobs {jobs}, into {conductor.directory}", err=True)


def _show(outcome: "ExperimentOutcome", directory: Path, quiet: bool) -> None:
    from hfedms_sim.paper.claims import claims_table, verdicts_table
    from hfedms_sim.report.exhibits import table_text, write_exhibits

    judged = bool(outcome.claims)
    tables = outcome.tables
    write_exhibits((*tables, claims_table(outcome.claims)) if judged else tables, outcome.figures, directory)
    if not quiet:
        for table in (*tables, verdicts_table(outcome.claims)) if judged else tables:
            console().print(table_text(table))
        say(f"Tables and figures: {directory}")
