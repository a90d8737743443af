"""Several figures of one kind as one, so that runs which are shown one by one stand in one picture."""

from collections.abc import Sequence
from dataclasses import replace

from hfedms_sim.exhibits import Figure


def joined(figures: Sequence[Figure], labels: Sequence[str]) -> Figure:
    """Return the panels of all figures in their order, each called by its figure's label; notes say whose they are."""
    if len(figures) == 1:
        return figures[0]
    panels = tuple(
        replace(panel, title=f"{label}: {panel.title}")
        for figure, label in zip(figures, labels, strict=True)
        for panel in figure.panels
    )
    said = list(dict.fromkeys(figure.note for figure in figures if figure.note))
    notes = (f"{label}: {figure.note}" for figure, label in zip(figures, labels, strict=True) if figure.note)
    titles = list(dict.fromkeys(figure.title for figure in figures))
    return replace(
        figures[0],
        title=titles[0] if len(titles) == 1 else "; ".join(titles),
        panels=panels,
        note=" ".join(said if len(said) == 1 else notes),
    )
