"""What labels look like in all panels of a figure: a colour each, and markers where there are more labels than colours.

Texts come from files of others: they are shown as they are, never read as formulas.
"""

from collections.abc import Sequence
from typing import NamedTuple

from matplotlib.axes import Axes
from matplotlib.axis import Axis
from matplotlib.ticker import FuncFormatter, LogLocator, NullFormatter

from hfedms_sim.exhibits import Bars, Dots, Lines, Panel, Timeline
from hfedms_sim.report.pictures import PALETTE
from hfedms_sim.system.foreign_text import printable

MARKERS = ("", "o", "s", "^", "D", "v")
DOT_MARKERS = dict(zip(MARKERS, ("o", "s", "D", "v", "P", "<"), strict=True))
"""What a label whose lines have this marker has as a dot, which always has one."""
COLOUR_MAP = "cividis"

_LONG_LABELS = 34  # characters that fit side by side below a panel
_MANY_LABELS = 8  # below a panel: more have to stand more upright
_SPAN_KINDS = ("uplink", "downlink", "work", "lost")  # have the same colours in all timelines of runs
_ALMOST_WHITE = "0.92"
_WIDE_LOG_AXIS = 200.0  # from one end to the other: powers of ten are enough to read it


class Look(NamedTuple):
    colour: str
    marker: str


Looks = dict[str, Look]


def looks_of(panels: Sequence[Panel]) -> Looks:
    """Return what each label looks like, in the order the labels come in."""
    labels = dict.fromkeys(label for panel in panels for label in _labels(panel))
    return {
        label: Look(PALETTE[index % len(PALETTE)], MARKERS[index // len(PALETTE) % len(MARKERS)])
        for index, label in enumerate(labels)
    }


def plain(text: str) -> str:
    """Return the text so that matplotlib reads no formula into it, nor leaves it out of a legend for its underscore."""
    return f"{' ' if text.startswith('_') else ''}{printable(text)}".replace("$", r"\$")


def turn_long_labels(axes: Axes, labels: Sequence[str]) -> None:
    """Turn the labels below a panel where they would run into each other, the more the more there are."""
    turn = turn_of(labels)
    if turn:
        for text in axes.get_xticklabels():
            text.set(rotation=turn, ha="right", rotation_mode="anchor")


def turn_of(labels: Sequence[str]) -> float:
    """Return by how many degrees labels below a panel are turned."""
    if sum(len(label) + 2 for label in labels) <= _LONG_LABELS:
        return 0.0
    return 35.0 if len(labels) <= _MANY_LABELS else 60.0


def add_grid(axes: Axes, *, only_y: bool = False) -> None:
    axes.grid(axis="y" if only_y else "both", color=_ALMOST_WHITE)
    axes.set_axisbelow(True)


def set_log_ticks(axis: Axis) -> None:
    """Write plain numbers at 1, 2 and 5 of each power of ten, so that an axis of less than one has some too."""
    low, high = sorted(axis.get_view_interval())
    wide = low > 0 and high / low > _WIDE_LOG_AXIS
    axis.set_major_locator(LogLocator(subs=(1.0,) if wide else (1.0, 2.0, 5.0)))
    axis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:g}"))
    axis.set_minor_formatter(NullFormatter())


def _labels(panel: Panel) -> list[str]:
    if isinstance(panel, Lines):
        return [line.label for line in panel.lines]
    if isinstance(panel, Bars):
        return [name for name, _ in panel.series]
    if isinstance(panel, Dots):
        return [dots.label for dots in panel.sets if not dots.values]
    if isinstance(panel, Timeline):
        return [*_SPAN_KINDS, *dict.fromkeys(span.kind for span in panel.spans)]
    return []
