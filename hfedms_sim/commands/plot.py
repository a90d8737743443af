"""plot: finished runs, and campaigns, as pictures. What a kind of picture needs is imported when it is drawn."""

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from hfedms_sim.commands.terminal import console, say, terminated_like_ctrl_c
from hfedms_sim.errors import InputError

if TYPE_CHECKING:
    from hfedms_sim.exhibits import Figure
    from hfedms_sim.result import RunResult

MOST_RUNS = 4
"""How many runs one picture may hold, of a kind that shows them one by one."""

_KINDS = ("accuracy", "utilisation", "gantt", "energy", "transfers", "coverage", "groups", "pareto")
_OPTIONS = {
    "against": ("accuracy", "pareto"),
    "each": ("accuracy",),
    "log": ("accuracy", "pareto"),
    "round": ("gantt",),
    "lanes": ("gantt",),
}
"""Which kinds an option is for."""
_DEFAULT_AGAINST = {"accuracy": "time", "pareto": "energy"}
_PARETO_AGAINST = ("energy", "bytes")


@click.command()
@click.argument("paths", nargs=-1, required=True, type=click.Path(path_type=Path), metavar="RUN|CAMPAIGN...")
@click.option(
    "--kind", type=click.Choice(_KINDS), default="accuracy", show_default=True, help="What the picture shows."
)
@click.option(
    "--against",
    type=click.Choice(["time", "bytes", "energy", "parameters", "rounds"]),
    help="accuracy: what runs are compared by, time unless given; pareto: energy, or bytes.",
)
@click.option("--round", "round_number", type=int, metavar="N", help="gantt: which round; a typical one unless given.")
@click.option("--lanes", type=click.Choice(["sensors", "cells"]), help="gantt: a lane for each of these.")
@click.option("--log", "is_log", is_flag=True, help="accuracy, pareto: logarithmic axes of what was spent.")
@click.option("--each", is_flag=True, help="accuracy: every run by itself, not the mean over seeds.")
@click.option(
    "--out", type=click.Path(path_type=Path), metavar="FILE", required=True, help="The picture: .png, .svg or .pdf."
)
def plot(paths: tuple[Path, ...], kind: str, out: Path, **options: Any) -> None:
    """Draw finished runs; a campaign stands for its runs.

    The kind accuracy, for trained runs, also prints their runtime to accuracy.
    """
    from hfedms_sim.report.figures import draw
    from hfedms_sim.report.tables import targets_table

    _require_fitting(kind, options)
    results = _opened(paths)
    with terminated_like_ctrl_c():
        draw(_figure(kind, results, options), out)
    if kind == "accuracy":
        console().print(targets_table(results))
    say(out)


def _require_fitting(kind: str, options: dict[str, Any]) -> None:
    """Refuse an option that the kind does not have, rather than ignoring it."""
    given = {"round": options["round_number"], "log": options["is_log"] or None, "each": options["each"] or None}
    given |= {name: options[name] for name in ("against", "lanes")}
    for name, kinds in _OPTIONS.items():
        if given[name] is not None and kind not in kinds:
            raise InputError(f"--{name} is for --kind {' and '.join(kinds)}, not for {kind}")
    if kind == "pareto" and options["against"] not in (None, *_PARETO_AGAINST):
        raise InputError(f"--kind pareto is drawn --against {' or '.join(_PARETO_AGAINST)}, not {options['against']}")


def _opened(paths: Sequence[Path]) -> "list[RunResult]":
    """Return the runs, and those of the campaigns, in the order in which they are given."""
    from hfedms_sim.campaign import is_campaign, open_campaign
    from hfedms_sim.simulation import open_run

    results: list[RunResult] = []
    for path in paths:
        results += open_campaign(path).runs().values() if is_campaign(path) else [open_run(path)]
    if not results:
        raise InputError(f"{paths[0]}: nothing to plot, no trial was played")
    return results


def _figure(kind: str, results: "Sequence[RunResult]", options: dict[str, Any]) -> "Figure":
    against: Any = options["against"] or _DEFAULT_AGAINST.get(kind)
    if kind == "accuracy":
        from hfedms_sim.report.views.learning import learning_figure

        return learning_figure(results, against, each=options["each"], log_x=options["is_log"])
    if kind == "pareto":
        from hfedms_sim.report.views.pareto import pareto_figure

        return pareto_figure(results, against=against, is_log=options["is_log"])
    if kind in ("utilisation", "gantt", "coverage"):
        return _one_by_one(kind, results, _view_of_one(kind, options))
    return _view_of_all(kind)(results)


def _view_of_all(kind: str) -> "Callable[[Sequence[RunResult]], Figure]":
    from hfedms_sim.report.views.energy import energy_figure
    from hfedms_sim.report.views.groups import groups_figure
    from hfedms_sim.report.views.transfers import transfers_figure

    return {"energy": energy_figure, "groups": groups_figure, "transfers": transfers_figure}[kind]


def _view_of_one(kind: str, options: dict[str, Any]) -> "Callable[[RunResult], Figure]":
    from hfedms_sim.report.views.coverage import coverage_figure
    from hfedms_sim.report.views.rounds_timeline import timeline_figure, typical_round
    from hfedms_sim.report.views.utilisation import utilisation_figure

    def gantt(result: "RunResult") -> "Figure":
        number = typical_round(result) if options["round_number"] is None else options["round_number"]
        return timeline_figure(result, number, lanes=options["lanes"] or "sensors")

    return {"gantt": gantt, "coverage": coverage_figure, "utilisation": utilisation_figure}[kind]


def _one_by_one(kind: str, results: "Sequence[RunResult]", view: "Callable[[RunResult], Figure]") -> "Figure":
    """Return the views of a few runs in one figure."""
    from hfedms_sim.exhibits import joined
    from hfedms_sim.report.run_labels import run_sets

    if len(results) > MOST_RUNS:
        raise InputError(f"--kind {kind} shows runs one by one, {MOST_RUNS} at most, not {len(results)}; name some")
    labels = [runs.label for runs in run_sets(results, each=True)]
    return joined([view(result) for result in results], labels)
