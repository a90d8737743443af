"""Joules by state, groups, streams and faults of one run: each where there is anything of it."""

from hfedms_sim.report.page.blocks import Section, drawings
from hfedms_sim.report.views.energy import energy_figure
from hfedms_sim.report.views.faults import faults_figure
from hfedms_sim.report.views.groups import groups_figure
from hfedms_sim.report.views.streams import streams_figure
from hfedms_sim.result import RunResult


def cost_sections(result: RunResult) -> tuple[Section, ...]:
    """Return the sections whose figures can be drawn of this run."""
    drawn = {
        ("energy", "Energy"): drawings(lambda: energy_figure([result])),
        ("groups", "Groups"): drawings(lambda: groups_figure([result])),
        ("streams", "Streams"): drawings(lambda: streams_figure(result)),
        ("faults", "Faults"): drawings(lambda: faults_figure(result)),
    }
    return tuple(Section(name, title, figures) for (name, title), figures in drawn.items() if figures)
