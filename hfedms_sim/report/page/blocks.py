"""What a page consists of, as plain data: sections of blocks. No HTML here."""

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import NamedTuple, TypeAlias

from hfedms_sim.errors import InputError
from hfedms_sim.exhibits import Figure, Table


class Card(NamedTuple):
    """A headline: what it is, the figure, and a line below it."""

    heading: str
    value: str
    detail: str = ""


@dataclass(frozen=True)
class Cards:
    cards: tuple[Card, ...]
    kind: str = field(default="cards", init=False)


@dataclass(frozen=True)
class Prose:
    """Paragraphs, as they are to be read."""

    paragraphs: tuple[str, ...]
    kind: str = field(default="prose", init=False)


@dataclass(frozen=True)
class SortableTable:
    """A table whose rows are sorted by a click on a heading."""

    table: Table
    kind: str = field(default="table", init=False)


@dataclass(frozen=True)
class Drawing:
    """A figure."""

    figure: Figure
    kind: str = field(default="drawing", init=False)


@dataclass(frozen=True)
class Switch:
    """Figures of which one is shown: `options` are what each is called, `chosen` is the first to be seen.

    `is_long`: there may be dozens, so that they are chosen from a list and with arrows, not by a button each.
    """

    label: str
    options: tuple[tuple[str, Figure], ...]
    chosen: int = 0
    is_long: bool = False
    kind: str = field(default="switch", init=False)


@dataclass(frozen=True)
class Listing:
    """A text as a file has it, folded until somebody wants to see it."""

    title: str
    text: str
    kind: str = field(default="listing", init=False)


def drawings(*makers: Callable[[], Figure | None]) -> tuple[Drawing, ...]:
    """Return the figures that can be made of a run; what one cannot show is no reason to show nothing."""
    made = []
    for make in makers:
        try:
            figure = make()
        except InputError:
            continue
        made += [] if figure is None else [Drawing(figure)]
    return tuple(made)


Block: TypeAlias = Cards | Prose | SortableTable | Drawing | Switch | Listing


@dataclass(frozen=True)
class Section:
    """A part of the page that the table of contents leads to by its `name`."""

    name: str
    title: str
    blocks: tuple[Block, ...]


@dataclass(frozen=True)
class RunPart:
    """The sections about one run, of which the page shows one run's at a time."""

    label: str
    sections: tuple[Section, ...]


@dataclass(frozen=True)
class Page:
    """Sections about all runs together, the sections of each run, and what closes the page."""

    title: str
    subtitle: str
    sections: tuple[Section, ...]
    runs: tuple[RunPart, ...]
    closing: tuple[Section, ...] = ()
