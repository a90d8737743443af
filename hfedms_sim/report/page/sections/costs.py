"""Joules by state, groups, streams and faults of one run: each where there is anything of it."""

from hfedms_sim.errors import InputError
from hfedms_sim.report.page.blocks import Drawing, Section
from hfedms_sim.report.views.energy import energy_figure
from hfedms_sim.report.views.faults import faults_figure
from hfedms_sim.report.views.groups import groups_figure
from hfedms_sim.report.views.streams import streams_figure
from hfedms_sim.result import RunResult


def energy_section(result: RunResult) -> Section | None:
    """Return the joules by state; None where they are not modelled."""
    try:
        return Section("energy", "Energy", (Drawing(energy_figure([result])),))
    except InputError:
        return None


def groups_section(result: RunResult) -> Section | None:
    """Return how many groups there were, and how long."""
    return Section("groups", "Groups", (Drawing(groups_figure([result])),)) if len(result.rounds) else None


def streams_section(result: RunResult) -> Section | None:
    """Return what was captured and what overflowed; None where nothing can."""
    figure = streams_figure(result)
    return None if figure is None else Section("streams", "Streams", (Drawing(figure),))


def faults_section(result: RunResult) -> Section | None:
    """Return what went wrong, over time; None if nothing did."""
    figure = faults_figure(result)
    return None if figure is None else Section("faults", "Faults", (Drawing(figure),))
