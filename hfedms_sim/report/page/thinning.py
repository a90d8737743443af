"""Fewer points where a page could not carry all: what is left out is counted, and said below the figure.

A line keeps the lowest and the highest point of each stretch of its points, so that no peak is lost; a band keeps its
widest edges there. Of dots every n-th is kept. Timelines come thinned (report/views/rounds_timeline.py).
"""

from dataclasses import replace
from math import ceil

from hfedms_sim.exhibits import Dots, DotSet, Figure, Line, Lines, Panel

MOST_POINTS = 1_200
"""How many points of a line are kept; a screen has about as many columns."""
MOST_DOTS = 3_000
"""How many dots of a set are kept."""


def thinned(figure: Figure) -> Figure:
    """Return the figure with no more points than a page can carry, and a note of what that left out."""
    panels = tuple(_thin_panel(panel) for panel in figure.panels)
    before, after = (sum(_points(panel) for panel in own) for own in (figure.panels, panels))
    if before == after:
        return figure
    note = f"{after:,} of {before:,} points are drawn: the extremes of each stretch of a line, every n-th of many dots."
    return replace(figure, panels=panels, note=f"{figure.note} {note}".strip())


def _points(panel: Panel) -> int:
    if isinstance(panel, Lines):
        return sum(len(line.x) for line in panel.lines)
    return sum(len(own.x) for own in panel.sets) if isinstance(panel, Dots) else 0


def _thin_panel(panel: Panel) -> Panel:
    if isinstance(panel, Lines):
        return replace(panel, lines=tuple(_thin_line(line) for line in panel.lines))
    if isinstance(panel, Dots):
        return replace(panel, sets=tuple(_thin_dots(own) for own in panel.sets))
    return panel


def _thin_line(line: Line) -> Line:
    if len(line.x) <= MOST_POINTS:
        return line
    kept = _extremes(line.y, MOST_POINTS // 2)
    every = ceil(len(line.x) / (MOST_POINTS // 2))
    low, high = (
        tuple(widest(edge[at - at % every : at - at % every + every]) for at in kept) if edge else ()
        for edge, widest in ((line.low, min), (line.high, max))
    )
    return replace(
        line, x=tuple(line.x[at] for at in kept), y=tuple(line.y[at] for at in kept), low=low, high=high
    )  # fmt: skip


def _extremes(values: tuple[float, ...], stretches: int) -> list[int]:
    """Return where each stretch of the values has its lowest and its highest, in order, and both ends of the whole."""
    every = ceil(len(values) / stretches)
    kept = {0, len(values) - 1}
    for start in range(0, len(values), every):
        stretch = range(start, min(start + every, len(values)))
        kept |= {min(stretch, key=values.__getitem__), max(stretch, key=values.__getitem__)}
    return sorted(kept)


def _thin_dots(own: DotSet) -> DotSet:
    every = ceil(len(own.x) / MOST_DOTS)
    if every <= 1:
        return own
    columns = {name: getattr(own, name)[::every] for name in ("x", "y", "values", "texts", "to")}
    return replace(own, **columns)
